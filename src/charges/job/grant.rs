use std::time::Duration;

use serde_json::json;
use thiserror::Error;

use super::{
    model::{AfterFailure, JobPolicy, Trigger},
    store::{self, ClaimedJob},
};
use crate::{
    charges::{
        Charges, member,
        wallet::{self, Credit},
    },
    db::{DbError, Recording},
    failures::{self, FailureKind, NewFailure, Severity, SubjectType},
    telemetry::record,
    types::{clock, text::storable},
};

/// Deadlocks in a row that are worth another try at once.
const DEADLOCKS: u32 = 20;
/// Longest error that is kept.
const MAX_ERROR_BYTES: usize = 8 * 1024;

/// How a try to grant a bonus ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Granted {
    /// The bonus is credited.
    Done,
    /// It is not, and is tried again or needs an operator.
    Failed,
    /// Somebody else has taken the job over: it is theirs.
    Lost,
}

#[derive(Debug, Error)]
enum GrantError {
    #[error("the claim is lost")]
    Lost,
    #[error("a bonus charge of this job is there although the job is not done")]
    AlreadyThere,
    #[error("the member is gone")]
    NoMember,
    #[error(transparent)]
    Database(#[from] DbError),
}

impl From<diesel::result::Error> for GrantError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

impl GrantError {
    /// Nothing is wrong with the job: the try does not count.
    fn is_not_the_jobs_fault(&self) -> bool {
        matches!(self, Self::Database(error) if error.is_transient())
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Lost => "CLAIM_LOST",
            Self::AlreadyThere => "BONUS_EXISTS",
            Self::NoMember => "MEMBER_MISSING",
            Self::Database(_) => "DATABASE_ERROR",
        }
    }
}

impl Charges {
    pub(super) fn policy(&self) -> JobPolicy {
        JobPolicy {
            backoff: self.config.charge_job_backoff.clone(),
            max_retries: self.config.charge_job_max_retries,
        }
    }

    /// Grants what a purchase has just earned, in a transaction of its own: whatever becomes of it, the purchase stands.
    pub(in crate::charges) async fn grant_at_once(&self, claimed: ClaimedJob) {
        self.grant(claimed, Trigger::Immediate).await;
    }

    /// Grants a claimed job, or writes down why not.
    pub(super) async fn grant(&self, claimed: ClaimedJob, trigger: Trigger) -> Granted {
        let started_at = clock::now();
        let mut deadlocks = 0;
        let error = loop {
            match self.try_grant(&claimed).await {
                Ok(()) => {
                    record::charge_job_attempt("DONE");
                    return Granted::Done;
                }
                // At once, and free: the transaction did nothing.
                Err(GrantError::Database(error)) if error.is_retryable() && deadlocks < DEADLOCKS => {
                    deadlocks += 1;
                }
                Err(GrantError::Lost) => {
                    tracing::warn!(job = claimed.job.id, "a bonus job was taken over by somebody else");
                    record::charge_job_attempt("LOST");
                    return Granted::Lost;
                }
                Err(error) => break error,
            }
        };
        tracing::warn!(job = claimed.job.id, %error, "a bonus cannot be granted");
        let after = self.after(&claimed, &error, trigger);
        let mut recording = Recording::of("charge job", claimed.job.id);
        loop {
            match self.mark_failed(&claimed, after, &error, trigger, started_at).await {
                Ok(true) => {
                    record::charge_job_attempt("FAILED");
                    return Granted::Failed;
                }
                Ok(false) => return Granted::Lost,
                Err(error) => {
                    if let Err(error) = recording.wait_after(error).await {
                        tracing::error!(job = claimed.job.id, %error, "a failed grant is not written down; the recovery will find it");
                        return Granted::Failed;
                    }
                }
            }
        }
    }

    /// The member's lock, the bonus charge, the credit with its entry, and DONE by the claim's token: all or nothing.
    async fn try_grant(&self, claimed: &ClaimedJob) -> Result<(), GrantError> {
        let job = &claimed.job;
        let mut tx = self.db.begin().await?;
        let granted: Result<(), GrantError> = async {
            if member::lock(tx.conn(), job.member_id).await?.is_none() {
                return Err(GrantError::NoMember);
            }
            let bonus = store::insert_bonus(tx.conn(), job).await?;
            let Some(bonus_id) = bonus else {
                let still_ours = store::is_held(tx.conn(), claimed).await?;
                return Err(if still_ours { GrantError::AlreadyThere } else { GrantError::Lost });
            };
            let credit = Credit {
                member_id: job.member_id,
                container: &job.container,
                charge_id: bonus_id,
                can: job.additional_can,
            };
            wallet::credit_bonus(tx.conn(), credit).await?;
            let done = store::done(tx.conn(), claimed, bonus_id).await?;
            if done { Ok(()) } else { Err(GrantError::Lost) }
        }
        .await;
        match granted {
            Ok(()) => Ok(tx.commit().await?),
            Err(error) => {
                // What is wrong is said by the error, not by a rollback that fails after it.
                let _rolled_back = tx.rollback().await;
                Err(error)
            }
        }
    }

    fn after(&self, claimed: &ClaimedJob, error: &GrantError, trigger: Trigger) -> AfterFailure {
        let (policy, retry_count) = (self.policy(), claimed.job.retry_count);
        match trigger {
            Trigger::Immediate => policy.after_first_try(),
            Trigger::Scheduled | Trigger::Manual if error.is_not_the_jobs_fault() => {
                AfterFailure::Retry { retry_count, wait: Duration::ZERO }
            }
            Trigger::Scheduled | Trigger::Manual => policy.after_retry(retry_count),
        }
    }

    async fn mark_failed(
        &self,
        claimed: &ClaimedJob,
        after: AfterFailure,
        error: &GrantError,
        trigger: Trigger,
        started_at: crate::types::Instant,
    ) -> Result<bool, DbError> {
        let job = &claimed.job;
        let text = storable(&error.to_string(), MAX_ERROR_BYTES);
        let mut tx = self.db.begin().await?;
        if !store::failed(tx.conn(), claimed, after, &text).await? {
            tx.rollback().await?;
            return Ok(false);
        }
        let counts = trigger == Trigger::Immediate || !error.is_not_the_jobs_fault();
        if counts {
            let (kind, severity, attempt) = match after {
                AfterFailure::Retry { retry_count, .. } => {
                    (FailureKind::ChargeJobRetry, Severity::Warning, retry_count.saturating_add(1))
                }
                AfterFailure::GiveUp { retry_count } => {
                    (FailureKind::ChargeJobFailed, Severity::Critical, retry_count.saturating_add(1))
                }
            };
            let failure = NewFailure {
                kind,
                severity,
                subject_type: SubjectType::ChargeJob,
                subject_id: job.id.to_string(),
                event_type: None,
                code: error.code().to_owned(),
                message: text,
                detail: Some(json!({
                    "trigger": trigger.as_str(), "outcome": kind.as_str(), "startedAt": started_at, "finishedAt": clock::now(),
                })),
                attempt,
                flow_id: Some(job.flow_id),
            };
            failures::record(tx.conn(), failure).await?;
        }
        tx.commit().await?;
        Ok(true)
    }
}
