use std::{sync::Arc, time::Duration};

use chrono::{DurationRound, TimeDelta};
use diesel::sql_types::Timestamptz;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use tokio::{
    sync::{Notify, watch},
    time::Instant as Timer,
};
use tokio_util::sync::CancellationToken;

use crate::{
    charges::{ChargeJobGauges, Charges},
    db::{Database, DbError, Minute, Statement, page::Listing},
    failures,
    inbox::{DeadLetterFilter, DeadLetterStatus},
    outbox::{self, Gate, OutboxGauges, PublishLatency},
    payments::PaymentGauges,
    types::Instant,
    workers::{TickError, Worker},
};

/// From one look to the next while somebody looks on.
const INTERVAL: Duration = Duration::from_secs(2);
/// For so long after the last question the overview is kept current.
const WANTED_FOR: Duration = Duration::from_secs(15);
/// An older one is not handed out any more.
const FRESH_FOR: Duration = Duration::from_secs(5);
/// How long a question waits for a look.
const PATIENCE: Duration = Duration::from_secs(5);
/// How far is counted.
const MOST: i64 = 10_000;
/// Minutes of history.
const MINUTES: i64 = 60;
/// Rows that one look at the minutes may read: under heavy traffic the history begins later.
const MINUTE_ROWS: i64 = 100_000;
/// What "lately" means for the latency.
const LATELY: Duration = Duration::from_secs(15 * 60);

/// How everything stands, as one look found it.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// Outbox events in each state, counted up to 10,001; with the age of the oldest PENDING one.
    pub outbox: OutboxGauges,
    /// Payments and refunds in each state.
    pub payments: PaymentGauges,
    /// Bonus jobs in each state that is not the end, and those that no active promotion lets go on.
    pub charge_jobs: ChargeJobGauges,
    /// Messages that nobody has dealt with, counted up to 10,001.
    pub open_dead_letters: i64,
    /// How fast events were published within the last quarter of an hour.
    pub publish_latency: PublishLatency,
    /// Events published in each of the last sixty minutes, oldest first; the last one is not over.
    pub published_per_minute: Vec<Minute>,
    /// Failures likewise.
    pub failures_per_minute: Vec<Minute>,
    /// Whether the broker takes messages.
    pub broker_connected: bool,
    /// When it was looked at, by the database's clock.
    pub as_of: Instant,
}

/// The overview of this process: one look for all who ask, however many they are.
pub struct OverviewFeed {
    db: Database,
    gate: Gate,
    charges: Charges,
    latest: watch::Sender<Option<(Timer, Arc<Overview>)>>,
    asked: watch::Sender<Option<Timer>>,
    wanted: Notify,
    history: tokio::sync::Mutex<History>,
}

#[derive(Default)]
struct History {
    published: Vec<Minute>,
    failures: Vec<Minute>,
}

impl OverviewFeed {
    /// Looks at nothing until somebody asks.
    pub fn new(db: Database, gate: Gate, charges: Charges) -> Arc<Self> {
        Arc::new(Self {
            db,
            gate,
            charges,
            latest: watch::Sender::new(None),
            asked: watch::Sender::new(None),
            wanted: Notify::new(),
            history: tokio::sync::Mutex::default(),
        })
    }

    /// How everything stands, at most some seconds ago; none if the database does not tell in time.
    pub async fn current(&self) -> Option<Arc<Overview>> {
        let mut latest = self.subscribe();
        let fresh = latest.wait_for(|latest| latest.as_ref().is_some_and(|(at, _)| Self::is_fresh(*at)));
        let found = tokio::time::timeout(PATIENCE, fresh).await.ok()?.ok()?;
        found.as_ref().map(|(_, overview)| Arc::clone(overview))
    }

    /// Each look from the latest one on.
    pub fn subscribe(&self) -> watch::Receiver<Option<(Timer, Arc<Overview>)>> {
        let receiver = self.latest.subscribe();
        self.asked.send_replace(Some(Timer::now()));
        self.wanted.notify_one();
        receiver
    }

    /// Whether a look of then is still handed out.
    pub fn is_fresh(at: Timer) -> bool {
        at.elapsed() < FRESH_FOR
    }

    fn is_wanted(&self) -> bool {
        self.latest.receiver_count() > 0 || self.asked.borrow().is_some_and(|at| at.elapsed() < WANTED_FOR)
    }

    async fn look(&self) -> Result<Overview, DbError> {
        let outbox = OutboxGauges::read(&self.db).await?;
        let charge_jobs = self.charges.job_gauges().await?;
        let mut conn = self.db.read().await?;
        let as_of = now(&mut conn).await?;
        let open = DeadLetterFilter { status: Some(vec![DeadLetterStatus::Open]) };
        let payments = PaymentGauges::read(&mut conn).await?;
        let open_dead_letters = open.count(&mut conn, MOST).await?;
        let publish_latency = outbox::publish_latency(&mut conn, LATELY).await?;
        let mut history = self.history.lock().await;
        let since = since(&history.published, as_of);
        let published = outbox::published_per_minute(&mut conn, since, MINUTE_ROWS).await?;
        let failed = failures::per_minute(&mut conn, since, MINUTE_ROWS).await?;
        merge(&mut history.published, published, since, as_of);
        merge(&mut history.failures, failed, since, as_of);
        Ok(Overview {
            outbox,
            payments,
            charge_jobs,
            open_dead_letters,
            publish_latency,
            published_per_minute: history.published.clone(),
            failures_per_minute: history.failures.clone(),
            broker_connected: self.gate.broker().is_up(),
            as_of,
        })
    }
}

