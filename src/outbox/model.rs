use std::time::Duration;

use diesel::{
    pg::Pg,
    prelude::{Queryable, QueryableByName, Selectable},
};
use uuid::Uuid;

use crate::{
    config::OutboxConfig,
    db::schema::payment_outbox,
    types::{Backoff, Instant, stored_enum},
};

stored_enum! {
    /// Where an event is on its way.
    OutboxStatus {
        /// Waits to be sent.
        Pending = "PENDING",
        /// A publisher has it.
        Processing = "PROCESSING",
        /// The broker confirmed it. Final.
        Published = "PUBLISHED",
        /// A try failed; it is tried again at `next_retry_at`.
        Failed = "FAILED",
        /// It failed too often; only an operator moves it.
        DeadLettered = "DEAD_LETTERED",
    }
}

stored_enum! {
    /// Why a try failed, for machines (interfaces.md, "Codes").
    ErrorCode {
        /// The broker could not take it.
        Nacked = "NACKED",
        /// No queue wanted it.
        Unroutable = "UNROUTABLE",
        /// Its exchange does not exist.
        ExchangeMissing = "EXCHANGE_MISSING",
        /// It cannot be sent over AMQP.
        InvalidMessage = "INVALID_MESSAGE",
        /// The broker closed the channel that it was alone on.
        ChannelKilled = "CHANNEL_KILLED",
        /// It was alone on three connections in a row that were lost.
        ConnectionKilled = "CONNECTION_KILLED",
        /// Its publisher died with it.
        Stuck = "STUCK",
    }
}

/// An event as operators see it.
#[derive(Debug, Clone, PartialEq, Queryable, QueryableByName, Selectable)]
#[diesel(table_name = payment_outbox, check_for_backend(Pg))]
pub struct OutboxEvent {
    /// Primary key.
    pub id: i64,
    /// The AMQP message id.
    pub event_id: Uuid,
    /// The AMQP correlation id.
    pub correlation_id: String,
    /// The flow.
    pub flow_id: Uuid,
    /// Such as `PAYMENT_COMPLETED`.
    pub event_type: String,
    /// What it is about, such as `PAYMENT`.
    pub aggregate_type: String,
    /// The id of what it is about.
    pub aggregate_id: String,
    /// Where it is sent.
    pub exchange: String,
    /// With which key.
    pub routing_key: String,
    /// An [`OutboxStatus`].
    pub status: String,
    /// Failed tries since it was written or requeued.
    pub retry_count: i32,
    /// Tries with an outcome, ever.
    pub attempt_count: i32,
    /// Whether it is sent alone until a confirm clears it.
    pub suspect: bool,
    /// When it is due again.
    pub next_retry_at: Option<Instant>,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// An [`ErrorCode`].
    pub last_error_code: Option<String>,
    /// What caused the last claim.
    pub claim_trigger: Option<String>,
    /// Who made it.
    pub claimed_by: Option<String>,
    /// When.
    pub processing_started_at: Option<Instant>,
    /// When the broker confirmed it.
    pub published_at: Option<Instant>,
    /// When it was given up.
    pub dead_lettered_at: Option<Instant>,
    /// When it was written.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

impl OutboxEvent {
    /// Where it is on its way; `None` for a state that this version does not know.
    pub fn state(&self) -> Option<OutboxStatus> {
        OutboxStatus::parse(&self.status)
    }
}

/// How often and how fast a failed event is tried again.
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    /// Failed tries after which it is dead-lettered.
    pub max_retries: i32,
    /// The waits.
    pub backoff: Backoff,
}

/// What a failed try leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedTry {
    /// FAILED or `DEAD_LETTERED`.
    pub status: OutboxStatus,
    /// The count after this try.
    pub retry_count: i32,
    /// How long until it is due again; `None` when it is not.
    pub delay: Option<Duration>,
}

impl RetryPolicy {
    /// Reads the settings.
    pub fn new(config: &OutboxConfig) -> Self {
        let backoff = Backoff { base: config.outbox_backoff_base, cap: config.outbox_backoff_cap };
        Self { max_retries: config.outbox_max_retries, backoff }
    }

    /// What the next failed try leads to, for an event that failed `retry_count` times. Whatever stands in the
    /// row, nothing overflows.
    pub fn after_failure(&self, retry_count: i32) -> FailedTry {
        let retry_count = retry_count.max(0).saturating_add(1);
        if retry_count >= self.max_retries {
            return FailedTry { status: OutboxStatus::DeadLettered, retry_count, delay: None };
        }
        let delay = Some(self.backoff.delay(i64::from(retry_count)));
        FailedTry { status: OutboxStatus::Failed, retry_count, delay }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BACKOFF: Backoff = Backoff { base: Duration::from_secs(10), cap: Duration::from_secs(300) };

    #[test]
    fn at_the_defaults_the_waits_are_10_and_20_seconds_and_the_third_failure_is_the_last() {
        let policy = RetryPolicy { max_retries: 3, backoff: BACKOFF };
        let delays: Vec<_> =
            (0..3).map(|count| policy.after_failure(count).delay.map(|wait| wait.as_secs())).collect();
        assert_eq!(delays, [Some(10), Some(20), None]);
        assert_eq!(policy.after_failure(2).status, OutboxStatus::DeadLettered);
    }

    proptest! {
        #[test]
        fn any_count_ends_capped_and_without_a_panic(count in any::<i32>(), max in 1_i32..) {
            let after = RetryPolicy { max_retries: max, backoff: BACKOFF }.after_failure(count);
            prop_assert!(after.retry_count >= 1);
            prop_assert!(after.delay.is_none_or(|wait| wait <= BACKOFF.cap));
            prop_assert_eq!(after.delay.is_none(), after.status == OutboxStatus::DeadLettered);
        }
    }
}
