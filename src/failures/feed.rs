use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use futures_util::{Stream, stream};
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};
use tokio_util::sync::CancellationToken;

use super::{Failure, FailureFilter, FailureKind, Severity, numbering, store};
use crate::{
    db::{Database, DbError, Hints},
    telemetry::record,
};

/// Behind the hints: how often a process looks by itself.
const POLL: Duration = Duration::from_secs(1);
/// Failures read at once while replaying or tailing.
const PAGE: i64 = 500;
/// How far a subscriber may fall behind before it is cut off; more would cost memory for all.
const BACKLOG: usize = 4_096;

/// The live feed: one tailer per process reads new positions and broadcasts them to every subscriber.
#[derive(Clone)]
pub struct FailureFeed {
    db: Database,
    hints: Hints,
    live: broadcast::Sender<Arc<Failure>>,
    /// Whether the tailer knows where it begins. Who subscribed before looks once more then: what another process
    /// numbered between that replay and this beginning is in neither.
    tailing: watch::Sender<bool>,
}

/// What a subscriber gets.
#[derive(Debug, Clone)]
pub enum FeedItem {
    /// The next failure, in feed order.
    Failure(Arc<Failure>),
    /// The subscriber was too slow and is cut off; it may come back with its last position.
    Lagged,
}

impl FailureFeed {
    /// Prepares the feed; [`FailureFeed::run`] brings it to life.
    pub fn new(db: Database, hints: Hints) -> Self {
        Self { db, hints, live: broadcast::Sender::new(BACKLOG), tailing: watch::Sender::new(false) }
    }

    /// Numbers and tails until `stop`.
    pub async fn run(&self, stop: CancellationToken) {
        let mut hints = self.hints.failures();
        let mut tail = Tail::default();
        while !stop.is_cancelled() {
            hints.mark_unchanged();
            if let Err(error) = self.advance(&mut tail).await {
                tracing::warn!(%error, "the failure feed cannot be read; trying again");
            }
            tokio::select! {
                () = tokio::time::sleep(POLL) => {}
                _hint = hints.changed() => {}
                () = stop.cancelled() => {}
            }
        }
    }

    async fn advance(&self, tail: &mut Tail) -> Result<(), DbError> {
        let from = match tail.last {
            Some(position) => position,
            // Before anything is numbered here: what this process numbers first is broadcast like all that follows.
            None => *tail.last.insert(self.last_position().await?),
        };
        self.tailing.send_replace(true);
        numbering::number_visible(&self.db, &mut tail.numbered).await?;
        let mut conn = self.db.read().await?;
        let mut position = from;
        loop {
            let page = store::after(&mut conn, position, PAGE).await?;
            let more = i64::try_from(page.len()).unwrap_or(i64::MAX) == PAGE;
            for failure in page {
                position = failure.position.unwrap_or(position);
                if tail.numbered.iter().any(|numbered| numbered.contains(&position)) {
                    tell(&failure);
                }
                // Nobody listening is no error.
                let _listeners = self.live.send(Arc::new(failure));
            }
            tail.last = Some(position);
            if !more {
                tail.numbered.clear();
                return Ok(());
            }
        }
    }

    /// The newest position, for a subscriber that wants to note where it begins.
    pub async fn last_position(&self) -> Result<i64, DbError> {
        // A read's state is kilobytes, and would be part of each subscriber for as long as it lasts.
        let read = Box::pin(async { Ok(store::last_position(&mut *self.db.read().await?).await?) });
        read.await
    }

    /// Subscribers now.
    pub fn subscribers(&self) -> usize {
        self.live.receiver_count()
    }

