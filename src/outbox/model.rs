use diesel::{
    pg::Pg,
    prelude::{Queryable, QueryableByName, Selectable},
};
use uuid::Uuid;

use crate::{
    db::schema::payment_outbox,
    types::{Instant, stored_enum},
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
