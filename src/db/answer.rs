//! How long a connection has waited for the database's answer.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// A statement that was given up longer ago than this is not waited for by the next borrower.
const GIVEN_UP: Duration = Duration::from_secs(1);
/// So much later it is looked once more: after a standstill of this process an answer may be there, not read yet.
const SECOND_LOOK: Duration = Duration::from_millis(100);

/// Resolves when an answer has been waited for this long, beginning with that to the setup.
pub(super) async fn overdue(answer: Answer, patience: Duration) {
    answer.is_awaited();
    loop {
        tokio::time::sleep(patience.saturating_sub(answer.waited())).await;
        if answer.waited() >= patience {
            tokio::time::sleep(SECOND_LOOK).await;
        }
        let waited = answer.waited();
        if waited >= patience {
            // Who waits for it tells the fault. Nobody may, when a request was given up and its connection not used since.
            tracing::debug!(?waited, "the database's answer does not come; its connection is closed");
            return;
        }
    }
}

/// What a connection waits for.
#[derive(Clone, Default)]
pub(super) struct Answer(Arc<Mutex<Option<Awaited>>>);

#[derive(Clone, Copy)]
struct Awaited {
    since: Instant,
    /// It has begun to come: its rows may still be read.
    begun: bool,
}

impl Answer {
    fn state(&self) -> MutexGuard<'_, Option<Awaited>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A statement is sent; one that was given up before it comes first.
    pub(super) fn is_awaited(&self) {
        let mut state = self.state();
        let since = state.filter(|before| !before.begun).map_or_else(Instant::now, |before| before.since);
        *state = Some(Awaited { since, begun: false });
    }

    /// The statement is carried out or failed; what is left of its answer is waited for anew.
    pub(super) fn has_begun(&self) {
        *self.state() = Some(Awaited { since: Instant::now(), begun: true });
    }

    /// Nothing is waited for.
    pub(super) fn is_over(&self) {
        *self.state() = None;
    }

    fn waited(&self) -> Duration {
        self.state().map(|awaited| awaited.since.elapsed()).unwrap_or_default()
    }

    /// Its connection is given back; tells whether it was given up a while ago.
    pub(super) fn is_left(&self) -> bool {
        let mut state = self.state();
        *state = state.filter(|awaited| !awaited.begun);
        state.is_some_and(|awaited| awaited.since.elapsed() >= GIVEN_UP)
    }
}
