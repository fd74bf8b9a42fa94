use std::net::SocketAddr;

use clap::Args;
use secrecy::{ExposeSecret, SecretString};

use super::{
    SettingError,
    value::{secret, whole},
};

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

    /// Seals the console's session cookie, at least 32 bytes, the same in every process; without it nobody signs in to the console
    #[arg(long, env = "PAYDESK_SESSION_KEY", hide_env_values = true, value_parser = secret)]
    pub session_key: Option<SecretString>,

    /// Lets everybody who reaches the console choose a persona instead of a token: development only, and only on a loopback address
    #[arg(long, env = "PAYDESK_DEV_LOGIN", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub dev_login: bool,

    /// Takes from browsers, which are known by the console's cookie, nothing but the queries that this version's console has
    #[arg(long, env = "PAYDESK_CONSOLE_QUERIES_ONLY", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub console_queries_only: bool,

    /// Operations a second that one ADMIN or OPERATOR subject may send
    #[arg(long, env = "PAYDESK_RATE_LIMIT_OPERATOR", default_value_t = 20, value_parser = whole::<u32>(1..=u32::MAX))]
    pub rate_limit_operator: u32,

    /// Operations a second that one SERVICE subject may send
    #[arg(long, env = "PAYDESK_RATE_LIMIT_SERVICE", default_value_t = 2000, value_parser = whole::<u32>(1..=u32::MAX))]
    pub rate_limit_service: u32,
}

impl HttpConfig {
    /// A session key that is long enough, and a development login that nobody else can reach.
    pub(super) fn check(&self) -> Result<(), SettingError> {
        if self.session_key.as_ref().is_some_and(|key| key.expose_secret().len() < 32) {
            return Err(SettingError::new("PAYDESK_SESSION_KEY", "it must be at least 32 bytes long"));
        }
        if self.dev_login && !self.listen.ip().is_loopback() {
            let problem = format!(
                "it needs a loopback address in PAYDESK_LISTEN, which is {}; everybody else could sign in",
                self.listen
            );
            return Err(SettingError::new("PAYDESK_DEV_LOGIN", problem));
        }
        Ok(())
    }
}
