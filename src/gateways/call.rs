use std::time::{Duration, Instant as Stopwatch};

use crate::telemetry::record;

/// What is kept of one call to a provider: the `provider_call` row, written with the transaction that follows the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCall {
    /// Whom we called, such as `TOSS`.
    pub provider: &'static str,
    /// What we asked for, such as `key-in`, `cancel` or `lookup`.
    pub operation: &'static str,
    /// The key under which the provider recognises a repetition.
    pub idempotency_key: Option<String>,
    /// The class of the answer.
    pub outcome: CallOutcome,
    /// The provider's code, or ours where there was no readable answer; none for an approval.
    pub code: Option<String>,
    /// How long the call took.
    pub duration: Duration,
}

impl ProviderCall {
    /// A call that began at `started` and has just ended: measured, and told to the metrics.
    pub(super) fn ended(
        provider: &'static str,
        operation: &'static str,
        started: Stopwatch,
        outcome: CallOutcome,
        code: Option<String>,
    ) -> Self {
        let duration = started.elapsed();
        record::provider_call(provider, operation, outcome.as_str(), duration);
        Self { provider, operation, idempotency_key: None, outcome, code, duration }
    }
}

/// The class of a provider's answer. It says what may be done next, which the HTTP status does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallOutcome {
    /// Carried out as asked.
    Approved,
    /// A final refusal; no money moved.
    Refused,
    /// Carried out by an earlier call: look it up, do not report a failure.
    AlreadyDone,
    /// An earlier call still runs: ask again with the same key.
    InProgress,
    /// Nobody knows whether money moved.
    Unknown,
    /// Our key or contract is wrong; no money moved.
    Misconfigured,
    /// The provider knows no such payment.
    NotFound,
}

impl CallOutcome {
    const ALL: [Self; 7] = [
        Self::Approved,
        Self::Refused,
        Self::AlreadyDone,
        Self::InProgress,
        Self::Unknown,
        Self::Misconfigured,
        Self::NotFound,
    ];

    /// Reads the stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == text)
    }

    /// The name that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::Refused => "REFUSED",
            Self::AlreadyDone => "ALREADY_DONE",
            Self::InProgress => "IN_PROGRESS",
            Self::Unknown => "UNKNOWN",
            Self::Misconfigured => "MISCONFIGURED",
            Self::NotFound => "NOT_FOUND",
        }
    }
}
