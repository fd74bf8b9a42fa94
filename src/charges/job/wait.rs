use super::{ChargeJob, ChargeJobStatus};
use crate::{
    outbox::{WaitReason, WaitState},
    types::Instant,
};

/// What a job waits for; `None` once it is done. While no promotion is active the worker does not look.
pub fn job_waits_for(job: &ChargeJob, is_any_promotion_active: bool, now: Instant) -> Option<WaitState> {
    let state = |reason, until, since, detail| Some(WaitState { reason, until, since, detail });
    match ChargeJobStatus::parse(&job.status)? {
        ChargeJobStatus::Done => None,
        ChargeJobStatus::Processing => state(WaitReason::Claimed, None, job.processing_started_at, None),
        ChargeJobStatus::Failed => {
            state(WaitReason::NeedsOperator, None, Some(job.updated_at), job.last_error.clone())
        }
        ChargeJobStatus::Pending if !is_any_promotion_active => {
            state(WaitReason::NoActivePromotion, None, Some(job.updated_at), job.last_error.clone())
        }
        ChargeJobStatus::Pending if job.next_retry_at.is_some_and(|at| at > now) => {
            state(WaitReason::Backoff, job.next_retry_at, Some(job.updated_at), job.last_error.clone())
        }
        ChargeJobStatus::Pending => {
            state(WaitReason::NextPoll, None, Some(job.updated_at), job.last_error.clone())
        }
    }
}
