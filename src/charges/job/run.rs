//! The workers: what is due is granted anew, what a process that died left behind is taken over.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    grant::Granted,
    model::Trigger,
    store::{self, ClaimedJob, StuckJob},
};
use crate::{
    audit::{self, Deed},
    auth::AdminPrincipal,
    charges::{Charges, promotion},
    db::DbError,
    failures::{self, FailureKind, NewFailure, Severity, SubjectType},
    workers::{TickError, Worker, spawn_tracked},
};

/// Jobs that are granted at once.
const AT_ONCE: usize = 4;
/// Rows that one recovery transaction takes.
const RECOVERY_BATCH: i64 = 500;

/// Grants bonuses that are due.
pub struct ChargeJobs(pub Charges);

/// Takes over what a process that died was granting.
pub struct ChargeJobRecovery(pub Charges);

/// What a run of the worker did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Jobs that it took.
    pub claimed: usize,
    /// Of these, granted.
    pub done: usize,
    /// Of these, not granted.
    pub failed: usize,
    /// It did not look, since no promotion is active.
    pub skipped: bool,
}

/// An operator's wish to have it run now.
struct Wish<'a> {
    admin: &'a AdminPrincipal,
    force: bool,
    reason: Option<&'a str>,
    request_id: &'a str,
}

impl Worker for ChargeJobs {
    const NAME: &'static str = "charge-jobs";

    fn interval(&self) -> Duration {
        self.0.config.charge_job_interval
    }

    async fn tick(&self, _stop: &CancellationToken) -> Result<(), TickError> {
        let claimed = self.0.claim(false, None).await?;
        if let Some(jobs) = claimed {
            self.0.grant_all(jobs, Trigger::Scheduled).await;
        }
        Ok(())
    }
}

impl Worker for ChargeJobRecovery {
    const NAME: &'static str = "charge-job-recovery";

    fn interval(&self) -> Duration {
        self.0.config.charge_job_recovery_interval
    }

    async fn tick(&self, stop: &CancellationToken) -> Result<(), TickError> {
        while self.0.recover_batch().await? && !stop.is_cancelled() {}
        Ok(())
    }
}

impl Charges {
    /// Has the worker run now; `force`: although no promotion is active. Audited. The run goes on when the caller goes away.
    pub async fn run_jobs(
        &self,
        admin: &AdminPrincipal,
        force: bool,
        reason: Option<&str>,
        request_id: &str,
    ) -> Result<RunSummary, DbError> {
        let (charges, admin, request_id) = (self.clone(), admin.clone(), request_id.to_owned());
        let reason = reason.map(str::to_owned);
        let work = async move {
            let wish = Wish { admin: &admin, force, reason: reason.as_deref(), request_id: &request_id };
            match charges.claim(force, Some(wish)).await? {
                None => Ok(RunSummary { skipped: true, ..RunSummary::default() }),
                Some(jobs) => Ok(charges.grant_all(jobs, Trigger::Manual).await),
            }
        };
        let lost = |error| DbError::Unavailable(format!("the run ended unexpectedly: {error}"));
        spawn_tracked(&self.tasks, work).await.map_err(lost)?
    }

    /// Takes what is due; `None`, and no look at the jobs at all, if no promotion is active and nobody forces it.
    async fn claim(&self, force: bool, wish: Option<Wish<'_>>) -> Result<Option<Vec<ClaimedJob>>, DbError> {
        let mut tx = self.db.begin().await?;
        let first_charge_percent = self.config.first_charge_percent;
        let looks = force || promotion::is_any_active(tx.conn(), first_charge_percent).await?;
        let claimed = if looks {
            Some(store::claim_due(tx.conn(), i64::from(self.config.charge_job_batch)).await?)
        } else {
            None
        };
        if let Some(wish) = wish {
            let deed = Deed {
                action: "runChargeJobs",
                target_type: SubjectType::Worker.as_str(),
                target_id: ChargeJobs::NAME.to_owned(),
                reason: wish.reason,
                before: None,
                after: Some(json!({ "force": wish.force, "claimed": claimed.as_ref().map(Vec::len) })),
                request_id: wish.request_id,
                flow_id: None,
            };
            audit::record(tx.conn(), wish.admin, deed).await?;
        }
        tx.commit().await?;
        Ok(claimed)
    }

    /// Each in a transaction of its own: a bad one stops no other.
    async fn grant_all(&self, jobs: Vec<ClaimedJob>, trigger: Trigger) -> RunSummary {
        let claimed = jobs.len();
        let ended: Vec<Granted> =
            stream::iter(jobs).map(|job| self.grant(job, trigger)).buffer_unordered(AT_ONCE).collect().await;
        let how_many = |granted| ended.iter().filter(|end| **end == granted).count();
        RunSummary {
            claimed,
            done: how_many(Granted::Done),
            failed: how_many(Granted::Failed),
            skipped: false,
        }
    }

    /// One batch of stuck jobs; true if there may be more.
    async fn recover_batch(&self) -> Result<bool, DbError> {
        let mut tx = self.db.begin().await?;
        let stuck = store::recover(tx.conn(), self.config.charge_job_stuck_after, RECOVERY_BATCH).await?;
        let failures: Vec<NewFailure> = stuck.iter().map(recovered).collect();
        failures::record_all(tx.conn(), &failures).await?;
        tx.commit().await?;
        if !stuck.is_empty() {
            tracing::warn!(jobs = stuck.len(), "took over bonus jobs whose process died");
        }
        Ok(i64::try_from(stuck.len()).unwrap_or(i64::MAX) == RECOVERY_BATCH)
    }
}

fn recovered(job: &StuckJob) -> NewFailure {
    NewFailure {
        kind: FailureKind::StuckRecovered,
        severity: Severity::Warning,
        subject_type: SubjectType::ChargeJob,
        subject_id: job.id.to_string(),
        event_type: None,
        code: "STUCK".to_owned(),
        message: "stuck in PROCESSING: its process died while it granted the bonus; it is due again"
            .to_owned(),
        detail: Some(json!({ "trigger": "RECOVERY", "outcome": "STUCK", "startedAt": job.stuck_since })),
        attempt: job.retry_count.saturating_add(1),
        flow_id: Some(job.flow_id),
    }
}
