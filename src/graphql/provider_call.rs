//! Calls to payment gateways.

use async_graphql::{Enum, Object};

use super::{error::ApiError, input::unknown_value, scalars::DateTime};
use crate::gateways::{CallOutcome, RecordedCall};

/// The class of a gateway's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "ProviderOutcome", remote = "CallOutcome")]
pub enum ProviderOutcome {
    /// Carried out.
    Approved,
    /// Refused for good; no money moved.
    Refused,
    /// Carried out by an earlier call.
    AlreadyDone,
    /// An earlier call still runs.
    InProgress,
    /// Nobody knows.
    Unknown,
    /// Our key or contract is wrong; no money moved.
    Misconfigured,
    /// The gateway knows no such payment.
    NotFound,
}

/// A call, as the API shows it.
pub struct ProviderCallObject(pub RecordedCall);

/// One call to a payment gateway; never card data.
#[Object(name = "ProviderCall")]
impl ProviderCallObject {
    /// The gateway, such as TOSS.
    async fn provider(&self) -> &str {
        &self.0.provider
    }

    /// What was asked, such as key-in.
    async fn operation(&self) -> &str {
        &self.0.operation
    }

    /// The key under which the gateway recognises a repetition.
    async fn idempotency_key(&self) -> Option<&str> {
        self.0.idempotency_key.as_deref()
    }

    /// The class of the answer.
    async fn outcome(&self) -> Result<ProviderOutcome, ApiError> {
        CallOutcome::parse(&self.0.outcome).map(Into::into).ok_or_else(|| unknown_value("provider outcome"))
    }

    /// The gateway's own code.
    async fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// How long it took, in milliseconds.
    async fn duration_ms(&self) -> i32 {
        self.0.duration_ms
    }

    /// When it was recorded.
    async fn at(&self) -> DateTime {
        DateTime(self.0.at)
    }
}
