use clap::{Args, ValueEnum};

use super::value::http_url;

/// What is logged, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Logs")]
pub struct LogConfig {
    /// Which lines to log, as a tracing filter: a level, or `paydesk=debug,lapin=warn`
    #[arg(long = "log", env = "PAYDESK_LOG", default_value = "info")]
    pub filter: String,

    /// How a line looks
    #[arg(long = "log-format", env = "PAYDESK_LOG_FORMAT", default_value = "text")]
    pub format: LogFormat,

    /// An OpenTelemetry collector for traces (OTLP over HTTP), such as http://localhost:4318; none are sent without it
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_parser = http_url)]
    pub otlp_endpoint: Option<String>,
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines: one JSON object a line.
    Json,
}
