//! What all simulated gateways share: one lock around everything that they know, and the tasks that work on it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{behaviours::Behaviours, calls::Calls, toss::Toss};

/// A handle to one simulator's state.
#[derive(Debug, Clone, Default)]
pub(super) struct World {
    state: Arc<Mutex<State>>,
    /// Calls run here rather than in the connection's task: a client that leaves cannot leave half an effect behind.
    pub(super) tasks: TaskTracker,
    /// Cancelled when the simulator is to stop.
    pub(super) stopping: CancellationToken,
}

/// Everything the gateways know.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) behaviours: Behaviours,
    pub(super) calls: Calls,
    pub(super) toss: Toss,
}

impl World {
    /// Looks at the state or changes it, atomically for all other calls.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Empties everything. Calls that are still running end without a trace.
    pub(super) fn reset(&self) {
        self.with(|state| {
            state.behaviours = Behaviours::default();
            state.calls.clear();
            state.toss = Toss::default();
        });
    }

    /// Waits, but not longer than the simulator lives.
    pub(super) async fn pause(&self, delay: Duration) {
        if !delay.is_zero() {
            let _stopped_early = tokio::time::timeout(delay, self.stopping.cancelled()).await;
        }
    }
}
