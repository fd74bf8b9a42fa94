use std::time::Duration;

use crate::db::DbError;

/// The waits before an outcome is written again when the database is away: the money has moved, so it is worth trying.
const WAITS: [Duration; 5] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// The tries to write down what a provider answered. When they are used up the row stays undecided, which is what
/// unknown means.
pub(super) struct Recording {
    what: &'static str,
    id: i64,
    waits: std::array::IntoIter<Duration, 5>,
}

impl Recording {
    /// The outcome of this row.
    pub(super) fn of(what: &'static str, id: i64) -> Self {
        Self { what, id, waits: WAITS.into_iter() }
    }

    /// After a try that failed: waits for the next one while the database is away, or gives the error back.
    pub(super) async fn wait_after(&mut self, error: DbError) -> Result<(), DbError> {
        if !error.is_retryable() && !error.is_connection_loss() {
            return Err(error);
        }
        let Some(wait) = self.waits.next() else { return Err(error) };
        tracing::warn!(%error, what = self.what, id = self.id, "an outcome cannot be written; trying again");
        tokio::time::sleep(wait).await;
        Ok(())
    }
}
