//! Background work: tracked tasks that shutdown waits for, periodic workers, restarts after a panic.

mod batches;
mod periodic;
mod supervisor;

use std::{future::Future, sync::Arc, time::Duration};

use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use batches::claim_and_work;
pub use periodic::{TickError, Worker};
pub use supervisor::OnCrash;

/// Every task of this process that must come to its end before the process may.
#[derive(Clone)]
pub struct Tasks {
    effects: TaskTracker,
    workers: TaskTracker,
    stop: CancellationToken,
    on_crash: Arc<OnCrash>,
}

impl Tasks {
    /// No task yet; `on_crash` is told of every worker that panicked.
    pub fn new(on_crash: OnCrash) -> Self {
        Self {
            effects: TaskTracker::new(),
            workers: TaskTracker::new(),
            stop: CancellationToken::new(),
            on_crash: Arc::new(on_crash),
        }
    }

    /// Cancelled when workers should take no more work.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Tells workers to stop, waits at most `grace` for them and for the effects under way.
    /// True if all came to their end.
    pub async fn shut_down(&self, grace: Duration) -> bool {
        self.stop.cancel();
        self.effects.close();
        self.workers.close();
        tokio::time::timeout(grace, async { tokio::join!(self.effects.wait(), self.workers.wait()) })
            .await
            .is_ok()
    }

    /// Effects under way now: what a test expects to be 0 in the end.
    pub fn effects_under_way(&self) -> usize {
        self.effects.len()
    }

    /// Runs `worker` in its rhythm until shutdown.
    pub fn spawn_worker<W: Worker>(&self, worker: W) {
        let (stop, worker) = (self.stop.clone(), Arc::new(worker));
        self.spawn_supervised(W::NAME, move || periodic::run(Arc::clone(&worker), stop.clone()));
    }

    /// Runs an endless task until shutdown, again with backoff whenever it panics. `task` ends when
    /// [`Tasks::stopping`] is cancelled.
    pub fn spawn_supervised<F, T>(&self, name: &'static str, task: F)
    where
        F: FnMut() -> T + Send + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let supervised = supervisor::supervise(name, task, self.stop.clone(), Arc::clone(&self.on_crash));
        self.workers.spawn(supervised);
    }
}

/// Spawns an effect that must finish although whoever waits for it may go away: a gateway call and the
/// transaction after it. Shutdown waits for it.
pub fn spawn_tracked<T>(tasks: &Tasks, effect: T) -> JoinHandle<T::Output>
where
    T: Future + Send + 'static,
    T::Output: Send + 'static,
{
    tasks.effects.spawn(tracing::Instrument::in_current_span(effect))
}
