use std::time::Duration;

use clap::Args;
use thiserror::Error;

use super::{
    BrokerConfig, ChargeConfig, ConsumerConfig, DatabaseConfig, HttpConfig, LogConfig, OutboxConfig,
    PurchaseConfig, ReconcileConfig, TokenConfig, TossConfig,
};

/// A setting, or a pair of settings, that cannot be worked with.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{variable}: {problem}")]
pub struct SettingError {
    /// The environment variable at fault.
    pub variable: &'static str,
    /// What is wrong and what to do.
    pub problem: String,
}

impl SettingError {
    /// Names the variable and what is wrong with it; never its value if that is a secret.
    pub fn new(variable: &'static str, problem: impl Into<String>) -> Self {
        Self { variable, problem: problem.into() }
    }
}

/// Everything that `paydesk serve` can be told.
#[derive(Debug, Clone, Args)]
pub struct ServeConfig {
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub database: DatabaseConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub broker: BrokerConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub http: HttpConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub token: TokenConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub outbox: OutboxConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub consumers: ConsumerConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub toss: TossConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub purchases: PurchaseConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub reconcile: ReconcileConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub charges: ChargeConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub log: LogConfig,

    /// This process's name in claims, failures and logs [default: <host>-<pid>]
    #[arg(long, env = "PAYDESK_INSTANCE", help_heading = "Process")]
    pub instance: Option<String>,

    /// Applies the embedded migrations at start
    #[arg(long, env = "PAYDESK_AUTO_MIGRATE", default_value_t = true, action = clap::ArgAction::Set, help_heading = "Process")]
    pub auto_migrate: bool,

    /// Runs the background tasks; false serves HTTP only
    #[arg(long, env = "PAYDESK_WORKERS", default_value_t = true, action = clap::ArgAction::Set, help_heading = "Process")]
    pub workers: bool,
}

impl ServeConfig {
    /// Checks what one setting alone cannot tell.
    pub fn check(&self) -> Result<(), SettingError> {
        self.token.check()?;
        self.http.check()?;
        if self.http.dev_login && self.token.jwt_hs256_secret.is_none() {
            return Err(SettingError::new(
                "PAYDESK_DEV_LOGIN",
                "it signs its personas' tokens with PAYDESK_JWT_HS256_SECRET, which is not set",
            ));
        }
        self.check_lease()?;
        self.toss.check()?;
        self.purchases.check()?;
        if self.outbox.outbox_publishers_max < self.outbox.outbox_publishers {
            return Err(SettingError::new(
                "PAYDESK_OUTBOX_PUBLISHERS_MAX",
                "it must not be below PAYDESK_OUTBOX_PUBLISHERS",
            ));
        }
        Ok(())
    }

    /// A lease that ended while its owner still waits for a confirm would let a second process send the same row.
    fn check_lease(&self) -> Result<(), SettingError> {
        let database_retries = self.database.db_checkout_timeout.saturating_mul(3);
        let needed = self.outbox.outbox_confirm_timeout.saturating_add(database_retries);
        if self.outbox.outbox_stuck_after <= needed {
            return Err(SettingError::new(
                "PAYDESK_OUTBOX_STUCK_AFTER",
                format!(
                    "it must be longer than PAYDESK_OUTBOX_CONFIRM_TIMEOUT and three PAYDESK_DB_CHECKOUT_TIMEOUT ({})",
                    humantime::format_duration(needed)
                ),
            ));
        }
        Ok(())
    }

    /// This process's name.
    pub fn instance_name(&self) -> String {
        self.instance.clone().filter(|name| !name.trim().is_empty()).unwrap_or_else(|| {
            let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            let host = if host.trim().is_empty() { "paydesk" } else { host.trim() };
            format!("{host}-{}", std::process::id())
        })
    }

    /// How long shutdown waits for what is under way.
    pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(30);
}
