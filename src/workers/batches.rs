use std::future::Future;

use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

/// Rows that one look claims.
const BATCH: i64 = 50;
/// Rows that are worked on at once.
const AT_ONCE: usize = 8;

/// Claims rows that are due, a batch at a time, and works on each, several at once, until no more are due or `stop`.
/// `claim` is told how many rows it may claim, and must push them out of the next look's sight. Every row of a batch
/// comes to its end; then the first error is given back.
pub async fn claim_and_work<T, E, C, W>(
    stop: &CancellationToken,
    claim: impl Fn(i64) -> C,
    work: impl Fn(T) -> W,
) -> Result<(), E>
where
    C: Future<Output = Result<Vec<T>, E>>,
    W: Future<Output = Result<(), E>>,
{
    while !stop.is_cancelled() {
        let claimed = claim(BATCH).await?;
        let is_last = i64::try_from(claimed.len()).is_ok_and(|claimed| claimed < BATCH);
        let ended: Vec<Result<(), E>> =
            stream::iter(claimed).map(&work).buffer_unordered(AT_ONCE).collect().await;
        ended.into_iter().collect::<Result<(), E>>()?;
        if is_last {
            break;
        }
    }
    Ok(())
}
