//! Recording, one function for each thing that happens. Labels are constants or names of the schema: a label made
//! from input would let callers grow the process's memory.

use std::time::Duration;

use metrics::{counter, gauge, histogram};

use super::names;

/// How many outbox rows are in `status`.
pub fn outbox_rows(status: &'static str, rows: i64) {
    // A gauge is a float; u32 converts exactly, and more than four thousand million rows are no better known.
    let rows = u32::try_from(rows.max(0)).unwrap_or(u32::MAX);
    gauge!(names::OUTBOX_ROWS, "status" => status).set(rows);
}

/// How long the oldest PENDING row has been waiting; `None` when none does.
pub fn outbox_oldest_pending(age: Option<Duration>) {
    gauge!(names::OUTBOX_OLDEST_PENDING).set(age.unwrap_or_default());
}

/// An event was marked PUBLISHED, `since_commit` after the commit that made it.
pub fn outbox_published(since_commit: Duration) {
    histogram!(names::OUTBOX_PUBLISH).record(since_commit);
}

/// One try to publish an event ended with `outcome`.
pub fn outbox_attempt(outcome: &'static str) {
    counter!(names::OUTBOX_ATTEMPTS, "outcome" => outcome).increment(1);
}

/// The broker's state as the connection supervisor sees it.
pub fn broker(up: bool, blocked: bool) {
    gauge!(names::BROKER_UP).set(u8::from(up));
    gauge!(names::BROKER_BLOCKED).set(u8::from(blocked));
}

/// The pool's connections.
pub fn pool(in_use: u32, idle: u32, max: u32) {
    gauge!(names::POOL_IN_USE).set(in_use);
    gauge!(names::POOL_IDLE).set(idle);
    gauge!(names::POOL_MAX).set(max);
}

/// Somebody waited `wait` for a connection, in vain or not.
pub fn pool_checkout(wait: Duration) {
    histogram!(names::POOL_CHECKOUT).record(wait);
}

/// A GraphQL operation (`query`, `mutation`, `subscription`) with this root field ended. `field` must be a field of
/// the schema, never a name that only the client knows.
pub fn graphql_request(operation: &'static str, field: &str, outcome: &'static str, took: Duration) {
    histogram!(
        names::GRAPHQL_REQUEST,
        "operation" => operation, "field" => field.to_owned(), "outcome" => outcome
    )
    .record(took);
}

/// A GraphQL error with `code` was answered.
pub fn graphql_error(code: &'static str) {
    counter!(names::GRAPHQL_ERRORS, "code" => code).increment(1);
}

/// A websocket is open until the answer is dropped.
#[must_use = "the websocket counts as closed when this is dropped"]
pub fn websocket() -> Open {
    Open::new(names::WEBSOCKETS)
}

/// A subscription runs until the answer is dropped.
#[must_use = "the subscription counts as ended when this is dropped"]
pub fn subscription() -> Open {
    Open::new(names::SUBSCRIPTIONS)
}

/// A failure of `kind` was written down.
pub fn failure(kind: &'static str) {
    counter!(names::FAILURES, "kind" => kind).increment(1);
}

/// A run of `worker` ended.
pub fn worker_run(worker: &'static str, took: Duration, succeeded: bool) {
    counter!(names::WORKER_RUNS, "worker" => worker).increment(1);
    // By nothing when it went well: the series is there before the first failure, so that its rise is seen.
    counter!(names::WORKER_FAILURES, "worker" => worker).increment(u64::from(!succeeded));
    histogram!(names::WORKER_RUN, "worker" => worker).record(took);
}

/// A call to a payment provider ended.
pub fn provider_call(provider: &'static str, operation: &'static str, outcome: &'static str, took: Duration) {
    histogram!(
        names::PROVIDER_CALL,
        "provider" => provider, "operation" => operation, "outcome" => outcome
    )
    .record(took);
}

/// A purchase was presented for a charge at `gateway`: COMPLETE, REPLAYED, or the code of the refusal.
pub fn charge(gateway: &'static str, outcome: &'static str) {
    counter!(names::CHARGES, "gateway" => gateway, "outcome" => outcome).increment(1);
}

/// A try to grant a bonus ended.
pub fn charge_job_attempt(outcome: &'static str) {
    counter!(names::CHARGE_JOB_ATTEMPTS, "outcome" => outcome).increment(1);
}

/// How many bonus jobs are in `status`.
pub fn charge_jobs(status: &'static str, rows: i64) {
    gauge!(names::CHARGE_JOBS, "status" => status).set(u32::try_from(rows.max(0)).unwrap_or(u32::MAX));
}

/// How many bonus jobs wait while no promotion is active.
pub fn charge_jobs_stranded(rows: i64) {
    gauge!(names::CHARGE_JOBS_STRANDED).set(u32::try_from(rows.max(0)).unwrap_or(u32::MAX));
}

/// What a try to carry out a message of `queue` came to: `done`, `retried`, `dead_lettered` or `left`.
pub fn consumer_message(queue: &'static str, outcome: &'static str) {
    counter!(names::CONSUMER_MESSAGES, "queue" => queue, "outcome" => outcome).increment(1);
}

/// Something that is counted while it is open: dropping it counts down, whatever way it ends.
#[derive(Debug)]
pub struct Open(&'static str);

impl Open {
    fn new(gauge: &'static str) -> Self {
        gauge!(gauge).increment(1);
        Self(gauge)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        gauge!(self.0).decrement(1);
    }
}
