use std::time::Duration;

use chrono::NaiveTime;
use chrono_tz::Tz;
use clap::Args;

use super::value::{duration, positive_duration, whole};

/// The outbox's policies (domain.md §3).
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Outbox")]
pub struct OutboxConfig {
    /// How often PENDING events that nobody handed over are looked for
    #[arg(long, env = "PAYDESK_OUTBOX_PENDING_INTERVAL", default_value = "10s", value_parser = positive_duration)]
    pub outbox_pending_interval: Duration,

    /// First page of a look for PENDING events
    #[arg(long, env = "PAYDESK_OUTBOX_PENDING_BATCH", default_value_t = 16, value_parser = whole::<u32>(1..=10_000))]
    pub outbox_pending_batch: u32,

    /// How often FAILED events whose time has come are looked for
    #[arg(long, env = "PAYDESK_OUTBOX_RETRY_INTERVAL", default_value = "30s", value_parser = positive_duration)]
    pub outbox_retry_interval: Duration,

    /// First page of a look for FAILED events
    #[arg(long, env = "PAYDESK_OUTBOX_RETRY_BATCH", default_value_t = 16, value_parser = whole::<u32>(1..=10_000))]
    pub outbox_retry_batch: u32,

    /// Failed tries after which an event is DEAD_LETTERED
    #[arg(long, env = "PAYDESK_OUTBOX_MAX_RETRIES", default_value_t = 3, value_parser = whole::<i32>(1..=i32::MAX))]
    pub outbox_max_retries: i32,

    /// The wait after an event's first failed try; it doubles with each
    #[arg(long, env = "PAYDESK_OUTBOX_BACKOFF_BASE", default_value = "10s", value_parser = duration)]
    pub outbox_backoff_base: Duration,

    /// The longest wait between two tries
    #[arg(long, env = "PAYDESK_OUTBOX_BACKOFF_CAP", default_value = "300s", value_parser = duration)]
    pub outbox_backoff_cap: Duration,

    /// How often events stuck in PROCESSING are looked for
    #[arg(long, env = "PAYDESK_OUTBOX_RECOVERY_INTERVAL", default_value = "10m", value_parser = positive_duration)]
    pub outbox_recovery_interval: Duration,

    /// The lease: an event PROCESSING for longer belongs to a process that died
    #[arg(long, env = "PAYDESK_OUTBOX_STUCK_AFTER", default_value = "5m", value_parser = positive_duration)]
    pub outbox_stuck_after: Duration,

    /// How long the broker may take to confirm a batch
    #[arg(long, env = "PAYDESK_OUTBOX_CONFIRM_TIMEOUT", default_value = "10s", value_parser = positive_duration)]
    pub outbox_confirm_timeout: Duration,

    /// Publishers that always run
    #[arg(long, env = "PAYDESK_OUTBOX_PUBLISHERS", default_value_t = 4, value_parser = whole::<u16>(1..=64))]
    pub outbox_publishers: u16,

    /// Publishers while the queue is full
    #[arg(long, env = "PAYDESK_OUTBOX_PUBLISHERS_MAX", default_value_t = 8, value_parser = whole::<u16>(1..=64))]
    pub outbox_publishers_max: u16,

    /// Hand-overs that wait for a publisher; a full queue drops the hint, never the event
    #[arg(long, env = "PAYDESK_OUTBOX_QUEUE", default_value_t = 64, value_parser = whole::<u16>(1..=u16::MAX))]
    pub outbox_queue: u16,

    /// Messages in flight at most, over all publishers
    #[arg(long, env = "PAYDESK_OUTBOX_WINDOW", default_value_t = 1024, value_parser = whole::<u16>(1..=u16::MAX))]
    pub outbox_window: u16,

    /// When old events are deleted, once a day, by the clock of the cleanup's time zone
    #[arg(long, env = "PAYDESK_OUTBOX_CLEANUP_AT", default_value = "03:00", value_parser = time_of_day)]
    pub outbox_cleanup_at: NaiveTime,

    /// The time zone of the cleanup's days
    #[arg(long, env = "PAYDESK_OUTBOX_CLEANUP_TIMEZONE", default_value = "Asia/Seoul", value_parser = time_zone)]
    pub outbox_cleanup_timezone: Tz,

    /// How long PUBLISHED events are kept
    #[arg(long, env = "PAYDESK_OUTBOX_PUBLISHED_RETENTION", default_value = "30d", value_parser = positive_duration)]
    pub outbox_published_retention: Duration,

    /// How long DEAD_LETTERED events are kept
    #[arg(long, env = "PAYDESK_OUTBOX_DEAD_LETTER_RETENTION", default_value = "90d", value_parser = positive_duration)]
    pub outbox_dead_letter_retention: Duration,
}

fn time_of_day(text: &str) -> Result<NaiveTime, String> {
    NaiveTime::parse_from_str(text, "%H:%M")
        .map_err(|_unreadable| "write a time of day such as 03:00".to_owned())
}

fn time_zone(text: &str) -> Result<Tz, String> {
    text.parse().map_err(|_unknown| "write the name of a time zone such as Asia/Seoul or UTC".to_owned())
}
