//! Traces, sent to a collector (OTLP over HTTP) when one is configured.

use std::{sync::OnceLock, time::Duration};

use opentelemetry::{
    Key, KeyValue,
    trace::{TraceContextExt as _, TracerProvider as _},
};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};

use super::logs::is_own_span;
use crate::config::SettingError;

/// How long one batch may take to be sent; a collector that is away costs spans, never requests.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// The process's provider, kept so that the last spans are sent at the end.
static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

/// Where the collector at `endpoint` takes traces.
pub(super) fn address(endpoint: &str) -> String {
    format!("{endpoint}/v1/traces")
}

/// Makes the provider that `shutdown` flushes.
pub(super) fn start(address: &str) -> Result<SdkTracerProvider, SettingError> {
    let provider = provider(address)?;
    Ok(PROVIDER.get_or_init(|| provider).clone())
}

fn provider(address: &str) -> Result<SdkTracerProvider, SettingError> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(address)
        .with_timeout(EXPORT_TIMEOUT)
        .build()
        .map_err(|error| wrong(error.to_string()))?;
    Ok(SdkTracerProvider::builder().with_resource(resource()).with_batch_exporter(exporter).build())
}

/// Sends our own spans to the provider; those of libraries would include the exporter's own requests.
pub(super) fn layer<S>(provider: &SdkTracerProvider) -> impl Layer<S> + use<S>
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
{
    tracing_opentelemetry::layer()
        .with_tracer(provider.tracer(env!("CARGO_CRATE_NAME")))
        .with_filter(filter_fn(is_own_span))
}

/// Who sends the traces: `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`, which the library reads, or our name.
fn resource() -> Resource {
    let detected = Resource::builder().build();
    let name = detected.get(&Key::from_static_str("service.name"));
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let builder = Resource::builder().with_attribute(version);
    match name {
        Some(name) if !name.as_str().starts_with("unknown_service") => builder.build(),
        _ => builder.with_service_name(env!("CARGO_PKG_NAME")).build(),
    }
}

/// Sends the spans that are still waiting; nothing is sent afterwards. It blocks for up to 5 s, so it is called
/// when the runtime has ended, or on a thread that may block.
pub fn shutdown() {
    if let Some(Err(error)) = PROVIDER.get().map(SdkTracerProvider::shutdown) {
        tracing::warn!(%error, "the last traces could not be sent");
    }
}

/// The current span as a W3C `traceparent` header, when traces are on: for messages and calls to other services.
pub fn current_traceparent() -> Option<String> {
    let context = Span::current().context();
    let span = context.span();
    let span = span.span_context();
    span.is_valid()
        .then(|| format!("00-{:032x}-{:016x}-{:02x}", span.trace_id(), span.span_id(), span.trace_flags()))
}

fn wrong(problem: impl Into<String>) -> SettingError {
    SettingError::new("OTEL_EXPORTER_OTLP_ENDPOINT", problem)
}

#[cfg(test)]
mod tests;