async fn now(conn: &mut AsyncPgConnection) -> Result<Instant, DbError> {
    #[derive(diesel::QueryableByName)]
    struct Now {
        #[diesel(sql_type = Timestamptz)]
        now: Instant,
    }
    Ok(Statement::new("SELECT now()").get_result::<Now>(conn).await?.now)
}

fn minute_of(at: Instant) -> Instant {
    at.duration_trunc(TimeDelta::minutes(1)).unwrap_or(at)
}

/// From where on minutes have to be counted: all of them at first, then the one that runs and the one before it, into
/// which a row may still come whose transaction began there.
fn since(known: &[Minute], now: Instant) -> Instant {
    let last = known.last().map(|minute| minute.at - TimeDelta::minutes(1));
    let oldest = minute_of(now) - TimeDelta::minutes(MINUTES - 1);
    last.map_or(oldest, |last| last.max(oldest))
}

/// Takes what was counted from `since` on into the history: without gaps, and without the minute of which only a part
/// was read.
fn merge(history: &mut Vec<Minute>, mut counted: Vec<Minute>, since: Instant, now: Instant) {
    let read: i64 = counted.iter().map(|minute| minute.value).sum();
    let mut from = since;
    if read == MINUTE_ROWS
        && counted.len() > 1
        && let Some(partial) = counted.pop()
    {
        from = partial.at + TimeDelta::minutes(1);
    }
    if history.last().is_some_and(|last| last.at + TimeDelta::minutes(1) < from) {
        // What lies between was not read at all.
        history.clear();
    }
    history.retain(|minute| minute.at < from);
    let mut at = from;
    while at <= minute_of(now) {
        let value = counted.iter().find(|minute| minute.at == at).map_or(0, |minute| minute.value);
        history.push(Minute { at, value });
        at += TimeDelta::minutes(1);
    }
    let oldest = minute_of(now) - TimeDelta::minutes(MINUTES - 1);
    history.retain(|minute| minute.at >= oldest);
}

/// Looks while somebody wants to know.
pub struct OverviewRefresher(pub Arc<OverviewFeed>);

impl Worker for OverviewRefresher {
    const NAME: &'static str = "overview";

    fn interval(&self) -> Duration {
        INTERVAL
    }

    async fn woken(&self) {
        loop {
            self.0.wanted.notified().await;
            // Whoever asks while there is a fresh one has it already.
            let fresh = self.0.latest.borrow().as_ref().is_some_and(|(at, _)| at.elapsed() < INTERVAL);
            if !fresh {
                return;
            }
        }
    }

    async fn tick(&self, _stop: &CancellationToken) -> Result<(), TickError> {
        if self.0.is_wanted() {
            let overview = self.0.look().await?;
            self.0.latest.send_replace(Some((Timer::now(), Arc::new(overview))));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Instant {
        chrono::DateTime::from_timestamp(1_800_000_000 + minute * 60, 0).unwrap()
    }

    fn minutes(pairs: &[(i64, i64)]) -> Vec<Minute> {
        pairs.iter().map(|(minute, value)| Minute { at: at(*minute), value: *value }).collect()
    }

    #[test]
    fn minutes_in_which_nothing_happened_count_nothing() {
        let mut history = Vec::new();
        merge(&mut history, minutes(&[(3, 7), (1, 5)]), at(0), at(4));
        assert_eq!(history, minutes(&[(0, 0), (1, 5), (2, 0), (3, 7), (4, 0)]));
        assert_eq!(since(&history, at(4)), at(3));
    }

    #[test]
    fn a_later_look_counts_the_last_two_minutes_anew_and_forgets_the_oldest() {
        let mut history = Vec::new();
        merge(&mut history, minutes(&[(59, 1), (0, 9)]), at(0), at(59));
        merge(&mut history, minutes(&[(60, 2), (59, 4)]), at(58), at(60));
        assert_eq!(history.len(), 60);
        assert_eq!(history[0], minutes(&[(1, 0)])[0]);
        assert_eq!(history[57..], minutes(&[(58, 0), (59, 4), (60, 2)]));
    }

    #[test]
    fn of_a_minute_that_was_read_in_part_nothing_is_told() {
        let mut history = Vec::new();
        merge(&mut history, minutes(&[(9, MINUTE_ROWS - 10), (8, 10)]), at(0), at(9));
        assert_eq!(history, minutes(&[(9, MINUTE_ROWS - 10)]));
        merge(&mut history, minutes(&[(10, MINUTE_ROWS - 1), (9, 1)]), at(8), at(10));
        assert_eq!(history, minutes(&[(9, MINUTE_ROWS - 10), (10, MINUTE_ROWS - 1)]), "what was known stays");
    }
}
