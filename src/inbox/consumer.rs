use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Handler, HandlingError, InboxKey, Message, Subscription,
    dead_letter::{self, ErrorClass, NewDeadLetter},
    entry,
    error::{Consequence, Trouble},
    message::traceable_id,
    turns::Turns,
};
use crate::{
    broker::{Broker, ConsumerState, Delivery},
    db::{Database, DbError},
    telemetry::record,
    types::Backoff,
    workers::{Tasks, spawn_tracked},
};

/// Conflicts with other transactions in a row before one counts as a failed try.
const FREE_CONFLICTS: u32 = 10;
/// The wait between two looks at a database that is away, or that did not take a dead letter.
const PAUSE: Backoff = Backoff { base: Duration::from_millis(250), cap: Duration::from_secs(5) };

/// Consumes one queue: each message is handed to the handler, and what the broker is answered is decided here.
pub struct Consumer {
    pub(super) handler: Arc<dyn Handler>,
    pub(super) db: Database,
    pub(super) broker: Arc<Broker>,
    pub(super) tasks: Tasks,
    pub(super) turns: Turns,
    pub(super) prefetch: u16,
    pub(super) retries: i32,
    pub(super) backoff: Backoff,
    pub(super) state: watch::Sender<ConsumerState>,
}

/// What the broker is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Ack,
    Reject,
    /// Nothing: it is delivered again.
    None,
}

/// What is to be done after a try.
enum Next {
    Answer(Answer),
    /// Again; a try that was none is not counted once more.
    Again {
        counted: bool,
    },
}

impl Consumer {
    /// What it listens to.
    pub fn subscription(&self) -> Subscription {
        self.handler.subscription()
    }

    /// How consumption stands.
    pub fn state(&self) -> ConsumerState {
        self.state.borrow().clone()
    }

    /// Why the queue is not consumed with these settings, if so.
    pub fn unavailable(&self) -> Option<String> {
        self.handler.unavailable()
    }

