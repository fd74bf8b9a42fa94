//! Marks: the end of a claim. Each is a compare-and-set on the claim's token.

use diesel::{
    QueryableByName,
    result::QueryResult,
    sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Uuid as SqlUuid},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::{ErrorCode, FailedTry};
use crate::{
    db::Statement,
    failures::{self, FailureKind, NewFailure, Severity, SubjectType},
    types::Instant,
};

/// A claim, as the marks name it: row and token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClaimKey {
    pub(super) id: i64,
    /// `None` only for a row that somebody made PROCESSING by hand, without a claim.
    pub(super) token: Option<Uuid>,
}

/// The try as the failure tells it.
#[derive(Debug, Clone)]
pub(super) struct Try {
    pub(super) event_type: String,
    pub(super) flow_id: Uuid,
    pub(super) trigger: Option<String>,
    pub(super) worker: Option<String>,
    pub(super) started_at: Option<Instant>,
}

/// A failed try to be marked.
#[derive(Debug, Clone)]
pub(super) struct FailedMark {
    pub(super) key: ClaimKey,
    pub(super) attempt: Try,
    pub(super) after: FailedTry,
    pub(super) code: ErrorCode,
    pub(super) error: String,
    /// Whether it must go on being sent alone.
    pub(super) suspect: bool,
}

/// A row whose mark won.
#[derive(Debug, Clone, Copy, QueryableByName)]
struct Marked {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Integer)]
    attempt_count: i32,
}

fn ids(keys: impl Iterator<Item = ClaimKey>) -> (Vec<i64>, Vec<Option<Uuid>>) {
    keys.map(|key| (key.id, key.token)).unzip()
}

/// The broker confirmed them. Needs the token only: the broker's own word on the row's last claim is the truth, even
/// if the row was taken for stuck meanwhile. `unroutable` is the broker's reply where by policy nobody has to listen.
pub(super) async fn published(
    conn: &mut AsyncPgConnection,
    keys: &[ClaimKey],
    unroutable: Option<&str>,
) -> QueryResult<usize> {
    let (ids, tokens) = ids(keys.iter().copied());
    Statement::new(
        "UPDATE payment_outbox o
         SET status = 'PUBLISHED', published_at = now(), updated_at = now(), attempt_count = least(attempt_count, 2147483646) + 1, suspect = false,
             lone_connection_losses = 0, next_retry_at = NULL, dead_lettered_at = NULL, last_error = $3,
             last_error_code = CASE WHEN $3 IS NULL THEN NULL ELSE 'UNROUTABLE' END
         FROM unnest($1, $2) AS mark (id, token)
         WHERE o.id = mark.id AND o.claim_token = mark.token AND (o.status <> 'PUBLISHED') IS TRUE",
    )
    .bind::<Array<BigInt>, _>(ids)
    .bind::<Array<Nullable<SqlUuid>>, _>(tokens)
    .bind::<Nullable<Text>, _>(unroutable.map(str::to_owned))
    .execute(conn)
    .await
}

/// Their tries failed: marks them and records the failures of those whose marks won, in the caller's transaction.
/// Tells how many won; the others' claims were lost. `retried` is the kind of a failure that is tried again.
pub(super) async fn fail_in_tx(
    conn: &mut AsyncPgConnection,
    marks: &[FailedMark],
    retried: FailureKind,
) -> QueryResult<usize> {
    let won = failed(conn, marks).await?;
    let failure = |won: &Marked| {
        let mark = marks.iter().find(|mark| mark.key.id == won.id)?;
        Some(mark.failure(retried, won.attempt_count))
    };
    let failures: Vec<NewFailure> = won.iter().filter_map(failure).collect();
    failures::record_all(conn, &failures).await?;
    Ok(won.len())
}

