use std::time::Duration;

use diesel::sql_types::{BigInt, Integer};
use diesel_async::RunQueryDsl;
use tokio_util::sync::CancellationToken;

use crate::{
    db::{Database, DbError, Statement},
    workers::{TickError, Worker},
};

/// Rows that one statement deletes: small enough to disturb nobody.
const BATCH: i64 = 1_000;
/// The pause between two batches.
const PAUSE: Duration = Duration::from_millis(100);
const INTERVAL: Duration = Duration::from_secs(60 * 60);

/// How long rows are kept that nothing else cleans up (domain.md §5), each with the statement that deletes a batch.
const RULES: [(&str, i32); 7] = [
    (
        "DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM idempotency_key WHERE created_at < now() - $1 * interval '1 day'
             ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        15,
    ),
    (
        "DELETE FROM provider_call WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM provider_call WHERE at < now() - $1 * interval '1 day'
             ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        180,
    ),
    (
        "DELETE FROM failure WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM failure WHERE occurred_at < now() - $1 * interval '1 day' AND position IS NOT NULL
             ORDER BY occurred_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        180,
    ),
    (
        "DELETE FROM inbox WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM inbox WHERE created_at < now() - $1 * interval '1 day'
             ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        90,
    ),
    (
        "DELETE FROM participant_cancel WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM participant_cancel WHERE created_at < now() - $1 * interval '1 day'
             ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        90,
    ),
    (
        "DELETE FROM inbound_dead_letter WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM inbound_dead_letter
             WHERE status <> 'OPEN' AND updated_at < now() - $1 * interval '1 day'
             ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        90,
    ),
    (
        "DELETE FROM charge_reference WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM charge_reference
             WHERE presented_at < now() - $1 * interval '1 day' AND next_check_at IS NULL
             ORDER BY presented_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        180,
    ),
];

/// Deletes what has been kept long enough, in small paced batches. Safe beside itself in other processes.
pub struct Retention(pub Database);

impl Worker for Retention {
    const NAME: &'static str = "retention";

    fn interval(&self) -> Duration {
        INTERVAL
    }

    async fn tick(&self, stop: &CancellationToken) -> Result<(), TickError> {
        for (statement, days) in RULES {
            while self.delete_batch(statement, days).await? && !stop.is_cancelled() {
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(())
    }
}

impl Retention {
    /// True if there may be more.
    async fn delete_batch(&self, statement: &'static str, days: i32) -> Result<bool, DbError> {
        let mut conn = self.0.conn().await?;
        let batch = Statement::new(statement).bind::<Integer, _>(days).bind::<BigInt, _>(BATCH);
        Ok(i64::try_from(batch.execute(&mut conn).await?).unwrap_or(i64::MAX) == BATCH)
    }
}
