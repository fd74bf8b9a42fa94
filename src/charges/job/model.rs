use std::time::Duration;

use diesel::{
    pg::Pg,
    prelude::{Queryable, QueryableByName, Selectable},
};
use uuid::Uuid;

use crate::{
    db::schema::charge_event_job,
    types::{Instant, stored_enum},
};

stored_enum! {
    /// What a bonus is for.
    ChargeJobType {
        /// The member's first charge.
        FirstCharge = "FIRST_CHARGE",
        /// A promotion.
        ActiveChargeEvent = "ACTIVE_CHARGE_EVENT",
    }
}

stored_enum! {
    /// Where a bonus job stands.
    ChargeJobStatus {
        /// It is tried again when it is due.
        Pending = "PENDING",
        /// Somebody grants it.
        Processing = "PROCESSING",
        /// Granted.
        Done = "DONE",
        /// Tried enough; needs an operator.
        Failed = "FAILED",
    }
}

impl ChargeJobStatus {
    /// Whether a job may go from here to there.
    pub const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Processing, Self::Done | Self::Pending | Self::Failed)
                | (Self::Pending, Self::Processing)
                | (Self::Failed, Self::Pending)
        )
    }
}

/// A bonus job.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, QueryableByName, Selectable)]
#[diesel(table_name = charge_event_job, check_for_backend(Pg))]
pub struct ChargeJob {
    /// Primary key.
    pub id: i64,
    /// The charge that earned it.
    pub source_charge_id: i64,
    /// The bonus charge, once granted.
    pub result_charge_id: Option<i64>,
    /// Who gets it.
    pub member_id: i64,
    /// The promotion; none for the first charge.
    pub charge_event_id: Option<i64>,
    /// A [`ChargeJobType`].
    pub job_type: String,
    /// One per charge and reason; the bonus charge's order id.
    pub idempotency_key: String,
    /// How much.
    pub additional_can: i64,
    /// The source charge's gateway.
    pub payment_gateway: String,
    /// Which wallet it goes to.
    pub container: String,
    /// The reason as the bonus charge shows it.
    pub method_snapshot: String,
    /// A [`ChargeJobStatus`].
    pub status: String,
    /// Failed retries.
    pub retry_count: i32,
    /// When it is due.
    pub next_retry_at: Option<Instant>,
    /// The last claim.
    pub claim_token: Option<Uuid>,
    /// When that was made.
    pub processing_started_at: Option<Instant>,
    /// When it was granted.
    pub processed_at: Option<Instant>,
    /// Why the last try failed.
    pub last_error: Option<String>,
    /// The flow.
    pub flow_id: Uuid,
    /// When it was earned.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

impl ChargeJob {
    /// Whether it stands there.
    pub fn is(&self, status: ChargeJobStatus) -> bool {
        self.status == status.as_str()
    }
}

/// What caused a try to grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// The purchase that earned it.
    Immediate,
    /// The worker.
    Scheduled,
    /// An operator who had the worker run.
    Manual,
}

impl Trigger {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Immediate => "IMMEDIATE",
            Self::Scheduled => "SCHEDULED",
            Self::Manual => "MANUAL",
        }
    }
}

/// What follows a try that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterFailure {
    /// PENDING, due after the wait.
    Retry {
        /// Failed retries now.
        retry_count: i32,
        /// The wait.
        wait: Duration,
    },
    /// FAILED.
    GiveUp {
        /// Failed retries now.
        retry_count: i32,
    },
}

/// How often and after which waits a bonus is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JobPolicy {
    /// After the immediate try, the first retry, the second, …; the last one stands for all further ones.
    pub(super) backoff: Vec<Duration>,
    /// Failed retries after which it is FAILED.
    pub(super) max_retries: i32,
}

impl JobPolicy {
    /// After the first try, which is made at once and is no retry.
    pub(super) fn after_first_try(&self) -> AfterFailure {
        AfterFailure::Retry { retry_count: 0, wait: self.wait(0) }
    }

    /// After a retry that failed, when so many had failed before.
    pub(super) fn after_retry(&self, failed_before: i32) -> AfterFailure {
        let retry_count = failed_before.saturating_add(1);
        if retry_count >= self.max_retries {
            AfterFailure::GiveUp { retry_count }
        } else {
            AfterFailure::Retry { retry_count, wait: self.wait(retry_count) }
        }
    }

    fn wait(&self, retry_count: i32) -> Duration {
        let index = usize::try_from(retry_count).unwrap_or(0);
        self.backoff.get(index).or(self.backoff.last()).copied().unwrap_or(Duration::from_secs(300))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn policy() -> JobPolicy {
        JobPolicy {
            backoff: [5, 10, 15].map(|minutes| Duration::from_secs(60 * minutes)).to_vec(),
            max_retries: 3,
        }
    }

    #[test]
    fn waits_five_ten_and_fifteen_minutes_and_fails_at_the_third_retry() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let retry = |retry_count, wait| AfterFailure::Retry { retry_count, wait: minutes(wait) };
        assert_eq!(policy().after_first_try(), retry(0, 5));
        assert_eq!(policy().after_retry(0), retry(1, 10));
        assert_eq!(policy().after_retry(1), retry(2, 15));
        assert_eq!(policy().after_retry(2), AfterFailure::GiveUp { retry_count: 3 });
    }

    #[test]
    fn done_is_never_left_and_failed_only_by_a_retry() {
        use ChargeJobStatus::{Done, Failed, Pending, Processing};
        for next in ChargeJobStatus::ALL {
            assert!(!Done.may_become(*next));
            assert_eq!(Failed.may_become(*next), *next == Pending);
            assert_eq!(Pending.may_become(*next), *next == Processing);
            assert_eq!(Processing.may_become(*next), *next != Processing);
        }
    }

    proptest! {
        #[test]
        fn any_number_of_failures_has_an_answer(failed_before in any::<i32>(), max_retries in 1..100_i32) {
            let after = JobPolicy { max_retries, ..policy() }.after_retry(failed_before);
            match after {
                AfterFailure::Retry { retry_count, .. } => prop_assert!(retry_count < max_retries),
                AfterFailure::GiveUp { retry_count } => prop_assert!(retry_count >= max_retries),
            }
        }
    }
}
