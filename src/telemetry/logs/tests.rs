use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tracing::{Level, debug, info, info_span, warn};

use super::*;

/// What was written, shared with the writer.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The lines that `work` logs under `directives`.
fn logged(format: LogFormat, directives: &str, work: impl FnOnce()) -> Vec<String> {
    let written = Written::default();
    let writer = written.clone();
    let layer = lines(format, false, move || writer.clone()).with_filter(filter(directives).unwrap());
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
    let bytes = written.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

fn a_request() {
    let _request = info_span!("request", request_id = "r-1", operation = tracing::field::Empty).entered();
    tracing::Span::current().record("operation", "payments");
    info!(payment = 7, took_ms = std::time::Duration::from_millis(9).as_millis(), "first");
    let _inner = info_span!("gateway", gateway = "toss").entered();
    warn!(error = %"it\nbroke", ok = false, "second \"quoted\"");
}

fn parsed(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_json_line_is_flat_and_names_its_request() {
    let lines = parsed(&logged(LogFormat::Json, "info", a_request));
    assert_eq!(lines.len(), 2);
    for line in &lines {
        assert_eq!(line["request_id"], "r-1");
        assert_eq!(line["operation"], "payments");
        assert_eq!(line["target"], "paydesk::telemetry::logs::tests");
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'));
        assert!(line.as_object().unwrap().values().all(|value| !value.is_object() && !value.is_array()));
    }
    assert_eq!((&lines[0]["message"], &lines[0]["payment"]), (&"first".into(), &7.into()));
    assert_eq!(lines[0]["took_ms"], 9);
    assert_eq!((&lines[0]["level"], &lines[0]["span"]), (&"INFO".into(), &"request".into()));
    assert_eq!(
        (&lines[1]["message"], &lines[1]["error"]),
        (&"second \"quoted\"".into(), &"it\nbroke".into())
    );
    assert_eq!((&lines[1]["gateway"], &lines[1]["ok"]), (&"toss".into(), &false.into()));
}

#[test]
fn each_text_line_names_its_request() {
    let lines = logged(LogFormat::Text, "info", a_request);
    assert!(lines[0].contains("request_id=\"r-1\"") && lines[0].contains("first"), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("request_id=\"r-1\"") && line.contains("second")));
}

#[test]
fn a_warning_names_its_request_though_only_warnings_are_asked_for() {
    let lines = parsed(&logged(LogFormat::Json, "warn", a_request));
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["request_id"], "r-1");
}

#[test]
fn a_field_cannot_stand_for_the_lines_own_names() {
    let lines = logged(LogFormat::Json, "info", || {
        let _span = info_span!("request", message = "of the span", level = "fake").entered();
        info!(timestamp = "fake", target_name = 1, "real");
    });
    assert_eq!(lines[0].matches("\"level\"").count(), 1);
    let line = &parsed(&lines)[0];
    assert_eq!((&line["level"], &line["message"]), (&"INFO".into(), &"real".into()));
    assert_ne!(line["timestamp"], "fake");
}

#[test]
fn libraries_are_kept_to_warnings_unless_named() {
    let chatter = || {
        tracing::event!(target: "tokio_postgres::connection", Level::INFO, "notice");
        tracing::event!(target: "tokio_postgres::connection", Level::WARN, "trouble");
        debug!("ours");
    };
    assert_eq!(logged(LogFormat::Json, "debug", chatter).len(), 2);
    assert_eq!(logged(LogFormat::Json, "debug,tokio_postgres=info", chatter).len(), 3);
    assert_eq!(logged(LogFormat::Json, "error", chatter).len(), 0);
}

#[test]
fn the_brokers_library_is_silent_unless_named() {
    let echo = || tracing::event!(target: "lapin::io_loop", Level::ERROR, "lost");
    assert_eq!(logged(LogFormat::Json, "debug", echo).len(), 0);
    assert_eq!(logged(LogFormat::Json, "info,lapin=error", echo).len(), 1);
}

#[test]
fn a_bad_filter_names_the_variable() {
    for bad in ["", " ", "inof", "paydesk=loud", "info,paydesk", "a=b=c"] {
        let error = filter::<tracing_subscriber::Registry>(bad).map(|_| ()).unwrap_err();
        assert_eq!(error.variable, "PAYDESK_LOG", "{bad:?}");
    }
    for good in
        ["info", "WARN", "off", "paydesk=debug,lapin=warn", "info,paydesk[request{id=1}]=trace", "info,"]
    {
        assert!(filter::<tracing_subscriber::Registry>(good).is_ok(), "{good:?}");
    }
}

#[test]
fn starting_twice_is_allowed_and_still_checks_the_settings() {
    let config = |filter: &str, endpoint: Option<&str>| LogConfig {
        filter: filter.to_owned(),
        format: LogFormat::Json,
        otlp_endpoint: endpoint.map(str::to_owned),
    };
    init_logs(&config("off", None)).unwrap();
    init_logs(&config("info", Some("http://collector:4318"))).unwrap();
    assert_eq!(init_logs(&config("inof", None)).unwrap_err().variable, "PAYDESK_LOG");
}
