use std::time::Duration;

use clap::Args;

use super::value::{positive_duration, whole};

/// Charges: purchases whose outcome is unknown, and the bonuses that promotions give (domain.md §4).
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Charges")]
pub struct ChargeConfig {
    /// How often charges that may have been paid, and credited Google purchases that are not consumed, are looked for
    #[arg(long, env = "PAYDESK_CHARGE_RECONCILE_INTERVAL", default_value = "60s", value_parser = positive_duration)]
    pub charge_reconcile_interval: Duration,

    /// How long a charge must have been left in REQUEST before its gateway is asked about it
    #[arg(long, env = "PAYDESK_CHARGE_RECONCILE_AFTER", default_value = "60s", value_parser = positive_duration)]
    pub charge_reconcile_after: Duration,

    /// Bonus in percent of a member's first charge; 0 gives none
    #[arg(long, env = "PAYDESK_FIRST_CHARGE_PERCENT", default_value_t = 0, value_parser = whole::<i32>(0..=1000))]
    pub first_charge_percent: i32,

    /// Pause between two runs of the worker that grants bonuses anew
    #[arg(long, env = "PAYDESK_CHARGE_JOB_INTERVAL", default_value = "5m", value_parser = positive_duration)]
    pub charge_job_interval: Duration,

    /// Jobs that one run takes at most
    #[arg(long, env = "PAYDESK_CHARGE_JOB_BATCH", default_value_t = 30, value_parser = whole::<u16>(1..=1000))]
    pub charge_job_batch: u16,

    /// Waits after a bonus could not be granted: at once, by the first retry, by the second, …; the last one stands for
    /// all further ones
    #[arg(long, env = "PAYDESK_CHARGE_JOB_BACKOFF", default_value = "5m,10m,15m", value_delimiter = ',', value_parser = positive_duration)]
    pub charge_job_backoff: Vec<Duration>,

    /// Failed retries after which a job is FAILED
    #[arg(long, env = "PAYDESK_CHARGE_JOB_MAX_RETRIES", default_value_t = 3, value_parser = whole::<i32>(1..=1000))]
    pub charge_job_max_retries: i32,

    /// The lease: a job in PROCESSING for longer belongs to a process that died
    #[arg(long, env = "PAYDESK_CHARGE_JOB_STUCK_AFTER", default_value = "5m", value_parser = positive_duration)]
    pub charge_job_stuck_after: Duration,

    /// How often jobs stuck in PROCESSING are looked for
    #[arg(long, env = "PAYDESK_CHARGE_JOB_RECOVERY_INTERVAL", default_value = "5m", value_parser = positive_duration)]
    pub charge_job_recovery_interval: Duration,
}
