use serde_json::json;
use thiserror::Error;

use super::{ChargeJob, ChargeJobStatus, store};
use crate::{
    audit::{self, Deed},
    auth::AdminPrincipal,
    charges::Charges,
    db::DbError,
    failures::SubjectType,
};

/// Why a job was not retried.
#[derive(Debug, Error)]
pub enum RetryJobError {
    /// There is no such job.
    #[error("there is no charge job {0}")]
    NotFound(i64),
    /// Only a FAILED job can be retried.
    #[error("a job that is {} cannot be retried; only a FAILED one can", .0.status)]
    InvalidState(Box<ChargeJob>),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
}

impl From<diesel::result::Error> for RetryJobError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

impl Charges {
    /// FAILED → PENDING, due now, with its retries anew; audited in the same transaction. Of two at once one wins; the other
    /// is told the state.
    pub async fn retry_job(
        &self,
        admin: &AdminPrincipal,
        id: i64,
        reason: &str,
        request_id: &str,
    ) -> Result<ChargeJob, RetryJobError> {
        let mut tx = self.db.begin().await?;
        let Some(before) = store::locked(tx.conn(), id).await? else {
            tx.rollback().await?;
            return Err(RetryJobError::NotFound(id));
        };
        if !before.is(ChargeJobStatus::Failed) {
            tx.rollback().await?;
            return Err(RetryJobError::InvalidState(Box::new(before)));
        }
        store::retry(tx.conn(), id).await?;
        let after = store::locked(tx.conn(), id).await?.ok_or(RetryJobError::NotFound(id))?;
        let state = |job: &ChargeJob| {
            json!({
                "status": job.status, "retryCount": job.retry_count, "nextRetryAt": job.next_retry_at,
                "lastError": job.last_error,
            })
        };
        let deed = Deed {
            action: "retryChargeJob",
            target_type: SubjectType::ChargeJob.as_str(),
            target_id: id.to_string(),
            reason: Some(reason),
            before: Some(state(&before)),
            after: Some(state(&after)),
            request_id,
            flow_id: Some(before.flow_id),
        };
        audit::record(tx.conn(), admin, deed).await?;
        tx.commit().await?;
        Ok(after)
    }
}