    /// Consumes until `stop`.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        if let Some(reason) = self.unavailable() {
            tracing::warn!(queue = self.subscription().queue.name, reason, "the queue is not consumed");
            return stop.cancelled().await;
        }
        let handle = |delivery| {
            let (consumer, stop) = (Arc::clone(&self), stop.clone());
            // Its effects come to their end also when the connection does not.
            spawn_tracked(&self.tasks, async move { consumer.take(delivery, &stop).await })
        };
        self.broker.consume(self.subscription().queue, self.prefetch, &self.state, &stop, handle).await;
    }

    async fn take(&self, delivery: Delivery, stop: &CancellationToken) {
        let answer = self.answer(&delivery, stop).await;
        let outcome = match answer {
            Answer::Ack => "done",
            Answer::Reject => "dead_lettered",
            Answer::None => "left",
        };
        record::consumer_message(self.subscription().queue.name, outcome);
        match answer {
            Answer::Ack => delivery.ack().await,
            Answer::Reject => delivery.reject().await,
            Answer::None => drop(delivery),
        }
    }

    async fn answer(&self, delivery: &Delivery, stop: &CancellationToken) -> Answer {
        let Subscription { queue, event_type, .. } = self.subscription();
        let message = match Message::read(&delivery.body, event_type) {
            Ok(message) => message,
            Err(error) => {
                let trouble = Trouble::of(error);
                return self.bury(delivery, None, ErrorClass::Data, trouble, stop).await;
            }
        };
        let key = InboxKey::of(&message, queue.name);
        let _turn = self.turns.take(key).await;
        let (mut counted, mut conflicts) = (true, 0);
        loop {
            match self.try_once(delivery, &message, key, counted, &mut conflicts, stop).await {
                Next::Answer(answer) => return answer,
                Next::Again { counted: next } => counted = next,
            }
            if stop.is_cancelled() {
                return Answer::None;
            }
        }
    }

    async fn try_once(
        &self,
        delivery: &Delivery,
        message: &Message,
        key: InboxKey,
        counted: bool,
        conflicts: &mut u32,
        stop: &CancellationToken,
    ) -> Next {
        let entry = match self.begin(key, i32::from(counted)).await {
            Ok(entry) if entry.is_done() => return Next::Answer(Answer::Ack),
            Ok(entry) => entry,
            // Not even counted, so it is not tried.
            Err(error) => return self.pause(&error, counted, stop).await,
        };
        // A letter's tries begin anew once it is kept: the first one may follow a rejection that the broker never got.
        if entry.tries == 1 && delivery.redelivered {
            match self.is_kept(delivery).await {
                Ok(false) => {}
                Ok(true) => {
                    self.give_back(key).await;
                    return Next::Answer(Answer::Reject);
                }
                Err(error) => return self.pause(&error, false, stop).await,
            }
        }
        if entry.tries > self.retries.saturating_add(1) {
            let text = format!("{} tries, the last of which ended with its process", entry.tries - 1);
            let trouble = Trouble { code: "TRIES_EXHAUSTED".to_owned(), message: text };
            let known = Some((message, key));
            return Next::Answer(self.bury(delivery, known, ErrorClass::System, trouble, stop).await);
        }
        let Err(error) = self.carry_out(message, key, stop).await else { return Next::Answer(Answer::Ack) };
        let known = Some((message, key));
        match error.consequence() {
            Consequence::Data(trouble) => {
                Next::Answer(self.bury(delivery, known, ErrorClass::Data, trouble, stop).await)
            }
            Consequence::Again(trouble) => {
                *conflicts += 1;
                tracing::debug!(event_id = %key.event_id, error = trouble.message, "tried again at once");
                Next::Again { counted: *conflicts > FREE_CONFLICTS }
            }
            Consequence::Pause(error) => self.pause(&error, false, stop).await,
            Consequence::Leave => {
                self.give_back(key).await;
                Next::Answer(Answer::None)
            }
            Consequence::System(trouble) if entry.tries > self.retries => {
                Next::Answer(self.bury(delivery, known, ErrorClass::System, trouble, stop).await)
            }
            Consequence::System(trouble) => {
                tracing::warn!(
                    queue = key.consumer, event_id = %key.event_id, attempt = entry.tries, code = trouble.code,
                    error = trouble.message, "a message failed; it is tried again"
                );
                record::consumer_message(key.consumer, "retried");
                rest(self.backoff.delay(entry.tries.into()), stop).await;
                Next::Again { counted: true }
            }
        }
    }

    async fn begin(&self, key: InboxKey, tries: i32) -> Result<entry::InboxEntry, DbError> {
        Ok(entry::count_try(&mut *self.db.conn().await?, key, tries).await?)
    }

    async fn is_kept(&self, delivery: &Delivery) -> Result<bool, DbError> {
        let event_id = traceable_id(&delivery.body, delivery.message_id.as_deref());
        let queue = self.subscription().queue.name;
        let mut conn = self.db.conn().await?;
        Ok(dead_letter::open(&mut conn, queue, event_id.as_deref(), &delivery.body).await?.is_some())
    }

    /// One try with the handler; a panic is its failure and not the queue's end.
    pub(super) async fn carry_out(
        &self,
        message: &Message,
        key: InboxKey,
        stop: &CancellationToken,
    ) -> Result<(), HandlingError> {
        let handling = AssertUnwindSafe(self.handler.handle(message, key, stop)).catch_unwind();
        let panicked =
            |_panic| Err(HandlingError::system("PANIC", "the handler panicked; the log says where"));
        handling.await.unwrap_or_else(panicked)?;
        let mut conn = self.db.conn().await?;
        entry::finish(&mut conn, key).await?;
        Ok(())
    }

    /// Nothing is tried, and no try is used up, until the database answers.
    async fn pause(&self, error: &DbError, counted: bool, stop: &CancellationToken) -> Next {
        tracing::warn!(queue = self.subscription().queue.name, %error, "the database is away; consumption pauses");
        let mut looks = 0;
        while !stop.is_cancelled() {
            looks += 1;
            rest(PAUSE.delay(looks), stop).await;
            if self.db.conn().await.is_ok() {
                break;
            }
        }
        Next::Again { counted }
    }

    /// The process stops, which is not the message's fault.
    async fn give_back(&self, key: InboxKey) {
        if let Ok(mut conn) = self.db.conn().await
            && let Err(error) = entry::give_back(&mut conn, key, Some(1)).await
        {
            tracing::debug!(%error, "a try could not be given back");
        }
    }

    /// Keeps the message where operators see it, then rejects it; while it cannot be kept, it waits.
    async fn bury(
        &self,
        delivery: &Delivery,
        known: Option<(&Message, InboxKey)>,
        class: ErrorClass,
        trouble: Trouble,
        stop: &CancellationToken,
    ) -> Answer {
        let subscription = self.subscription();
        let letter = NewDeadLetter {
            queue: subscription.queue.name,
            event_type: subscription.event_type,
            body: &delivery.body,
            headers: &delivery.headers,
            event_id: traceable_id(&delivery.body, delivery.message_id.as_deref()),
            class,
            trouble: &trouble,
            flow_id: known.map(|(message, _key)| message.flow_id),
            redelivered: delivery.redelivered,
        };
        let mut looks = 0;
        loop {
            match dead_letter::keep(&self.db, &letter, known.map(|(_message, key)| key)).await {
                Ok(id) => {
                    tracing::warn!(
                        queue = letter.queue,
                        dead_letter = id,
                        event_id = letter.event_id,
                        code = trouble.code,
                        error = trouble.message,
                        "a message was dead-lettered"
                    );
                    return Answer::Reject;
                }
                Err(error) => {
                    tracing::error!(queue = letter.queue, %error, "a dead letter cannot be kept; consumption pauses");
                }
            }
            looks += 1;
            rest(PAUSE.delay(looks), stop).await;
            if stop.is_cancelled() {
                return Answer::None;
            }
        }
    }
}

async fn rest(wait: Duration, stop: &CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(wait) => {}
        () = stop.cancelled() => {}
    }
}
