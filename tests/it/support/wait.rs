use std::time::Duration;

/// Longest wait for anything that must happen.
const DEADLINE: Duration = Duration::from_secs(20);

/// Looks again and again until `look` finds something; fails naming `what` when the deadline has passed.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let started = std::time::Instant::now();
    loop {
        // A look that hangs is a look that finds nothing.
        if let Ok(Some(found)) = tokio::time::timeout(DEADLINE, look()).await {
            return found;
        }
        assert!(started.elapsed() < DEADLINE, "did not happen within {DEADLINE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
