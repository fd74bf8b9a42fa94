//! The process's own clock, for what no row is concerned with: token expiry, durations in logs.
//! Rows take their times from the database.

use super::Instant;

/// Now, by this machine's clock.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
pub fn now() -> Instant {
    chrono::Utc::now()
}
