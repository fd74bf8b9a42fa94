use std::time::Duration;

use diesel::{result::QueryResult, sql_types::BigInt};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use tokio_util::sync::CancellationToken;

use crate::{
    config::OutboxConfig,
    db::{DailyRun, Database, Day, DbError, Statement},
    workers::{TickError, Worker},
};

/// Rows that one statement deletes: small enough to disturb no claim.
const BATCH: i64 = 1_000;
/// The pause between two batches.
const PAUSE: Duration = Duration::from_millis(100);
/// How often it is looked whether it is time.
const LOOK: Duration = Duration::from_secs(60);

/// Deletes what was PUBLISHED or `DEAD_LETTERED` long ago, once a day (domain.md §3).
pub struct Cleanup {
    db: Database,
    daily: DailyRun,
    published: Duration,
    dead_lettered: Duration,
}

impl Cleanup {
    /// By the settings; `instance` names this process.
    pub fn new(db: Database, config: &OutboxConfig, instance: String) -> Self {
        let (at, zone) = (config.outbox_cleanup_at, config.outbox_cleanup_timezone);
        Self {
            db,
            daily: DailyRun { name: Self::NAME, at, zone, instance },
            published: config.outbox_published_retention,
            dead_lettered: config.outbox_dead_letter_retention,
        }
    }

    /// Batch by batch until nothing old is left. False if another process took over, or this one stops.
    async fn delete_all(
        &self,
        day: Day,
        statement: &'static str,
        retention: Duration,
        stop: &CancellationToken,
    ) -> Result<bool, DbError> {
        loop {
            let mut conn = self.db.conn().await?;
            if stop.is_cancelled() || !self.daily.goes_on(&mut conn, day).await? {
                return Ok(false);
            }
            let deleted = delete_batch(&mut conn, statement, retention).await?;
            drop(conn);
            if i64::try_from(deleted).unwrap_or(i64::MAX) < BATCH {
                return Ok(true);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl Worker for Cleanup {
    const NAME: &'static str = "outbox-cleanup";

    fn interval(&self) -> Duration {
        LOOK
    }

    async fn tick(&self, stop: &CancellationToken) -> Result<(), TickError> {
        let Some(day) = self.daily.take(&mut *self.db.conn().await?).await? else { return Ok(()) };
        let done = self.delete_all(day, OLD_PUBLISHED, self.published, stop).await?
            && self.delete_all(day, OLD_DEAD_LETTERS, self.dead_lettered, stop).await?;
        if done {
            self.daily.finish(&mut *self.db.conn().await?, day).await?;
        }
        Ok(())
    }
}

// The status is checked once more where the row is deleted: an operator may have requeued it meanwhile.
const OLD_PUBLISHED: &str = "DELETE FROM payment_outbox WHERE status = 'PUBLISHED' AND id = ANY (ARRAY(
    SELECT id FROM payment_outbox
    WHERE status = 'PUBLISHED' AND published_at < now() - $1 * interval '1 second'
    ORDER BY published_at, id LIMIT $2 FOR UPDATE SKIP LOCKED))";
const OLD_DEAD_LETTERS: &str =
    "DELETE FROM payment_outbox WHERE status = 'DEAD_LETTERED' AND id = ANY (ARRAY(
    SELECT id FROM payment_outbox
    WHERE status = 'DEAD_LETTERED' AND dead_lettered_at < now() - $1 * interval '1 second'
    ORDER BY dead_lettered_at, id LIMIT $2 FOR UPDATE SKIP LOCKED))";

async fn delete_batch(
    conn: &mut AsyncPgConnection,
    statement: &'static str,
    retention: Duration,
) -> QueryResult<usize> {
    Statement::new(statement)
        .bind::<BigInt, _>(i64::try_from(retention.as_secs()).unwrap_or(i64::MAX))
        .bind::<BigInt, _>(BATCH)
        .execute(conn)
        .await
}
