//! An event's way: states, tries, and what it waits for.

use async_graphql::{Enum, Object, SimpleObject};

use super::scalars::DateTime;
use crate::{
    failures::Failure,
    outbox::{ErrorCode, OutboxEvent, OutboxStatus, PublishTrigger, WaitReason, WaitState},
    types::Instant,
};

/// Where an event is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "OutboxStatus", remote = "OutboxStatus")]
pub enum OutboxStatusEnum {
    /// Waits to be sent.
    Pending,
    /// A publisher has it.
    Processing,
    /// The broker confirmed it.
    Published,
    /// A try failed; it is tried again.
    Failed,
    /// It failed too often; only an operator moves it.
    DeadLettered,
}

/// What caused a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "PublishTrigger", remote = "PublishTrigger")]
pub enum PublishTriggerEnum {
    /// The hand-over right after the commit.
    Immediate,
    /// The look for PENDING events.
    Scheduled,
    /// The look for FAILED events that are due.
    Retry,
    /// An operator's requeue.
    Manual,
    /// An operator's requeue of many.
    Bulk,
    /// A try on behalf of a publisher that died or lost its connection.
    Recovery,
}

/// How a try ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub enum PublishOutcome {
    /// Confirmed.
    Published,
    /// Confirmed, and by policy it does not matter that nobody listened.
    PublishedUnroutable,
    /// The broker could not take it.
    Nacked,
    /// No queue wanted it.
    Unroutable,
    /// Its exchange does not exist.
    ExchangeMissing,
    /// It cannot be sent over AMQP.
    InvalidMessage,
    /// The broker closed the channel that it was alone on.
    ChannelKilled,
    /// It was alone on three connections in a row that were lost.
    ConnectionKilled,
    /// Its publisher died with it.
    Stuck,
}

impl From<ErrorCode> for PublishOutcome {
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::Nacked => Self::Nacked,
            ErrorCode::Unroutable => Self::Unroutable,
            ErrorCode::ExchangeMissing => Self::ExchangeMissing,
            ErrorCode::InvalidMessage => Self::InvalidMessage,
            ErrorCode::ChannelKilled => Self::ChannelKilled,
            ErrorCode::ConnectionKilled => Self::ConnectionKilled,
            ErrorCode::Stuck => Self::Stuck,
        }
    }
}

/// One try to publish an event.
#[derive(Debug, Clone, SimpleObject)]
pub struct PublishAttempt {
    /// From 1; a requeue does not start anew.
    pub number: i32,
    /// What caused it.
    pub trigger: PublishTriggerEnum,
    /// How it ended.
    pub outcome: PublishOutcome,
    /// What went wrong, in the broker's words.
    pub error: Option<String>,
    /// The process that made it.
    pub worker: String,
    /// When it was claimed.
    pub started_at: DateTime,
    /// When its end was recorded.
    pub finished_at: DateTime,
}

/// The tries of an event: its failure rows, and its success, which stands on the row itself.
pub(super) fn attempts(event: &OutboxEvent, failures: &[Failure]) -> Vec<PublishAttempt> {
    let mut attempts: Vec<_> = failures.iter().filter_map(failed_attempt).collect();
    attempts.extend(successful_attempt(event));
    attempts.sort_by_key(|attempt| attempt.number);
    attempts
}

fn failed_attempt(failure: &Failure) -> Option<PublishAttempt> {
    // A failure without these did not come from a try.
    let outcome = ErrorCode::parse(&failure.code)?;
    let detail = failure.detail.as_ref()?;
    let text = |name: &str| detail.0.get(name).and_then(serde_json::Value::as_str);
    let started_at =
        text("startedAt").and_then(|at| at.parse::<Instant>().ok()).unwrap_or(failure.occurred_at);
    Some(PublishAttempt {
        number: failure.attempt,
        trigger: trigger(text("trigger")),
        outcome: outcome.into(),
        error: Some(failure.message.clone()),
        worker: text("worker").unwrap_or_default().to_owned(),
        started_at: DateTime(started_at),
        finished_at: DateTime(failure.occurred_at),
    })
}

fn successful_attempt(event: &OutboxEvent) -> Option<PublishAttempt> {
    let published_at = event.published_at.filter(|_| event.state() == Some(OutboxStatus::Published))?;
    let unroutable = event.last_error_code.is_some();
    Some(PublishAttempt {
        number: event.attempt_count,
        trigger: trigger(event.claim_trigger.as_deref()),
        outcome: if unroutable { PublishOutcome::PublishedUnroutable } else { PublishOutcome::Published },
        error: event.last_error.clone(),
        worker: event.claimed_by.clone().unwrap_or_default(),
        started_at: DateTime(event.processing_started_at.unwrap_or(published_at)),
        finished_at: DateTime(published_at),
    })
}

/// A row without a trigger was claimed by nobody known.
fn trigger(stored: Option<&str>) -> PublishTriggerEnum {
    stored.and_then(PublishTrigger::parse).map_or(PublishTriggerEnum::Recovery, Into::into)
}

/// Why a row is where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "WaitReason", remote = "WaitReason")]
pub enum WaitReasonEnum {
    /// The next look picks it up.
    NextPoll,
    /// It failed and waits for its next try.
    Backoff,
    /// A process has it.
    Claimed,
    /// The broker is down or blocked.
    BrokerDown,
    /// No promotion is active, so the worker does not look.
    NoActivePromotion,
    /// Only a person moves it on.
    NeedsOperator,
    /// The payment provider did not say how it ended; it is asked again.
    ProviderUnknown,
}

/// A wait, as the API shows it.
pub struct WaitStateObject(pub WaitState);

/// What a row waits for.
#[Object(name = "WaitState")]
impl WaitStateObject {
    /// Why.
    async fn reason(&self) -> WaitReasonEnum {
        self.0.reason.into()
    }

    /// Until when, if that is known.
    async fn until(&self) -> Option<DateTime> {
        self.0.until.map(DateTime)
    }

    /// Since when.
    async fn since(&self) -> Option<DateTime> {
        self.0.since.map(DateTime)
    }

    /// Who or what.
    async fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }
}
