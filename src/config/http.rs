use std::net::SocketAddr;

use clap::Args;

/// The HTTP side: where to listen and what to allow.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "HTTP")]
pub struct HttpConfig {
    /// Where HTTP, GraphQL and its websocket listen
    #[arg(long, env = "PAYDESK_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,

    /// A listener of its own for /metrics; without it /metrics is on the main one
    #[arg(long, env = "PAYDESK_METRICS_LISTEN")]
    pub metrics_listen: Option<SocketAddr>,

    /// Answers introspection queries and spells out suggestions: development only
    #[arg(long, env = "PAYDESK_GRAPHQL_INTROSPECTION", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub graphql_introspection: bool,

    /// The deployment's name, which viewer.environment shows
    #[arg(long, env = "PAYDESK_ENVIRONMENT", default_value = "development")]
    pub environment: String,

    /// Operations a second that one ADMIN or OPERATOR subject may send
    #[arg(long, env = "PAYDESK_RATE_LIMIT_OPERATOR", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub rate_limit_operator: u32,

    /// Operations a second that one SERVICE subject may send
    #[arg(long, env = "PAYDESK_RATE_LIMIT_SERVICE", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    pub rate_limit_service: u32,
}
