use std::time::Duration;

use clap::Args;

use super::value::{positive_duration, whole};

/// How messages are consumed (domain.md §2).
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Consumers")]
pub struct ConsumerConfig {
    /// Messages of one queue in hand at most
    #[arg(long, env = "PAYDESK_CONSUMER_PREFETCH", default_value_t = 16, value_parser = whole::<u16>(1..=u16::MAX))]
    pub consumer_prefetch: u16,

    /// Tries after the first when the fault is not the message's; then it is dead-lettered
    #[arg(long, env = "PAYDESK_CONSUMER_RETRIES", default_value_t = 3, value_parser = whole::<i32>(0..=1000))]
    pub consumer_retries: i32,

    /// The wait before the first of these tries; it doubles with each, up to one minute
    #[arg(long, env = "PAYDESK_CONSUMER_RETRY_DELAY", default_value = "1s", value_parser = positive_duration)]
    pub consumer_retry_delay: Duration,

    /// How long a dead letter stays taken after the process that replays it has died; a replay that goes on renews it
    #[arg(long, env = "PAYDESK_CONSUMER_REPLAY_LEASE", default_value = "1m", value_parser = positive_duration)]
    pub consumer_replay_lease: Duration,
}