    /// First what came after position `after`, then what comes: no gap, no repeat, in order. Ends after
    /// [`FeedItem::Lagged`], or with an error when the database fails.
    pub fn subscribe(
        &self,
        after: i64,
        filter: FailureFilter,
    ) -> impl Stream<Item = Result<FeedItem, DbError>> + Send + use<> {
        // Registered before the first read: whatever that read cannot see yet arrives here.
        let live = self.live.subscribe();
        let reader = Reader {
            db: self.db.clone(),
            begun: *self.tailing.borrow(),
            tailing: self.tailing.subscribe(),
            live,
            filter,
            sent: after,
            replay: Some(after),
            page: Vec::new().into_iter(),
        };
        stream::unfold(Some(reader), |reader| async move {
            let mut reader = reader?;
            match reader.next().await {
                Ok(FeedItem::Lagged) => Some((Ok(FeedItem::Lagged), None)),
                Ok(item) => Some((Ok(item), Some(reader))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}

/// How far the tailer has read.
#[derive(Default)]
struct Tail {
    last: Option<i64>,
    /// What this process numbered and has not read yet: it alone logs and counts these, whoever wrote them.
    numbered: Vec<RangeInclusive<i64>>,
}

/// One log line for each failure, once among all processes, and its count.
fn tell(failure: &Failure) {
    let Failure { kind, code, subject_type, subject_id, event_type, attempt, flow_id, message, .. } = failure;
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(
                kind,
                code,
                subject_type,
                subject_id,
                event_type,
                attempt,
                flow_id = flow_id.map(tracing::field::display),
                error = message,
                "a failure was recorded"
            )
        };
    }
    match Severity::parse(&failure.severity) {
        Some(Severity::Critical) => line!(error),
        Some(Severity::Info) => line!(info),
        Some(Severity::Warning) | None => line!(warn),
    }
    if let Some(kind) = FailureKind::parse(kind) {
        record::failure(kind.as_str());
    }
}

/// One subscriber.
struct Reader {
    db: Database,
    tailing: watch::Receiver<bool>,
    /// Whether the replay began after the tailer did.
    begun: bool,
    live: broadcast::Receiver<Arc<Failure>>,
    filter: FailureFilter,
    /// The last position that was passed, sent or filtered out.
    sent: i64,
    /// Where the replay stands; `None` once it is over.
    replay: Option<i64>,
    page: std::vec::IntoIter<Failure>,
}

impl Reader {
    async fn next(&mut self) -> Result<FeedItem, DbError> {
        loop {
            let failure = match self.next_replayed().await? {
                Some(failure) => Arc::new(failure),
                None => match self.next_live().await {
                    Some(Ok(failure)) if !self.misses_some_before(&failure) => failure,
                    Some(Err(RecvError::Lagged(_) | RecvError::Closed)) => return Ok(FeedItem::Lagged),
                    // The tailer has begun, or, since positions have no gaps, something went by before it did.
                    Some(Ok(_)) | None => {
                        self.replay = Some(self.sent);
                        continue;
                    }
                },
            };
            let Some(position) = failure.position.filter(|position| *position > self.sent) else { continue };
            self.sent = position;
            if self.filter.matches(&failure) {
                return Ok(FeedItem::Failure(failure));
            }
        }
    }

    /// The next broadcast failure; `None`, once, when the tailer begins.
    async fn next_live(&mut self) -> Option<Result<Arc<Failure>, RecvError>> {
        tokio::select! {
            biased;
            // It only fails when the feed is gone, whose broadcast then ends too.
            begun = self.tailing.wait_for(|tailing| *tailing), if !self.begun => {
                drop(begun);
                self.begun = true;
                None
            }
            received = self.live.recv() => Some(received),
        }
    }

    fn misses_some_before(&self, failure: &Failure) -> bool {
        failure.position.is_some_and(|position| position > self.sent.saturating_add(1))
    }

    /// The next failure of the replay, reading page by page; no connection is held between pages.
    async fn next_replayed(&mut self) -> Result<Option<Failure>, DbError> {
        if let Some(failure) = self.page.next() {
            return Ok(Some(failure));
        }
        let Some(from) = self.replay else { return Ok(None) };
        let page = Box::pin(async {
            Ok::<_, DbError>(store::after(&mut *self.db.read().await?, from, PAGE).await?)
        });
        let page = page.await?;
        let full = i64::try_from(page.len()).unwrap_or(i64::MAX) == PAGE;
        self.replay = page.last().and_then(|failure| failure.position).filter(|_| full);
        self.page = page.into_iter();
        Ok(self.page.next())
    }
}
