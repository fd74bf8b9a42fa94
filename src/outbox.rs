//! The transactional outbox: events written with the change they tell, delivered to RabbitMQ with confirms.
//!
//! [`Outbox::enqueue`] is the only way in and takes a transaction; [`Publisher`] is the only one that claims.

mod claim;
mod cleanup;
mod enqueue;
mod envelope;
mod gate;
mod gauges;
mod handoff;
mod lanes;
pub mod lifecycle;
mod list;
mod mark;
mod model;
mod outage;
mod publisher;
mod requeue;
mod schedulers;
mod store;
mod suspects;
mod throughput;
mod wait;

pub use claim::{Claimed, ClaimedEvent};
pub use cleanup::Cleanup;
pub use enqueue::{NewOutboxEvent, Outbox};
pub use gate::{Gate, GateState};
pub use gauges::OutboxGauges;
pub use handoff::PublishTrigger;
pub use lifecycle::{FailedTry, RetryPolicy};
pub use list::{OutboxFilter, OutboxRows, by_ids, find, for_aggregates, payloads};
pub use model::{ErrorCode, OutboxEvent, OutboxStatus};
pub use publisher::Publisher;
pub use requeue::{RequeueError, requeue};
pub use schedulers::{PendingScheduler, RecoveryScheduler, RetryScheduler};
pub use throughput::{PublishLatency, publish_latency, published_per_minute};
pub use wait::{WaitReason, WaitState, waiting_for};
