use diesel::{QueryableByName, sql_types::BigInt};
use diesel_async::RunQueryDsl;

use super::ChargeJobStatus;
use crate::{
    charges::promotion,
    db::{Database, DbError, Statement},
};

/// How the bonus jobs stand. Counts go up to 10,001, so that asking never costs more as the table grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, QueryableByName)]
pub struct ChargeJobGauges {
    #[diesel(sql_type = BigInt)]
    pending: i64,
    #[diesel(sql_type = BigInt)]
    processing: i64,
    #[diesel(sql_type = BigInt)]
    failed: i64,
    #[diesel(sql_type = BigInt)]
    stranded: i64,
}

impl ChargeJobGauges {
    /// Reads them; every part is a bounded look at an index, whose order it names.
    pub async fn read(db: &Database, first_charge_percent: i32) -> Result<Self, DbError> {
        let mut conn = db.read().await?;
        let gauges: Self = Statement::new(
            "SELECT
                 (SELECT count(*) FROM (SELECT FROM charge_event_job WHERE status = 'PENDING' ORDER BY coalesce(next_retry_at, created_at) LIMIT 10001) few) AS pending,
                 (SELECT count(*) FROM (SELECT FROM charge_event_job WHERE status = 'PROCESSING' ORDER BY processing_started_at LIMIT 10001) few) AS processing,
                 (SELECT count(*) FROM (SELECT FROM charge_event_job WHERE status = 'FAILED' ORDER BY created_at LIMIT 10001) few) AS failed,
                 0::bigint AS stranded",
        )
        .get_result(&mut conn)
        .await?;
        let is_active = promotion::is_any_active(&mut conn, first_charge_percent).await?;
        Ok(Self { stranded: if is_active { 0 } else { gauges.pending }, ..gauges })
    }

    /// Jobs in each state that is not the end.
    pub fn by_status(&self) -> [(ChargeJobStatus, i64); 3] {
        [
            (ChargeJobStatus::Pending, self.pending),
            (ChargeJobStatus::Processing, self.processing),
            (ChargeJobStatus::Failed, self.failed),
        ]
    }

    /// Jobs that wait while no promotion is active.
    pub fn stranded(&self) -> i64 {
        self.stranded
    }
}
