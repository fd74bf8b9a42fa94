use std::{sync::Arc, time::Duration};

use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use super::{
    Claimed, ClaimedEvent, ErrorCode, Gate, Outbox, PublishTrigger, RetryPolicy, claim, envelope,
    handoff::{HandOffQueue, Turn},
    lanes::{AggregateKey, Handed, Limits, Serves},
    mark::{self, ClaimKey, FailedMark, Try},
    outage, suspects,
};
use crate::{
    broker::{BatchEnd, Broker, BrokerError, ConfirmChannel, OutgoingMessage, Verdict},
    config::OutboxConfig,
    db::{Database, DbError},
    failures::FailureKind,
    telemetry::record,
    types::text::storable,
    workers::Tasks,
};

/// How long an extra publisher stays without work.
const SURGE_IDLE: Duration = Duration::from_secs(60);
/// The waits before a mark is written again. In sum well below the lease, after which the row is another's.
const MARK_RETRIES: [Duration; 4] =
    [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];
/// The most that one publisher claims and marks at once. With stale statistics the planner may compare each of a mark's rows with
/// each other one: nothing at this size, seconds at ten times as many.
const MOST_AT_ONCE: u16 = 500;
/// A pause after something went wrong that is not the message's fault, so that nothing spins.
const PAUSE: Duration = Duration::from_millis(200);
/// The pause before events that could not be claimed are claimed again.
const CLAIM_PAUSE: Duration = Duration::from_secs(1);
/// So many windows of the backlog wait in memory, so that no publisher waits for the next look.
const BACKLOG_WINDOWS: usize = 2;
/// Longest error text that is kept.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// Events whose return as unroutable is fine: nobody has to listen to refunds (domain.md §2).
const MAY_BE_UNROUTABLE: [&str; 1] = ["PAYMENT_REFUNDED"];

/// The publisher: the only one that claims. Hand-overs and schedulers give it ids, the claim decides who won.
pub struct Publisher {
    pub(super) db: Database,
    pub(super) broker: Arc<Broker>,
    pub(super) gate: Gate,
    pub(super) queue: HandOffQueue,
    pub(super) policy: RetryPolicy,
    pub(super) config: OutboxConfig,
    pub(super) instance: String,
    /// Says that there are new suspects.
    pub(super) suspects: Notify,
    /// Messages in flight, over all publishers: of the backlog, and in a part of the window that is kept for fresh events.
    window: Semaphore,
    fresh_window: Semaphore,
}

impl Publisher {
    /// Prepares the publisher; [`Publisher::start`] sets it to work.
    pub fn new(db: Database, broker: Arc<Broker>, config: &OutboxConfig, instance: String) -> Arc<Self> {
        Arc::new(Self {
            db,
            gate: Gate::new(broker.state()),
            broker,
            queue: HandOffQueue::new(
                usize::from(config.outbox_queue),
                usize::from(config.outbox_window) * BACKLOG_WINDOWS,
            ),
            policy: RetryPolicy::new(config),
            config: config.clone(),
            instance,
            suspects: Notify::new(),
            window: Semaphore::new(usize::from(config.outbox_window - fresh_window(config)).max(1)),
            fresh_window: Semaphore::new(usize::from(fresh_window(config)).max(1)),
        })
    }

    /// The way into the outbox whose events go to this publisher.
    pub fn outbox(&self) -> Outbox {
        Outbox::new(self.queue.clone())
    }

    /// The gate before the broker.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Starts the publishers, one for fresh events alone, and the lane of the suspects.
    pub fn start(self: &Arc<Self>, tasks: &Tasks) {
        for number in 0..self.config.outbox_publishers_max {
            let (publisher, stop) = (Arc::clone(self), tasks.stopping());
            let extra = number >= self.config.outbox_publishers;
            tasks.spawn_supervised("outbox-publisher", move || {
                let (publisher, stop) = (Arc::clone(&publisher), stop.clone());
                async move {
                    if extra {
                        publisher.surge(stop).await;
                    } else {
                        publisher.work(stop, Serves::All, None).await;
                    }
                }
            });
        }
        let (publisher, stop) = (Arc::clone(self), tasks.stopping());
        tasks.spawn_supervised("outbox-publisher", move || {
            let (publisher, stop) = (Arc::clone(&publisher), stop.clone());
            async move { publisher.work(stop, Serves::Fresh, None).await }
        });
        let (publisher, stop) = (Arc::clone(self), tasks.stopping());
        tasks.spawn_supervised("outbox-publisher", move || {
            suspects::run(Arc::clone(&publisher), stop.clone())
        });
        let (publisher, stop) = (Arc::clone(self), tasks.stopping());
        tasks.spawn_supervised("outbox-publisher", move || outage::run(Arc::clone(&publisher), stop.clone()));
    }

