//! What all simulated gateways share: one lock around everything that they know, and the tasks that work on it.

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    apple::Root, behaviours::Behaviours, calls::Calls, google::ServiceAccount, sales::Sales,
    setup::SimulatorSetup, tokens::Tokens, toss::Toss,
};

/// A handle to one simulator's state.
#[derive(Debug, Clone, Default)]
pub(super) struct World {
    state: Arc<Mutex<State>>,
    /// Whom the gateways know.
    pub(super) setup: Arc<SimulatorSetup>,
    /// What the gateways sign with; a reset changes nothing about it.
    pub(super) keys: Arc<Keys>,
    /// Calls run here rather than in the connection's task: a client that leaves cannot leave half an effect behind.
    pub(super) tasks: TaskTracker,
    /// Cancelled when the simulator is to stop.
    pub(super) stopping: CancellationToken,
}

/// Keys that are made when they are first needed.
#[derive(Debug, Default)]
pub(super) struct Keys {
    apple: OnceLock<Option<Root>>,
    google: OnceLock<Option<ServiceAccount>>,
}

impl Keys {
    /// Apple's root; none if this machine cannot make one.
    pub(super) fn apple(&self) -> Option<&Root> {
        self.apple.get_or_init(|| Root::generate().ok()).as_ref()
    }

    /// The service account's key; none if this machine cannot make one.
    pub(super) fn google(&self) -> Option<&ServiceAccount> {
        self.google.get_or_init(ServiceAccount::generate).as_ref()
    }
}

/// Everything the gateways know.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) behaviours: Behaviours,
    pub(super) calls: Calls,
    pub(super) toss: Toss,
    pub(super) sales: Sales,
    pub(super) tokens: Tokens,
}

impl World {
    /// Empty books, for these merchants.
    pub(super) fn new(setup: SimulatorSetup) -> Self {
        Self { setup: Arc::new(setup), ..Self::default() }
    }

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
            state.sales = Sales::default();
            state.tokens = Tokens::default();
        });
    }

    /// Waits, but not longer than the simulator lives.
    pub(super) async fn pause(&self, delay: Duration) {
        if !delay.is_zero() {
            let _stopped_early = tokio::time::timeout(delay, self.stopping.cancelled()).await;
        }
    }
}
