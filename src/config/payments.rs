use std::time::Duration;

use clap::Args;

use super::{TossConfig, value::positive_duration};

/// How payments and refunds whose outcome is unknown are brought to their end (domain.md §2).
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Payments")]
pub struct ReconcileConfig {
    /// How often payments and refunds whose outcome is unknown are looked for
    #[arg(long, env = "PAYDESK_PAYMENT_RECONCILE_INTERVAL", default_value = "60s", value_parser = positive_duration)]
    pub payment_reconcile_interval: Duration,

    /// How long an outcome must have been unknown before the provider is asked about it
    #[arg(long, env = "PAYDESK_PAYMENT_RECONCILE_AFTER", default_value = "60s", value_parser = positive_duration)]
    pub payment_reconcile_after: Duration,

    /// From when on the provider's own "not found" fails a payment, and an unknown refund is a failure on the feed
    #[arg(long, env = "PAYDESK_PAYMENT_UNKNOWN_GIVE_UP", default_value = "10m", value_parser = positive_duration)]
    pub payment_unknown_give_up: Duration,
}

/// What the payment use cases need to know of the settings.
#[derive(Debug, Clone, Copy)]
pub struct PaymentConfig {
    /// How long a first request under an idempotency key may take before the same key resumes it:
    /// the provider's timeout and 10 s (domain.md §5).
    pub idempotency_lease: Duration,
    /// How often the reconcilers look.
    pub reconcile_interval: Duration,
    /// How long an outcome must have been unknown before the provider is asked about it.
    pub reconcile_after: Duration,
    /// When a payment that the provider does not know is given up.
    pub unknown_give_up: Duration,
}

impl PaymentConfig {
    /// Derives the lease from the provider's timeout.
    pub fn new(toss: &TossConfig, reconcile: &ReconcileConfig) -> Self {
        Self {
            idempotency_lease: toss.provider_timeout.saturating_add(Duration::from_secs(10)),
            reconcile_interval: reconcile.payment_reconcile_interval,
            reconcile_after: reconcile.payment_reconcile_after,
            unknown_give_up: reconcile.payment_unknown_give_up,
        }
    }
}
