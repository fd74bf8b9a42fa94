use std::{path::PathBuf, time::Duration};

use clap::Args;
use secrecy::SecretString;

use super::{
    SettingError,
    value::{certificates, positive_duration, secret, whole},
};

/// How to reach PostgreSQL.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Database")]
pub struct DatabaseConfig {
    /// PostgreSQL, such as postgres://user:password@host/database?sslmode=verify-full
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_parser = secret)]
    pub database_url: SecretString,

    /// Connections that this process holds at most, beside one for LISTEN
    #[arg(long, env = "PAYDESK_DB_POOL_SIZE", default_value_t = 16, value_parser = whole::<u32>(1..=1000))]
    pub db_pool_size: u32,

    /// How long a request waits for a free connection before it is told to try again
    #[arg(long, env = "PAYDESK_DB_CHECKOUT_TIMEOUT", default_value = "5s", value_parser = positive_duration)]
    pub db_checkout_timeout: Duration,

    /// A PEM file of certificate authorities to trust beside the system's, for PostgreSQL, AMQP and HTTPS
    #[arg(long, env = "PAYDESK_TLS_CA_FILE")]
    pub tls_ca_file: Option<PathBuf>,
}

impl DatabaseConfig {
    /// The certificates to trust beside the system's, in PEM.
    pub fn authorities(&self) -> Result<Option<String>, SettingError> {
        let file = self.tls_ca_file.as_deref();
        file.map(|path| certificates("PAYDESK_TLS_CA_FILE", path)).transpose()
    }
}
