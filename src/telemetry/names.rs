//! Every metric: its name, what it says, and how it is counted. Other rooms record through `record`.

/// Outbox rows, by `status`.
pub const OUTBOX_ROWS: &str = "paydesk_outbox_rows";
/// Age of the oldest PENDING outbox row.
pub const OUTBOX_OLDEST_PENDING: &str = "paydesk_outbox_oldest_pending_seconds";
/// From an event's commit to its PUBLISHED mark.
pub const OUTBOX_PUBLISH: &str = "paydesk_outbox_publish_seconds";
/// Tries to publish, by `outcome`.
pub const OUTBOX_ATTEMPTS: &str = "paydesk_outbox_attempts_total";
/// Whether the broker is connected.
pub const BROKER_UP: &str = "paydesk_broker_up";
/// Whether the broker refuses publishes for want of resources.
pub const BROKER_BLOCKED: &str = "paydesk_broker_blocked";
/// Database connections that are checked out.
pub const POOL_IN_USE: &str = "paydesk_db_pool_in_use";
/// Database connections that wait in the pool.
pub const POOL_IDLE: &str = "paydesk_db_pool_idle";
/// Database connections that the pool may hold.
pub const POOL_MAX: &str = "paydesk_db_pool_max";
/// Wait for a database connection.
pub const POOL_CHECKOUT: &str = "paydesk_db_pool_checkout_seconds";
/// GraphQL operations, by `operation`, root `field` and `outcome`.
pub const GRAPHQL_REQUEST: &str = "paydesk_graphql_request_seconds";
/// GraphQL errors, by `code`.
pub const GRAPHQL_ERRORS: &str = "paydesk_graphql_errors_total";
/// Open websockets.
pub const WEBSOCKETS: &str = "paydesk_websocket_connections";
/// Running subscriptions.
pub const SUBSCRIPTIONS: &str = "paydesk_subscriptions";
/// Recorded failures, by `kind`.
pub const FAILURES: &str = "paydesk_failures_total";
/// Runs of background workers, by `worker`.
pub const WORKER_RUNS: &str = "paydesk_worker_runs_total";
/// Failed runs of background workers, by `worker`.
pub const WORKER_FAILURES: &str = "paydesk_worker_failures_total";
/// Length of a background worker's run, by `worker`.
pub const WORKER_RUN: &str = "paydesk_worker_run_seconds";
/// Calls to payment providers, by `provider`, `operation` and `outcome`.
pub const PROVIDER_CALL: &str = "paydesk_provider_call_seconds";
/// Purchases presented for charges, by `gateway` and `outcome`.
pub const CHARGES: &str = "paydesk_charges_total";
/// Tries to grant a bonus, by `outcome`.
pub const CHARGE_JOB_ATTEMPTS: &str = "paydesk_charge_job_attempts_total";
/// Bonus jobs that are not done, by `status`.
pub const CHARGE_JOBS: &str = "paydesk_charge_jobs";
/// Bonus jobs that wait while no promotion is active.
pub const CHARGE_JOBS_STRANDED: &str = "paydesk_charge_jobs_stranded";

/// Tries to carry a message out, by `queue` and `outcome`.
pub const CONSUMER_MESSAGES: &str = "paydesk_consumer_messages_total";

/// How a metric is counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Seconds, counted in buckets with these upper bounds.
    Seconds(&'static [f64]),
}

/// From half a millisecond: what stays inside this house.
const SHORT: &[f64] = &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];
/// From 5 ms: what waits for somebody else, up to the longest provider timeout.
const LONG: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];
/// Up to an hour: what an outage can delay.
const DELAYED: &[f64] =
    &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0];

/// Name, kind and description of every metric.
pub(super) const ALL: [(&str, Kind, &str); 24] = [
    (OUTBOX_ROWS, Kind::Gauge, "Outbox rows by status"),
    (OUTBOX_OLDEST_PENDING, Kind::Gauge, "Age of the oldest PENDING outbox row; 0 without one"),
    (OUTBOX_PUBLISH, Kind::Seconds(DELAYED), "From an event's commit to its PUBLISHED mark"),
    (OUTBOX_ATTEMPTS, Kind::Counter, "Tries to publish an event by outcome"),
    (BROKER_UP, Kind::Gauge, "1 while the broker is connected"),
    (BROKER_BLOCKED, Kind::Gauge, "1 while the broker refuses publishes for want of resources"),
    (POOL_IN_USE, Kind::Gauge, "Database connections that are checked out"),
    (POOL_IDLE, Kind::Gauge, "Database connections that wait in the pool"),
    (POOL_MAX, Kind::Gauge, "Database connections that the pool may hold"),
    (POOL_CHECKOUT, Kind::Seconds(SHORT), "Wait for a database connection"),
    (GRAPHQL_REQUEST, Kind::Seconds(LONG), "GraphQL operations by root field and outcome"),
    (GRAPHQL_ERRORS, Kind::Counter, "GraphQL errors by code"),
    (WEBSOCKETS, Kind::Gauge, "Open websockets"),
    (SUBSCRIPTIONS, Kind::Gauge, "Running subscriptions"),
    (FAILURES, Kind::Counter, "Recorded failures by kind"),
    (WORKER_RUNS, Kind::Counter, "Runs of background workers"),
    (WORKER_FAILURES, Kind::Counter, "Failed runs of background workers"),
    (WORKER_RUN, Kind::Seconds(LONG), "Length of a background worker's run"),
    (PROVIDER_CALL, Kind::Seconds(LONG), "Calls to payment providers by operation and outcome"),
    (CHARGES, Kind::Counter, "Purchases presented for charges by gateway and outcome"),
    (CHARGE_JOB_ATTEMPTS, Kind::Counter, "Tries to grant a bonus by outcome"),
    (CHARGE_JOBS, Kind::Gauge, "Bonus jobs that are not done, by status"),
    (CHARGE_JOBS_STRANDED, Kind::Gauge, "Bonus jobs that wait while no promotion is active"),
    (CONSUMER_MESSAGES, Kind::Counter, "Tries to carry out a message by queue and outcome"),
];
