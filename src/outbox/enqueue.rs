use diesel::{
    QueryableByName,
    result::QueryResult,
    sql_types::{BigInt, Nullable, Text, Uuid as SqlUuid},
};
use diesel_async::RunQueryDsl;
use serde::Serialize;
use uuid::Uuid;

use super::{
    PublishTrigger,
    envelope::Wrapper,
    handoff::HandOffQueue,
    lanes::{AggregateKey, Handed},
};
use crate::{
    db::{Statement, Transaction},
    types::Instant,
};

/// An event to be told.
#[derive(Debug, Clone)]
pub struct NewOutboxEvent<D> {
    /// Such as `PAYMENT_COMPLETED`.
    pub event_type: &'static str,
    /// What it is about, such as `PAYMENT`.
    pub aggregate_type: &'static str,
    /// The id of what it is about.
    pub aggregate_id: String,
    /// Where to send it.
    pub exchange: String,
    /// With which key.
    pub routing_key: &'static str,
    /// The flow it belongs to.
    pub flow_id: Uuid,
    /// When the change happened, by the database's clock.
    pub occurred_at: Instant,
    /// W3C trace context of the change.
    pub traceparent: Option<String>,
    /// What happened.
    pub data: D,
}

/// The way into the outbox.
#[derive(Clone)]
pub struct Outbox {
    pub(super) queue: HandOffQueue,
}

#[derive(QueryableByName)]
struct Inserted {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

impl Outbox {
    pub(super) fn new(queue: HandOffQueue) -> Self {
        Self { queue }
    }

    /// Writes an event in the transaction of the change that it tells. Once that has committed, and only then,
    /// its id goes to the publisher.
    pub async fn enqueue<D: Serialize>(
        &self,
        tx: &mut Transaction,
        event: NewOutboxEvent<D>,
    ) -> QueryResult<i64> {
        let event_id = Uuid::now_v7();
        let correlation_id = event_id.to_string();
        let payload = serde_json::to_string(&Wrapper {
            event_id,
            event_type: event.event_type,
            occurred_at: event.occurred_at,
            correlation_id: &correlation_id,
            flow_id: event.flow_id,
            aggregate_type: event.aggregate_type,
            aggregate_id: &event.aggregate_id,
            data: &event.data,
        })
        .map_err(|error| diesel::result::Error::SerializationError(Box::new(error)))?;
        let key = AggregateKey::of(event.aggregate_type, &event.aggregate_id);
        let inserted: Inserted = Statement::new(
            "INSERT INTO payment_outbox
                 (event_id, correlation_id, flow_id, event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, traceparent)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::json, $10) RETURNING id",
        )
        .bind::<SqlUuid, _>(event_id)
        .bind::<Text, _>(correlation_id)
        .bind::<SqlUuid, _>(event.flow_id)
        .bind::<Text, _>(event.event_type)
        .bind::<Text, _>(event.aggregate_type)
        .bind::<Text, _>(event.aggregate_id)
        .bind::<Text, _>(event.exchange)
        .bind::<Text, _>(event.routing_key)
        .bind::<Text, _>(payload)
        .bind::<Nullable<Text>, _>(event.traceparent)
        .get_result(tx.conn())
        .await?;
        self.hand_over_after_commit(tx, inserted.id, key, PublishTrigger::Immediate);
        Ok(inserted.id)
    }

    /// Has the publisher look at an event right after the commit.
    pub(super) fn hand_over_after_commit(
        &self,
        tx: &mut Transaction,
        id: i64,
        key: AggregateKey,
        trigger: PublishTrigger,
    ) {
        let queue = self.queue.clone();
        tx.after_commit(move || queue.offer(Handed::now(id, key, trigger)));
    }
}