    /// An extra publisher: works while the queue is full, rests after a minute without work.
    async fn surge(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            tokio::select! {
                () = self.queue.pressed() => self.work(stop.clone(), Serves::All, Some(SURGE_IDLE)).await,
                () = stop.cancelled() => {}
            }
        }
    }

    /// Batch by batch until `stop`, or until nothing came for `idle`.
    async fn work(&self, stop: CancellationToken, serves: Serves, idle: Option<Duration>) {
        let (mut channel, mut waiting) = (None, None);
        loop {
            let turn = match waiting.take() {
                Some(turn) => turn,
                None => tokio::select! {
                    biased;
                    () = stop.cancelled() => return,
                    turn = self.take(serves) => turn,
                    () = tokio::time::sleep(idle.unwrap_or_default()), if idle.is_some() => return,
                },
            };
            if stop.is_cancelled() {
                return;
            }
            if !self.gate.is_open() {
                turn.give_back();
                continue;
            }
            let ready = match channel.take().filter(ConfirmChannel::is_open) {
                Some(open) => Ok(open),
                None => self.broker.confirm_channel().await,
            };
            match ready {
                Ok(open) => channel = self.publish(open, turn).await,
                Err(error) => {
                    tracing::debug!(%error, "no confirm channel");
                    if matches!(error, BrokerError::TimedOut) {
                        self.gate.close_for_probe();
                    }
                    waiting = Some(turn);
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn take(&self, serves: Serves) -> Turn {
        self.gate.opened().await;
        let fresh = fresh_window(&self.config);
        let share = (self.config.outbox_window - fresh) / self.config.outbox_publishers;
        let at_once = |share: u16| usize::from(share.clamp(1, MOST_AT_ONCE));
        let limits = Limits { fresh: at_once(fresh), backlog: at_once(share) };
        self.queue.take(serves, limits).await
    }

    /// Claim, send, wait for all confirms, decide, mark. Returns the channel if it may be used again.
    async fn publish(&self, channel: ConfirmChannel, turn: Turn) -> Option<ConfirmChannel> {
        let Some(first) = turn.events().first().copied() else { return Some(channel) };
        let window = if turn.is_fresh() { &self.fresh_window } else { &self.window };
        let in_flight = window.acquire_many(u32::try_from(turn.events().len()).unwrap_or(u32::MAX)).await;
        if !self.gate.is_open() {
            // It closed while this batch waited for its place.
            turn.give_back();
            return Some(channel);
        }
        let ids = turn.events().iter().map(|handed| handed.id).collect();
        let claimed = match self.claim(ids, first.trigger).await {
            Ok(claimed) => claimed,
            Err(error) => {
                tracing::warn!(%error, "cannot claim; trying again");
                tokio::time::sleep(CLAIM_PAUSE).await;
                turn.give_back();
                return Some(channel);
            }
        };
        let (sendable, messages) = self.prepare(claimed).await;
        if sendable.is_empty() {
            return Some(channel);
        }
        let result = channel.send(&messages, self.config.outbox_confirm_timeout).await;
        drop((messages, in_flight));
        if result.end != BatchEnd::Confirmed {
            self.settle_lost(&sendable, &result.end, &turn).await;
            return result.channel;
        }
        let handed_at = (first.trigger == PublishTrigger::Immediate)
            .then(|| turn.events().iter().map(|handed| handed.at).collect::<Vec<_>>());
        // The broker has them: the next ones of their aggregates may go while these are being marked.
        drop(turn);
        self.settle_confirmed(&sendable, &result.verdicts).await;
        handed_at.into_iter().flatten().for_each(|at| record::outbox_published(at.elapsed()));
        result.channel
    }

    async fn claim(
        &self,
        ids: Vec<i64>,
        trigger: PublishTrigger,
    ) -> Result<Vec<Claimed<ClaimedEvent>>, DbError> {
        Ok(claim::claim(&mut *self.db.conn().await?, ids, trigger, &self.instance).await?)
    }

    /// Makes the messages; what AMQP cannot carry fails by itself and costs its neighbours nothing.
    pub(super) async fn prepare(
        &self,
        claimed: Vec<Claimed<ClaimedEvent>>,
    ) -> (Vec<Claimed<ClaimedEvent>>, Vec<OutgoingMessage>) {
        let (mut sendable, mut messages, mut invalid) =
            (Vec::with_capacity(claimed.len()), Vec::new(), Vec::new());
        for claimed in claimed {
            match envelope::message(claimed.row()) {
                Ok(message) => {
                    messages.push(message);
                    sendable.push(claimed);
                }
                Err(error) => invalid.push((claimed, ErrorCode::InvalidMessage, error)),
            }
        }
        self.fail(invalid.iter().map(|(claimed, code, error)| (claimed, *code, error.clone(), false))).await;
        (sendable, messages)
    }

    /// Decides on a batch of the shared lane that was not confirmed.
    async fn settle_lost(&self, claimed: &[Claimed<ClaimedEvent>], end: &BatchEnd, turn: &Turn) {
        match (end, claimed) {
            // Alone on its channel, it was this message that the broker closed it for.
            (BatchEnd::ChannelClosed { code, text }, [alone]) => {
                self.channel_killed(alone, *code, text).await
            }
            // The broker names the exchange that it does not have: only its events are to blame.
            (BatchEnd::ChannelClosed { code: 404, text }, _) if names_an_exchange_of(claimed, text) => {
                let (to_blame, others): (Vec<_>, Vec<_>) =
                    claimed.iter().partition(|claimed| names_exchange(text, claimed));
                self.give_back(to_blame, true, false).await;
                let again = others.iter().map(|claimed| handed_again(claimed)).collect();
                self.give_back(others, false, false).await;
                turn.again(again);
                self.suspects.notify_one();
            }
            (end, _) => {
                tracing::warn!(
                    ?end,
                    events = claimed.len(),
                    "a batch was lost; its events go on one at a time"
                );
                if *end == BatchEnd::TimedOut {
                    self.gate.close_for_probe();
                }
                self.give_back(claimed, true, false).await;
                self.suspects.notify_one();
            }
        }
    }

    /// Marks a batch whose confirms all came.
    pub(super) async fn settle_confirmed(&self, claimed: &[Claimed<ClaimedEvent>], verdicts: &[Verdict]) {
        let (mut published, mut failed) = (Vec::new(), Vec::new());
        for (claimed, verdict) in claimed.iter().zip(verdicts) {
            match verdict {
                Verdict::Acked => published.push(key(claimed)),
                Verdict::Returned { code, text }
                    if MAY_BE_UNROUTABLE.contains(&claimed.row().event_type.as_str()) =>
                {
                    self.mark_published(&[key(claimed)], Some(&no_route(claimed, *code, text))).await;
                }
                Verdict::Returned { code, text } => {
                    let error = no_route(claimed, *code, text);
                    failed.push((claimed, ErrorCode::Unroutable, error, false));
                }
                Verdict::Nacked => {
                    failed.push((
                        claimed,
                        ErrorCode::Nacked,
                        "the broker could not take it (nack)".to_owned(),
                        false,
                    ));
                }
                // A confirmed batch has none, unless confirm mode was lost: then nobody knows.
                Verdict::Lost => self.give_back(std::slice::from_ref(claimed), true, false).await,
            }
        }
        self.mark_published(&published, None).await;
        self.fail(failed.into_iter()).await;
    }

    /// The broker closed the channel that this message was alone on: its own failure.
    pub(super) async fn channel_killed(&self, claimed: &Claimed<ClaimedEvent>, code: u16, text: &str) {
        let error_code = if code == 404 { ErrorCode::ExchangeMissing } else { ErrorCode::ChannelKilled };
        self.fail(std::iter::once((claimed, error_code, format!("{code} {text}"), true))).await;
    }

    async fn mark_published(&self, keys: &[ClaimKey], unroutable: Option<&str>) {
        if keys.is_empty() {
            return;
        }
        let mut written = self.written(Mark::Published { keys, unroutable }).await;
        if written.is_none() && keys.len() > 1 {
            // One row that somebody holds must not cost its neighbours what the broker said of them.
            let mut marked = 0;
            for key in keys {
                let one = Mark::Published { keys: std::slice::from_ref(key), unroutable };
                marked += self.written(one).await.unwrap_or_default();
            }
            written = Some(marked);
        }
        let outcome = if unroutable.is_some() { "PUBLISHED_UNROUTABLE" } else { "PUBLISHED" };
        if let Some(marked) = written {
            (0..marked).for_each(|_| record::outbox_attempt(outcome));
            if marked < keys.len() {
                tracing::warn!(
                    lost = keys.len() - marked,
                    "events were published under claims that were lost meanwhile"
                );
            }
        }
    }

    /// Marks failed tries and records them, in one transaction. Each: the claim, the code, the error, whether it must
    /// go on alone.
    pub(super) async fn fail<'a>(
        &self,
        failed: impl Iterator<Item = (&'a Claimed<ClaimedEvent>, ErrorCode, String, bool)>,
    ) {
        let marks: Vec<_> = failed
            .map(|(claimed, code, error, suspect)| self.failed_mark(claimed, code, &error, suspect))
            .collect();
        if marks.is_empty() {
            return;
        }
        let won = self.written(Mark::Failed(&marks)).await.unwrap_or(marks.len());
        marks.iter().take(won).for_each(|mark| record::outbox_attempt(mark.code.as_str()));
        if won < marks.len() {
            tracing::warn!(
                lost = marks.len() - won,
                "failed tries were not marked: their claims were lost meanwhile"
            );
        }
    }

    fn failed_mark(
        &self,
        claimed: &Claimed<ClaimedEvent>,
        code: ErrorCode,
        error: &str,
        suspect: bool,
    ) -> FailedMark {
        let row = claimed.row();
        FailedMark {
            key: key(claimed),
            attempt: Try {
                event_type: row.event_type.clone(),
                flow_id: row.flow_id,
                trigger: Some(row.claim_trigger.clone()),
                worker: Some(row.claimed_by.clone()),
                started_at: Some(row.processing_started_at),
            },
            after: self.policy.after_failure(row.retry_count),
            code,
            error: storable(error, MAX_ERROR_BYTES),
            suspect,
        }
    }

    /// Gives claims back without using a retry.
    pub(super) async fn give_back<'a>(
        &self,
        claimed: impl IntoIterator<Item = &'a Claimed<ClaimedEvent>>,
        suspect: bool,
        lone_loss: bool,
    ) {
        let keys: Vec<_> = claimed.into_iter().map(key).collect();
        self.written(Mark::GiveBack { keys: &keys, suspect, lone_loss }).await;
    }

    /// Writes a mark, again while the database is away; tells how many rows it won. What cannot be written is left to
    /// the recovery.
    async fn written(&self, mark: Mark<'_>) -> Option<usize> {
        let mut waits = MARK_RETRIES.into_iter();
        loop {
            let error = match self.write(&mark).await {
                Ok(written) => return Some(written),
                Err(error) => error,
            };
            match waits.next() {
                Some(wait) if error.is_transient() => tokio::time::sleep(wait).await,
                _ => {
                    tracing::error!(%error, "a mark cannot be written; the recovery will find the events");
                    return None;
                }
            }
        }
    }

    async fn write(&self, mark: &Mark<'_>) -> Result<usize, DbError> {
        Ok(match *mark {
            Mark::Published { keys, unroutable } => {
                mark::published(&mut *self.db.conn().await?, keys, unroutable).await?
            }
            Mark::GiveBack { keys, suspect, lone_loss } => {
                mark::give_back(&mut *self.db.conn().await?, keys, suspect, lone_loss).await?
            }
            Mark::Failed(marks) => {
                let mut tx = self.db.begin().await?;
                let won = mark::fail_in_tx(tx.conn(), marks, FailureKind::OutboxFailed).await?;
                tx.commit().await?;
                won
            }
        })
    }
}

/// The end of a claim, as it is written.
enum Mark<'a> {
    Published { keys: &'a [ClaimKey], unroutable: Option<&'a str> },
    Failed(&'a [FailedMark]),
    GiveBack { keys: &'a [ClaimKey], suspect: bool, lone_loss: bool },
}

/// The part of the window that the backlog leaves to fresh events: as many as may wait.
fn fresh_window(config: &OutboxConfig) -> u16 {
    config.outbox_queue.min(config.outbox_window / 2)
}

fn handed_again(claimed: &Claimed<ClaimedEvent>) -> Handed {
    let ClaimedEvent { id, aggregate_type, aggregate_id, .. } = claimed.row();
    Handed::now(*id, AggregateKey::of(aggregate_type, aggregate_id), PublishTrigger::Scheduled)
}

/// The broker's reply, with what it leaves out: where the event found nobody.
fn no_route(claimed: &Claimed<ClaimedEvent>, code: u16, text: &str) -> String {
    let ClaimedEvent { exchange, routing_key, .. } = claimed.row();
    format!("{code} {text}: no queue is bound to {exchange} for {routing_key}")
}

/// Whether the broker's reply is about this event's exchange.
fn names_exchange(text: &str, claimed: &Claimed<ClaimedEvent>) -> bool {
    text.contains(&format!("'{}'", claimed.row().exchange))
}

fn names_an_exchange_of(claimed: &[Claimed<ClaimedEvent>], text: &str) -> bool {
    claimed.iter().any(|claimed| names_exchange(text, claimed))
}

fn key(claimed: &Claimed<ClaimedEvent>) -> ClaimKey {
    ClaimKey { id: claimed.row().id, token: Some(claimed.token()) }
}
