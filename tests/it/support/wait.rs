use std::time::Duration;

/// Longest wait for anything that must happen.
const DEADLINE: Duration = Duration::from_secs(20);

/// Looks again and again until `look` finds something; fails naming `what` when the deadline has passed.
pub async fn eventually<T>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    within(DEADLINE, what, look).await
}

/// The same, with a deadline of its own.
pub async fn within<T>(deadline: Duration, what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let started = std::time::Instant::now();
    loop {
        // A look that hangs is a look that finds nothing.
        if let Ok(Some(found)) = tokio::time::timeout(deadline, look()).await {
            return found;
        }
        assert!(started.elapsed() < deadline, "did not happen within {deadline:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
