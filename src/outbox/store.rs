//! The scans: ids of due rows, stuck rows. Each reads one partial index, states as literals.

use std::time::Duration;

use diesel::{
    QueryableByName,
    result::QueryResult,
    sql_types::{BigInt, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::lanes::AggregateKey;
use crate::{
    db::Statement,
    types::{Instant, millis},
};

/// Where a scan stands: the last row's sort time and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScanPoint {
    at: Instant,
    id: i64,
}

/// An event that a scan found.
#[derive(Debug, Clone, PartialEq, Eq, QueryableByName)]
pub(super) struct DueEvent {
    #[diesel(sql_type = Timestamptz)]
    at: Instant,
    #[diesel(sql_type = BigInt)]
    pub(super) id: i64,
    #[diesel(sql_type = Text)]
    aggregate_type: String,
    #[diesel(sql_type = Text)]
    aggregate_id: String,
}

impl DueEvent {
    /// Where a scan stands that has come to it.
    pub(super) fn point(&self) -> ScanPoint {
        ScanPoint { at: self.at, id: self.id }
    }

    /// What it is about.
    pub(super) fn key(&self) -> AggregateKey {
        AggregateKey::of(&self.aggregate_type, &self.aggregate_id)
    }
}

/// The oldest PENDING events after `from`.
pub(super) async fn pending(
    conn: &mut AsyncPgConnection,
    from: Option<ScanPoint>,
    limit: i64,
) -> QueryResult<Vec<DueEvent>> {
    scan(
        "SELECT created_at AS at, id, aggregate_type, aggregate_id FROM payment_outbox
         WHERE status = 'PENDING' AND NOT suspect AND (created_at, id) > (coalesce($1, '-infinity'), $2)
         ORDER BY created_at, id LIMIT $3",
        from,
        limit,
    )
    .load(conn)
    .await
}

/// The FAILED events whose time has come, longest due first, after `from`.
pub(super) async fn retryable(
    conn: &mut AsyncPgConnection,
    from: Option<ScanPoint>,
    limit: i64,
) -> QueryResult<Vec<DueEvent>> {
    scan(
        "SELECT next_retry_at AS at, id, aggregate_type, aggregate_id FROM payment_outbox
         WHERE status = 'FAILED' AND NOT suspect AND next_retry_at <= now()
           AND (next_retry_at, id) > (coalesce($1, '-infinity'), $2)
         ORDER BY next_retry_at, id LIMIT $3",
        from,
        limit,
    )
    .load(conn)
    .await
}

fn scan(sql: &'static str, from: Option<ScanPoint>, limit: i64) -> Statement {
    Statement::new(sql)
        .bind::<Nullable<Timestamptz>, _>(from.map(|point| point.at))
        .bind::<BigInt, _>(from.map_or(0, |point| point.id))
        .bind::<BigInt, _>(limit)
}

/// A row whose publisher seems to have died.
#[derive(Debug, Clone, QueryableByName)]
pub(super) struct StuckEvent {
    #[diesel(sql_type = BigInt)]
    pub(super) id: i64,
    #[diesel(sql_type = Nullable<SqlUuid>)]
    pub(super) claim_token: Option<Uuid>,
    #[diesel(sql_type = Nullable<Text>)]
    pub(super) claim_trigger: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    pub(super) claimed_by: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    pub(super) processing_started_at: Option<Instant>,
    #[diesel(sql_type = Text)]
    pub(super) event_type: String,
    #[diesel(sql_type = SqlUuid)]
    pub(super) flow_id: Uuid,
    #[diesel(sql_type = Integer)]
    pub(super) retry_count: i32,
}

/// PROCESSING for longer than the lease, also on their last try.
pub(super) async fn stuck(
    conn: &mut AsyncPgConnection,
    lease: Duration,
    limit: i64,
) -> QueryResult<Vec<StuckEvent>> {
    Statement::new(
        "SELECT id, claim_token, claim_trigger, claimed_by, processing_started_at, event_type, flow_id, retry_count
         FROM payment_outbox
         WHERE status = 'PROCESSING'
           AND coalesce(processing_started_at, created_at) < now() - $1 * interval '1 millisecond'
         ORDER BY coalesce(processing_started_at, created_at), id LIMIT $2",
    )
    .bind::<BigInt, _>(millis(lease))
    .bind::<BigInt, _>(limit)
    .load(conn)
    .await
}

/// Makes FAILED rows without a next try, which only a hand can have written and no scan would find, due now.
pub(super) async fn mend_failed(conn: &mut AsyncPgConnection, limit: i64) -> QueryResult<usize> {
    Statement::new(
        "UPDATE payment_outbox SET next_retry_at = now()
         WHERE id = ANY (ARRAY(
             SELECT id FROM payment_outbox WHERE status = 'FAILED' AND next_retry_at IS NULL
             LIMIT $1 FOR UPDATE SKIP LOCKED))",
    )
    .bind::<BigInt, _>(limit)
    .execute(conn)
    .await
}