impl FailedMark {
    fn failure(&self, retried: FailureKind, attempt: i32) -> NewFailure {
        let (kind, severity) = match self.after.delay {
            Some(_) => (retried, Severity::Warning),
            None => (FailureKind::OutboxDeadLettered, Severity::Critical),
        };
        NewFailure {
            kind,
            severity,
            subject_type: SubjectType::OutboxEvent,
            subject_id: self.key.id.to_string(),
            event_type: Some(self.attempt.event_type.clone()),
            code: self.code.as_str().to_owned(),
            message: self.error.clone(),
            detail: Some(serde_json::json!({
                "trigger": self.attempt.trigger,
                "worker": self.attempt.worker,
                "outcome": self.code.as_str(),
                "startedAt": self.attempt.started_at,
            })),
            attempt,
            flow_id: Some(self.attempt.flow_id),
        }
    }
}

async fn failed(conn: &mut AsyncPgConnection, marks: &[FailedMark]) -> QueryResult<Vec<Marked>> {
    let (ids, tokens) = ids(marks.iter().map(|mark| mark.key));
    let delays = marks.iter().map(|mark| {
        mark.after.delay.map(|delay| i64::try_from(delay.as_millis()).unwrap_or(i64::MAX / 1_000_000))
    });
    // `IS TRUE` keeps the planner from the partial index on PROCESSING when its statistics are stale.
    Statement::new(
        "UPDATE payment_outbox o
         SET status = mark.status, retry_count = mark.retry_count, attempt_count = least(attempt_count, 2147483646) + 1,
             next_retry_at = now() + mark.delay_ms * interval '1 millisecond',
             dead_lettered_at = CASE WHEN mark.status = 'DEAD_LETTERED' THEN now() END,
             last_error_code = mark.code, last_error = mark.error, suspect = mark.suspect, lone_connection_losses = 0,
             updated_at = now()
         FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)
              AS mark (id, token, status, retry_count, delay_ms, code, error, suspect)
         WHERE o.id = mark.id AND o.claim_token IS NOT DISTINCT FROM mark.token AND (o.status = 'PROCESSING') IS TRUE
         RETURNING o.id, o.attempt_count",
    )
    .bind::<Array<BigInt>, _>(ids)
    .bind::<Array<Nullable<SqlUuid>>, _>(tokens)
    .bind::<Array<Text>, _>(marks.iter().map(|mark| mark.after.status.as_str()).collect::<Vec<_>>())
    .bind::<Array<Integer>, _>(marks.iter().map(|mark| mark.after.retry_count).collect::<Vec<_>>())
    .bind::<Array<Nullable<BigInt>>, _>(delays.collect::<Vec<_>>())
    .bind::<Array<Text>, _>(marks.iter().map(|mark| mark.code.as_str()).collect::<Vec<_>>())
    .bind::<Array<Text>, _>(marks.iter().map(|mark| mark.error.clone()).collect::<Vec<_>>())
    .bind::<Array<Bool>, _>(marks.iter().map(|mark| mark.suspect).collect::<Vec<_>>())
    .load(conn)
    .await
}

/// Gives rows back as they were: nothing that happened was their fault, so no retry is used. `suspect` marks rows
/// that may be at fault after all; `lone_loss` counts a connection that a row was alone on.
pub(super) async fn give_back(
    conn: &mut AsyncPgConnection,
    keys: &[ClaimKey],
    suspect: bool,
    lone_loss: bool,
) -> QueryResult<usize> {
    let (ids, tokens) = ids(keys.iter().copied());
    Statement::new(
        "UPDATE payment_outbox o
         SET status = CASE WHEN next_retry_at IS NULL THEN 'PENDING' ELSE 'FAILED' END, updated_at = now(),
             suspect = suspect OR $3, lone_connection_losses = least(lone_connection_losses, 2147483646) + $4::int
         FROM unnest($1, $2) AS mark (id, token)
         WHERE o.id = mark.id AND o.claim_token = mark.token AND (o.status = 'PROCESSING') IS TRUE",
    )
    .bind::<Array<BigInt>, _>(ids)
    .bind::<Array<Nullable<SqlUuid>>, _>(tokens)
    .bind::<Bool, _>(suspect)
    .bind::<Integer, _>(i32::from(lone_loss))
    .execute(conn)
    .await
}
