//! Log lines on standard error.

use std::io::{self, IsTerminal as _};

use tracing::{Metadata, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::{FilterExt as _, filter_fn},
    fmt::{self, MakeWriter, format::JsonFields},
    layer::{Filter, SubscriberExt as _},
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

use super::{line::FlatJson, traces};
use crate::config::{LogConfig, LogFormat, SettingError};

/// Libraries whose chatter is kept to warnings, unless the filter names them.
const NOISY: [&str; 7] = ["tokio_postgres", "hyper", "h2", "rustls", "reqwest", "tower", "opentelemetry"];

/// Tells every loss of a connection twice, as errors; the supervisor of the connection tells it once. Silent, unless the
/// filter names it.
const ECHO: &str = "lapin";

/// Never written: it prints whole messages, bodies included, for what is a failure row of its own.
const MUTED: &str = "lapin::returned_messages";

/// Libraries that print what their users send, which may be a card or a token: warnings at most, whatever the filter says.
const INDISCREET: [&str; 1] = ["tungstenite"];

/// Starts the log, and the traces if a collector is configured. A process has one log: a second call checks its
/// settings and leaves the first one's log in place.
pub fn init_logs(config: &LogConfig) -> Result<(), SettingError> {
    let filter = filter(&config.filter)?;
    let address = config.otlp_endpoint.as_deref().map(traces::address);
    if tracing::dispatcher::has_been_set() {
        return Ok(());
    }
    let spans = address.as_deref().map(traces::start).transpose()?;
    let lines = lines(config.format, io::stderr().is_terminal(), io::stderr).with_filter(filter);
    // It only fails if another thread was faster, whose log is then as good.
    drop(tracing_subscriber::registry().with(lines).with(spans.as_ref().map(traces::layer)).try_init());
    Ok(())
}

/// How a line is written: both ways name the fields of every span it stands in.
fn lines<S, W>(format: LogFormat, colours: bool, writer: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    match format {
        LogFormat::Text => fmt::layer().with_ansi(colours).with_writer(writer).boxed(),
        LogFormat::Json => fmt::layer()
            .with_ansi(false)
            .fmt_fields(JsonFields::new())
            .event_format(FlatJson)
            .with_writer(writer)
            .boxed(),
    }
}

/// Which lines are written, and which spans lend them their fields.
fn filter<S>(text: &str) -> Result<impl Filter<S> + Send + Sync + use<S>, SettingError>
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
{
    let asked = parse(text)?;
    let directives: Vec<&str> = text.split(',').map(str::trim).collect();
    let named = |library: &str| directives.iter().any(|directive| directive.starts_with(library));
    let quieted: Vec<&'static str> = NOISY.into_iter().filter(|noisy| !named(noisy)).collect();
    let echoes = named(ECHO);
    let audible = move |metadata: &Metadata<'_>| {
        let muted = metadata.target() == MUTED || (!echoes && metadata.target().starts_with(ECHO));
        let loud = *metadata.level() <= LevelFilter::WARN;
        let indiscreet = INDISCREET.iter().any(|indiscreet| metadata.target().starts_with(indiscreet));
        !muted
            && (loud || !indiscreet)
            && (loud || !quieted.iter().any(|quieted| metadata.target().starts_with(quieted)))
    };
    // Our own spans stay on below the filter's level: a warning must carry its request id too.
    Ok(asked.and(filter_fn(audible)).or(filter_fn(is_own_span)))
}

/// Whether `metadata` is of one of our spans that carry a request's or a task's identity.
pub(super) fn is_own_span(metadata: &Metadata<'_>) -> bool {
    metadata.is_span()
        && metadata.target().starts_with(env!("CARGO_CRATE_NAME"))
        && *metadata.level() <= LevelFilter::INFO
}

fn parse(text: &str) -> Result<EnvFilter, SettingError> {
    let wrong = |what: String| {
        SettingError::new(
            "PAYDESK_LOG",
            format!("{what}; write a level such as info, or paydesk=debug,lapin=warn"),
        )
    };
    if text.trim().is_empty() {
        return Err(wrong("it is empty".to_owned()));
    }
    // A word alone would be taken for a target: a misspelt level would silence everything else.
    let alone = |directive: &&str| !directive.is_empty() && !directive.contains(['=', '[', ']', '{', '}']);
    for word in text.split(',').map(str::trim).filter(alone) {
        word.parse::<LevelFilter>().map_err(|_unknown| wrong(format!("{word} is no level")))?;
    }
    EnvFilter::builder().parse(text).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests;
