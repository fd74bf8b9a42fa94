use diesel::{
    QueryableByName,
    result::QueryResult,
    sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::PublishTrigger;
use crate::{db::Statement, types::Instant};

/// A row that this process holds, with the token of its claim. Only a claim makes one, and every final mark
/// needs one.
#[derive(Debug)]
pub struct Claimed<T> {
    row: T,
    token: Uuid,
}

impl<T> Claimed<T> {
    /// The row as it was claimed.
    pub fn row(&self) -> &T {
        &self.row
    }

    /// Fences every later write: a newer claim has another.
    pub(super) fn token(&self) -> Uuid {
        self.token
    }
}

/// What the publisher needs of a claimed event.
#[derive(Debug, Clone, QueryableByName)]
pub struct ClaimedEvent {
    /// Primary key.
    #[diesel(sql_type = BigInt)]
    pub id: i64,
    /// The message id.
    #[diesel(sql_type = SqlUuid)]
    pub event_id: Uuid,
    /// The AMQP correlation id.
    #[diesel(sql_type = Text)]
    pub correlation_id: String,
    /// The flow.
    #[diesel(sql_type = SqlUuid)]
    pub flow_id: Uuid,
    /// The AMQP type.
    #[diesel(sql_type = Text)]
    pub event_type: String,
    /// What it is about.
    #[diesel(sql_type = Text)]
    pub aggregate_type: String,
    /// Its id.
    #[diesel(sql_type = Text)]
    pub aggregate_id: String,
    /// Where it goes.
    #[diesel(sql_type = Text)]
    pub exchange: String,
    /// With which key.
    #[diesel(sql_type = Text)]
    pub routing_key: String,
    /// The JSON text as written.
    #[diesel(sql_type = Text)]
    pub payload: String,
    /// The trace context.
    #[diesel(sql_type = Nullable<Text>)]
    pub traceparent: Option<String>,
    /// Failed tries so far.
    #[diesel(sql_type = Integer)]
    pub retry_count: i32,
    /// Connections lost in a row while it was alone.
    #[diesel(sql_type = Integer)]
    pub lone_connection_losses: i32,
    /// What caused this claim.
    #[diesel(sql_type = Text)]
    pub claim_trigger: String,
    /// Who made it.
    #[diesel(sql_type = Text)]
    pub claimed_by: String,
    /// When this claim was made.
    #[diesel(sql_type = Timestamptz)]
    pub processing_started_at: Instant,
    /// When it was written.
    #[diesel(sql_type = Timestamptz)]
    pub created_at: Instant,
}

/// Claims the due ones among `ids`, in one statement: who gets a row back has won it. Suspects are left to the
/// lone lane. An operator's requeue stays the cause of the try, whoever is first to claim it.
pub(super) async fn claim(
    conn: &mut AsyncPgConnection,
    ids: Vec<i64>,
    trigger: PublishTrigger,
    instance: &str,
) -> QueryResult<Vec<Claimed<ClaimedEvent>>> {
    let token = Uuid::new_v4();
    let statement = Statement::new(
        "WITH due AS MATERIALIZED (
             SELECT id FROM payment_outbox
             WHERE id = ANY($1) AND NOT suspect
               AND (status = 'PENDING' OR (status = 'FAILED' AND next_retry_at <= now()))
             ORDER BY id FOR UPDATE SKIP LOCKED
         )
         UPDATE payment_outbox o
         SET status = 'PROCESSING', claim_token = $2, claimed_by = $4, processing_started_at = now(), updated_at = now(),
             claim_trigger = CASE WHEN o.status = 'PENDING' AND o.claim_trigger IN ('MANUAL', 'BULK') THEN o.claim_trigger ELSE $3 END
         FROM due WHERE o.id = due.id
         RETURNING o.id, event_id, correlation_id, flow_id, event_type, aggregate_type, aggregate_id, exchange, routing_key,
             payload::text AS payload, traceparent, retry_count, lone_connection_losses, claim_trigger, claimed_by,
             processing_started_at, created_at",
    )
    .bind::<Array<BigInt>, _>(ids)
    .bind::<SqlUuid, _>(token)
    .bind::<Text, _>(trigger.as_str())
    .bind::<Text, _>(instance.to_owned());
    let mut rows: Vec<ClaimedEvent> = statement.load(conn).await?;
    // RETURNING promises no order; events of one aggregate are sent in theirs.
    rows.sort_unstable_by_key(|row| row.id);
    Ok(rows.into_iter().map(|row| Claimed { row, token }).collect())
}

/// Claims one row to be sent alone: the oldest due suspect; or, to probe the broker with, the oldest PENDING row that is
/// none, since a suspect's own queue may be what does not confirm.
pub(super) async fn claim_one(
    conn: &mut AsyncPgConnection,
    any: bool,
    instance: &str,
) -> QueryResult<Option<Claimed<ClaimedEvent>>> {
    let token = Uuid::new_v4();
    let statement = Statement::new(
        "WITH pending AS MATERIALIZED (
             SELECT id FROM payment_outbox
             WHERE status = 'PENDING' AND NOT suspect AND $4
             ORDER BY created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
         ), suspects AS MATERIALIZED (
             SELECT id FROM payment_outbox
             WHERE suspect AND status IN ('PENDING', 'FAILED')
               AND (status = 'PENDING' OR next_retry_at <= now()) AND NOT EXISTS (SELECT 1 FROM pending)
             ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
         ), due AS (
             SELECT id FROM suspects UNION ALL SELECT id FROM pending
         )
         UPDATE payment_outbox o
         SET status = 'PROCESSING', claim_token = $1, claimed_by = $3, processing_started_at = now(), updated_at = now(),
             claim_trigger = CASE WHEN o.status = 'PENDING' AND o.claim_trigger IN ('MANUAL', 'BULK') THEN o.claim_trigger ELSE $2 END
         FROM due WHERE o.id = due.id
         RETURNING o.id, event_id, correlation_id, flow_id, event_type, aggregate_type, aggregate_id, exchange, routing_key,
             payload::text AS payload, traceparent, retry_count, lone_connection_losses, claim_trigger, claimed_by,
             processing_started_at, created_at",
    )
    .bind::<SqlUuid, _>(token)
    .bind::<Text, _>(PublishTrigger::Recovery.as_str())
    .bind::<Text, _>(instance.to_owned())
    .bind::<Bool, _>(any);
    let row: Option<ClaimedEvent> = statement.load(conn).await?.into_iter().next();
    Ok(row.map(|row| Claimed { row, token }))
}
