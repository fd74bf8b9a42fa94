use std::{error::Error, future::Future, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

/// Why a tick did not do its work; the next one tries again.
pub type TickError = Box<dyn Error + Send + Sync>;

/// A background task without input: what there is to do is in the database, a wake-up only says "look now".
pub trait Worker: Send + Sync + 'static {
    /// The fixed name (interfaces.md, "Workers").
    const NAME: &'static str;

    /// The pause between the end of one tick and the start of the next.
    fn interval(&self) -> Duration;

    /// Resolves when it is worth looking before the interval is over; never, if nothing wakes this worker.
    fn woken(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    /// Looks once and does what is due. Must be safe beside the same tick in other processes.
    fn tick(&self, stop: &CancellationToken) -> impl Future<Output = Result<(), TickError>> + Send;
}

/// Ticks until `stop`: one tick at a time, and no burst after a slow one.
pub(super) async fn run<W: Worker>(worker: Arc<W>, stop: CancellationToken) {
    while !stop.is_cancelled() {
        let started = std::time::Instant::now();
        let outcome = worker.tick(&stop).await;
        crate::telemetry::record::worker_run(W::NAME, started.elapsed(), outcome.is_ok());
        if let Err(error) = outcome {
            tracing::warn!(worker = W::NAME, %error, "a tick failed; the next one tries again");
        }
        tokio::select! {
            () = tokio::time::sleep(worker.interval()) => {}
            () = worker.woken() => {}
            () = stop.cancelled() => {}
        }
    }
}
