use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::DbError;

/// Where the watched rows come from.
pub trait RowSource: Send + Sync + 'static {
    /// The row, as subscribers get it.
    type Row: Clone + PartialEq + Send + Sync + 'static;

    /// Reads the rows with these ids in one query; ids that are gone are missing from the answer.
    fn load(&self, ids: Vec<i64>) -> impl Future<Output = Result<Vec<(i64, Self::Row)>, DbError>> + Send;
}

/// How often the watched rows are read.
const POLL: Duration = Duration::from_millis(500);

/// One query per process for all rows that somebody watches, every 500 ms and on a hint.
pub struct Watcher<S: RowSource> {
    source: S,
    rows: Mutex<HashMap<i64, watch::Sender<Option<S::Row>>>>,
    /// One read after the other: two at once could end in the wrong order, and a row would go back in time.
    reading: tokio::sync::Mutex<()>,
    hint: Notify,
}

/// A watched row: the latest known version, and the wait for the next.
pub type Watching<R> = watch::Receiver<Option<R>>;

impl<S: RowSource> Watcher<S> {
    /// Watches nothing yet.
    pub fn new(source: S) -> Arc<Self> {
        Arc::new(Self {
            source,
            rows: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
            hint: Notify::new(),
        })
    }

    /// Starts watching a row, which is read at once; `None` if there is none. Dropping the receiver ends it.
    pub async fn watch(&self, id: i64) -> Result<Option<Watching<S::Row>>, DbError> {
        let receiver = self.receiver(id);
        let found = self.refresh(vec![id]).await? > 0;
        self.hint.notify_one();
        Ok(found.then_some(receiver))
    }

    fn receiver(&self, id: i64) -> Watching<S::Row> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.entry(id).or_insert_with(|| watch::Sender::new(None)).subscribe()
    }

    /// Says that a row may have changed, so that it is read before the next poll.
    pub fn hint(&self) {
        self.hint.notify_one();
    }

    /// Rows watched now.
    pub fn watched(&self) -> usize {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Reads until `stop`. While nobody watches, nothing is read.
    pub async fn run(&self, stop: CancellationToken) {
        loop {
            let ids = self.ids();
            if !ids.is_empty()
                && let Err(error) = self.refresh(ids).await
            {
                tracing::warn!(%error, "the watched rows cannot be read; trying again");
            }
            tokio::select! {
                () = tokio::time::sleep(POLL), if self.watched() > 0 => {}
                () = self.hint.notified() => {}
                () = stop.cancelled() => return,
            }
        }
    }

    fn ids(&self) -> Vec<i64> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.retain(|_id, sender| sender.receiver_count() > 0);
        rows.keys().copied().collect()
    }

    /// Reads these rows and tells how many there are.
    async fn refresh(&self, ids: Vec<i64>) -> Result<usize, DbError> {
        let _one_at_a_time = self.reading.lock().await;
        let loaded = self.source.load(ids).await?;
        let found = loaded.len();
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, row) in loaded {
            if let Some(sender) = rows.get(&id) {
                sender.send_if_modified(|known| {
                    let changed = known.as_ref() != Some(&row);
                    if changed {
                        *known = Some(row);
                    }
                    changed
                });
            }
        }
        Ok(found)
    }
}
