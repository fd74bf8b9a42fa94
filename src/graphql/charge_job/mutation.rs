//! Changes of bonus jobs: payloads, mutations.

use async_graphql::{Context, Object, SimpleObject};

use super::ChargeJobObject;
use crate::{
    charges::{ChargeJob, RetryJobError},
    graphql::{
        api::RequestId,
        error::ApiError,
        guard,
        input::{self, OperatorActionInput, UserError, UserErrorCode},
        schema::Services,
    },
};

/// What became of a bonus job's mutation.
#[derive(SimpleObject)]
pub struct ChargeJobPayload {
    /// The job; also when its state does not allow it.
    pub charge_job: Option<ChargeJobObject>,
    /// Why it was refused.
    pub user_errors: Vec<UserError>,
}

impl ChargeJobPayload {
    fn refused(job: Option<ChargeJob>, error: UserError) -> Self {
        Self { charge_job: job.map(ChargeJobObject), user_errors: vec![error] }
    }
}

/// What a run of the worker did.
#[derive(SimpleObject)]
pub struct RunChargeJobsPayload {
    /// Jobs that it took.
    pub claimed: i32,
    /// Of these, granted.
    pub done: i32,
    /// Of these, not granted.
    pub failed: i32,
    /// It did not look, since no promotion is active.
    pub skipped_no_active_promotion: bool,
    /// Why it was refused.
    pub user_errors: Vec<UserError>,
}

/// Changes of bonus jobs.
#[derive(Default)]
pub struct ChargeJobMutation;

#[Object]
impl ChargeJobMutation {
    /// Has a FAILED job tried again by the worker, with its retries anew; a job in any other state stays as it is
    /// (INVALID_STATE). ADMIN; audited. Of two at once one wins, the other is told INVALID_STATE.
    async fn retry_charge_job(
        &self,
        ctx: &Context<'_>,
        input: OperatorActionInput,
    ) -> Result<ChargeJobPayload, ApiError> {
        let admin = guard::admin(ctx)?;
        let (id, reason) = match input.read() {
            Ok(read) => read,
            Err(error) => return Ok(ChargeJobPayload::refused(None, error)),
        };
        let services = Services::of(ctx)?;
        let outcome = services.charges.retry_job(&admin, id, reason, RequestId::of(ctx)).await;
        services.charge_job_watcher.hint();
        let error = match outcome {
            Ok(job) => {
                return Ok(ChargeJobPayload {
                    charge_job: Some(ChargeJobObject(job)),
                    user_errors: Vec::new(),
                });
            }
            Err(error) => error,
        };
        let message = error.to_string();
        let (job, code) = match error {
            RetryJobError::NotFound(_) => (None, UserErrorCode::NotFound),
            RetryJobError::InvalidState(job) => (Some(*job), UserErrorCode::InvalidState),
            RetryJobError::Database(error) => return Err(input::failed(error)),
        };
        Ok(ChargeJobPayload::refused(job, UserError::new(code, message)))
    }

    /// Has the worker grant what is due now; `force` also while no promotion is active, for jobs that are stranded. ADMIN;
    /// audited, with the `reason`. Again: takes what is due then.
    async fn run_charge_jobs(
        &self,
        ctx: &Context<'_>,
        #[graphql(default_with = "Some(false)")] force: Option<bool>,
        reason: Option<String>,
    ) -> Result<RunChargeJobsPayload, ApiError> {
        let admin = guard::admin(ctx)?;
        let services = Services::of(ctx)?;
        let force = force.unwrap_or(false);
        let reason = input::optional_reason(reason.as_deref())?;
        let run = services
            .charges
            .run_jobs(&admin, force, reason, RequestId::of(ctx))
            .await
            .map_err(input::failed)?;
        services.charge_job_watcher.hint();
        let number = |jobs: usize| i32::try_from(jobs).unwrap_or(i32::MAX);
        Ok(RunChargeJobsPayload {
            claimed: number(run.claimed),
            done: number(run.done),
            failed: number(run.failed),
            skipped_no_active_promotion: run.skipped,
            user_errors: Vec::new(),
        })
    }
}
