use std::time::Duration;

use super::TossConfig;

/// What the payment use cases need to know of the settings.
#[derive(Debug, Clone, Copy)]
pub struct PaymentConfig {
    /// How long a first request under an idempotency key may take before the same key resumes it:
    /// the provider's timeout and 10 s (domain.md §5).
    pub idempotency_lease: Duration,
}

impl PaymentConfig {
    /// Derives the lease from the provider's timeout.
    pub fn new(toss: &TossConfig) -> Self {
        Self { idempotency_lease: toss.provider_timeout.saturating_add(Duration::from_secs(10)) }
    }
}
