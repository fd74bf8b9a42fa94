//! Bonus jobs: earned with a charge, granted once, tried again when that fails.

mod gauges;
mod grant;
mod list;
mod model;
mod retry;
mod run;
mod store;
mod wait;

pub use gauges::ChargeJobGauges;
pub use list::{ChargeJobFilter, ChargeJobRows, find_job, jobs_by_ids, jobs_of_charges};
pub use model::{ChargeJob, ChargeJobStatus, ChargeJobType};
pub use retry::RetryJobError;
pub use run::{ChargeJobRecovery, ChargeJobs, RunSummary};
pub(super) use store::{ClaimedJob, insert_claimed};
pub use wait::job_waits_for;
