use std::time::Duration;

use clap::Args;
use secrecy::SecretString;

use super::value::{http_url, positive_duration, secret};

/// Toss Payments. Without its URL and key the gateway is off and its mutations answer `GATEWAY_UNAVAILABLE`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Gateways")]
pub struct TossConfig {
    /// Toss Payments' base URL, such as https://api.tosspayments.com
    #[arg(long, env = "PAYDESK_TOSS_URL", value_parser = http_url)]
    pub toss_url: Option<String>,

    /// Toss Payments' secret key (`live_sk_…` or `test_sk_…`)
    #[arg(long, env = "PAYDESK_TOSS_SECRET_KEY", hide_env_values = true, value_parser = secret)]
    pub toss_secret_key: Option<SecretString>,

    /// The card that registrations are paid with, as number:YY:MM:password:identity (the last two may be empty);
    /// without it the queue of registrations is not consumed
    #[arg(long, env = "PAYDESK_TOSS_TEST_CARD", hide_env_values = true, value_parser = secret)]
    pub toss_test_card: Option<SecretString>,

    /// How long one call to a payment provider may take in all (connecting: at most 3 s of it)
    #[arg(long, env = "PAYDESK_PROVIDER_TIMEOUT", default_value = "30s", value_parser = positive_duration)]
    pub provider_timeout: Duration,
}
