use diesel::{QueryableByName, sql_types::BigInt};
use diesel_async::RunQueryDsl;

use super::ChargeJobStatus;
use crate::{
    charges::{Charges, promotion},
    db::{DbError, Statement},
};

#[derive(QueryableByName)]
struct Counts {
    #[diesel(sql_type = BigInt)]
    pending: i64,
    #[diesel(sql_type = BigInt)]
    processing: i64,
    #[diesel(sql_type = BigInt)]
    failed: i64,
}

/// How the bonus jobs stand. Counts go up to 10,001, so that asking never costs more as the table grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChargeJobGauges {
    /// Jobs in each state that is not the end.
    pub by_status: [(ChargeJobStatus, i64); 3],
    /// Jobs that wait while no promotion is active; 0 while one is.
    pub stranded: i64,
}

impl Charges {
    /// Reads how the jobs stand; every part is a bounded look at an index, whose order it names.
    pub async fn job_gauges(&self) -> Result<ChargeJobGauges, DbError> {
        let mut conn = self.db.read().await?;
        let Counts { pending, processing, failed } = Statement::new(
            "SELECT
                 (SELECT count(*) FROM (SELECT FROM charge_event_job WHERE status = 'PENDING' ORDER BY coalesce(next_retry_at, created_at) LIMIT 10001) few) AS pending,
                 (SELECT count(*) FROM (SELECT FROM charge_event_job WHERE status = 'PROCESSING' ORDER BY processing_started_at LIMIT 10001) few) AS processing,
                 (SELECT count(*) FROM (SELECT FROM charge_event_job WHERE status = 'FAILED' ORDER BY created_at LIMIT 10001) few) AS failed",
        )
        .get_result(&mut conn)
        .await?;
        let is_active = promotion::is_any_active(&mut conn, self.config.first_charge_percent).await?;
        Ok(ChargeJobGauges {
            by_status: [
                (ChargeJobStatus::Pending, pending),
                (ChargeJobStatus::Processing, processing),
                (ChargeJobStatus::Failed, failed),
            ],
            stranded: if is_active { 0 } else { pending },
        })
    }
}
