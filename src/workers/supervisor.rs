use std::{any::Any, future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use crate::types::Backoff;

/// Told the worker's name and the panic's text; how it is recorded is not the supervisor's business.
pub type OnCrash = Box<dyn Fn(&'static str, String) -> BoxFuture<'static, ()> + Send + Sync>;

const RESTART: Backoff = Backoff { base: Duration::from_secs(1), cap: Duration::from_secs(60) };
/// A task that ran this long before it panicked starts counting anew.
const HEALTHY_AFTER: Duration = Duration::from_secs(300);

/// Runs `task` until it ends by itself, which it does at shutdown; a panic is told, then it runs again.
pub(super) async fn supervise<F, T>(
    name: &'static str,
    mut task: F,
    stop: CancellationToken,
    on_crash: Arc<OnCrash>,
) where
    F: FnMut() -> T + Send,
    T: Future<Output = ()> + Send,
{
    let mut crashes = 0_i64;
    loop {
        let started = std::time::Instant::now();
        // A worker keeps its state in the database, so nothing half-done is carried over a panic.
        let Err(panic) = AssertUnwindSafe(async { task().await }).catch_unwind().await else { return };
        if started.elapsed() > HEALTHY_AFTER {
            crashes = 0;
        }
        crashes += 1;
        let text = panic_text(panic.as_ref());
        let delay = RESTART.delay(crashes);
        tracing::error!(worker = name, panic = %text, restart_in = ?delay, "a worker panicked");
        on_crash(name, text).await;
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            () = stop.cancelled() => return,
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a text").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_panicking_task_is_told_and_runs_again() {
        let (runs, told) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let counted = Arc::clone(&told);
        let on_crash: OnCrash = Box::new(move |name, text| {
            assert_eq!((name, text.as_str()), ("test-worker", "first run"));
            counted.fetch_add(1, Ordering::Relaxed);
            futures_util::future::ready(()).boxed()
        });
        let counted = Arc::clone(&runs);
        let task = move || {
            let run = counted.fetch_add(1, Ordering::Relaxed);
            async move { assert!(run > 0, "first run") }
        };
        supervise("test-worker", task, CancellationToken::new(), Arc::new(on_crash)).await;
        assert_eq!((runs.load(Ordering::Relaxed), told.load(Ordering::Relaxed)), (2, 1));
    }
}
