use std::fmt::{self, Debug};

use serde_json::{Map, Value};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields, FormattedFields,
        format::Writer,
        time::{FormatTime as _, SystemTime},
    },
    registry::LookupSpan,
};

/// One JSON object a line, without nesting: time, level, target, message, and the fields of the event and of every
/// span around it side by side, so that a log store finds `request_id` without knowing our spans.
pub(super) struct FlatJson;

impl<S, N> FormatEvent<S, N> for FlatJson
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        for span in context.event_scope().into_iter().flat_map(|scope| scope.from_root()) {
            fields.span(span.name(), span.extensions().get::<FormattedFields<N>>().map(|text| text.as_str()));
        }
        event.record(&mut fields);
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        let metadata = event.metadata();
        // What came through the `log` crate says its target in a field.
        let target = fields.0.remove("log.target").unwrap_or_else(|| Value::from(metadata.target()));
        let head = [
            ("timestamp", Value::from(time)),
            ("level", Value::from(metadata.level().as_str())),
            ("target", target),
            ("message", fields.0.remove("message").unwrap_or_else(|| Value::from(""))),
        ];
        write_object(&mut writer, &head, fields.0)
    }
}

/// The line's own four names come first and win over fields of the same name.
fn write_object(writer: &mut Writer<'_>, head: &[(&str, Value)], fields: Map<String, Value>) -> fmt::Result {
    let mut opening = '{';
    for (name, value) in head {
        write!(writer, "{opening}{}:{value}", Value::from(*name))?;
        opening = ',';
    }
    for (name, value) in fields.into_iter().filter(|(name, _)| head.iter().all(|(taken, _)| name != taken)) {
        write!(writer, ",{}:{value}", Value::from(name))?;
    }
    writeln!(writer, "}}")
}

/// Fields by name; an inner span's and the event's own win over an outer one's.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    /// Takes over the fields that `JsonFields` wrote down when the span was made.
    fn span(&mut self, name: &str, written: Option<&str>) {
        if let Some(Ok(Value::Object(fields))) = written.map(serde_json::from_str) {
            // A span's message is a field like any other, but must not stand for the line's.
            self.0.extend(fields.into_iter().filter(|(field, _)| field != "message"));
        }
        self.0.insert("span".to_owned(), Value::from(name));
    }

    fn put(&mut self, field: &Field, value: Value) {
        let name = field.name();
        if !matches!(name, "log.module_path" | "log.file" | "log.line") {
            self.0.insert(name.to_owned(), value);
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, Value::from(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Value::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, Value::from(value));
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.put(field, Value::from(u64::try_from(value).unwrap_or(u64::MAX)));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, Value::from(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, Value::from(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, Value::from(format!("{value:?}")));
    }
}
