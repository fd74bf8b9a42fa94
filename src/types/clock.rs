//! The process's own clock, for what no row is concerned with: token expiry, durations in logs.
//! Rows take their times from the database.

use std::time::Duration;

use super::Instant;

/// Now, by this machine's clock.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
pub fn now() -> Instant {
    chrono::Utc::now()
}

/// A duration as statements take it; the longest there is when it is longer.
pub fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
