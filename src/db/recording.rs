use std::time::Duration;

use super::DbError;

/// The waits before an outcome is written again when the database is away: the money has moved, so it is worth trying.
const WAITS: [Duration; 5] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// Deadlocks in a row that are worth another try at once.
const DEADLOCKS: u32 = 20;

/// The tries to write down what a provider answered. When they are used up the row stays undecided, which is what
/// unknown means.
pub struct Recording {
    what: &'static str,
    id: i64,
    waits: std::array::IntoIter<Duration, 5>,
    deadlocks: u32,
}

impl Recording {
    /// The outcome of this row.
    pub fn of(what: &'static str, id: i64) -> Self {
        Self { what, id, waits: WAITS.into_iter(), deadlocks: 0 }
    }

    /// After a try that failed: at once after a deadlock, after a wait while the database is away; any other error is
    /// given back.
    pub async fn wait_after(&mut self, error: DbError) -> Result<(), DbError> {
        if error.is_retryable() && self.deadlocks < DEADLOCKS {
            self.deadlocks += 1;
            tracing::debug!(%error, what = self.what, id = self.id, "a deadlock; trying again at once");
            return Ok(());
        }
        if !error.is_transient() {
            return Err(error);
        }
        let Some(wait) = self.waits.next() else { return Err(error) };
        tracing::warn!(%error, what = self.what, id = self.id, "an outcome cannot be written; trying again");
        tokio::time::sleep(wait).await;
        Ok(())
    }
}
