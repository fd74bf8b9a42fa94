use std::time::Duration;

use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable},
};
use diesel_async::RunQueryDsl;

use super::OutboxStatus;
use crate::db::{Database, DbError, Statement};

/// How the outbox stands. Counts go up to 10,001, so that asking never costs more as the table grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, QueryableByName)]
pub struct OutboxGauges {
    #[diesel(sql_type = BigInt)]
    pending: i64,
    #[diesel(sql_type = BigInt)]
    processing: i64,
    #[diesel(sql_type = BigInt)]
    published: i64,
    #[diesel(sql_type = BigInt)]
    failed: i64,
    #[diesel(sql_type = BigInt)]
    dead_lettered: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    oldest_pending_ms: Option<i64>,
}

impl OutboxGauges {
    /// Reads them in one statement; every part is a bounded look at a partial index, whose order it names
    /// so that the planner does not read the table instead.
    pub async fn read(db: &Database) -> Result<Self, DbError> {
        let statement = Statement::new(
            "SELECT
                 (SELECT count(*) FROM (SELECT FROM payment_outbox WHERE status = 'PENDING' ORDER BY created_at LIMIT 10001) few) AS pending,
                 (SELECT count(*) FROM (SELECT FROM payment_outbox WHERE status = 'PROCESSING' ORDER BY coalesce(processing_started_at, created_at) LIMIT 10001) few) AS processing,
                 (SELECT count(*) FROM (SELECT FROM payment_outbox WHERE status = 'PUBLISHED' ORDER BY published_at LIMIT 10001) few) AS published,
                 (SELECT count(*) FROM (SELECT FROM payment_outbox WHERE status = 'FAILED' ORDER BY next_retry_at LIMIT 10001) few) AS failed,
                 (SELECT count(*) FROM (SELECT FROM payment_outbox WHERE status = 'DEAD_LETTERED' ORDER BY dead_lettered_at LIMIT 10001) few) AS dead_lettered,
                 (SELECT (extract(epoch FROM now() - created_at) * 1000)::bigint FROM payment_outbox
                  WHERE status = 'PENDING' ORDER BY created_at, id LIMIT 1) AS oldest_pending_ms",
        );
        Ok(statement.get_result(&mut *db.read().await?).await?)
    }

    /// Rows in each state.
    pub fn by_status(&self) -> [(OutboxStatus, i64); 5] {
        [
            (OutboxStatus::Pending, self.pending),
            (OutboxStatus::Processing, self.processing),
            (OutboxStatus::Published, self.published),
            (OutboxStatus::Failed, self.failed),
            (OutboxStatus::DeadLettered, self.dead_lettered),
        ]
    }

    /// How long the oldest PENDING event has waited.
    pub fn oldest_pending(&self) -> Option<Duration> {
        self.oldest_pending_ms.map(|age| Duration::from_millis(u64::try_from(age).unwrap_or(0)))
    }
}
