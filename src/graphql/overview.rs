//! How everything stands, from the process's one look at it.

use std::sync::Arc;

use async_graphql::{Context, Object, SimpleObject, Subscription};
use futures_util::{Stream, stream};
use tokio::sync::watch;

use super::{
    error::ApiError,
    guard,
    page::Count,
    scalars::{DateTime, Long},
    schema::Services,
};
use crate::{
    charges::ChargeJobStatus,
    db::Minute,
    operations::{Overview, OverviewFeed},
};

/// How many rows are in a state.
#[derive(SimpleObject)]
pub struct StatusCount {
    /// The state, as the rows' own type names it.
    pub status: String,
    /// How many. What is done is counted among the newest rows: beyond 10,000 of them it is AT_LEAST.
    pub count: Count,
}

/// How many in one minute.
#[derive(SimpleObject)]
pub struct Point {
    /// The minute's beginning.
    pub at: DateTime,
    /// How many.
    pub value: Long,
}

/// How long it took from the writing of an event to the broker's confirm, in milliseconds.
#[derive(SimpleObject)]
pub struct Latency {
    /// Half were at least so fast. Null while there were none.
    pub p50: Option<f64>,
    /// 99 of 100 were. Null while there were none.
    pub p99: Option<f64>,
}

/// The overview, as the API shows it.
pub struct OverviewObject(Arc<Overview>);

/// How everything stands, as of a few seconds ago.
#[Object(name = "Overview")]
impl OverviewObject {
    /// Outbox events in each state.
    async fn outbox(&self) -> Vec<StatusCount> {
        let states = self.0.outbox.by_status();
        states
            .into_iter()
            .map(|(status, rows)| self.counted(status.as_str(), rows.min(10_000), rows > 10_000))
            .collect()
    }

    /// Payments in each state; refunded ones are under refunds.
    async fn payments(&self) -> Vec<StatusCount> {
        let states = self.0.payments.payments();
        states.into_iter().map(|(status, rows, more)| self.counted(status.as_str(), rows, more)).collect()
    }

    /// Refunds in each state.
    async fn refunds(&self) -> Vec<StatusCount> {
        let states = self.0.payments.refunds();
        states.into_iter().map(|(status, rows, more)| self.counted(status.as_str(), rows, more)).collect()
    }

    /// Bonus jobs in each state that is not the end.
    async fn charge_jobs(&self) -> Vec<StatusCount> {
        let states = self.0.charge_jobs.by_status;
        let counted = |(status, rows): (ChargeJobStatus, i64)| {
            self.counted(status.as_str(), rows.min(10_000), rows > 10_000)
        };
        states.into_iter().map(counted).collect()
    }

    /// Bonus jobs that wait while no promotion is active, counted up to 10,001.
    async fn stranded_jobs(&self) -> Long {
        Long::clamped(self.0.charge_jobs.stranded)
    }

    /// How long the oldest PENDING event has waited, in whole seconds; null while there is none.
    async fn oldest_pending_age_seconds(&self) -> Option<Long> {
        let age = self.0.outbox.oldest_pending()?;
        Some(Long::clamped(i64::try_from(age.as_secs()).unwrap_or(i64::MAX)))
    }

    /// Events published in each of the last sixty minutes, oldest first; the last minute is not over. Fewer minutes
    /// when there were more events than one look may read.
    async fn published_per_minute(&self) -> Vec<Point> {
        points(&self.0.published_per_minute)
    }

    /// Failures in each of these minutes, likewise.
    async fn failures_per_minute(&self) -> Vec<Point> {
        points(&self.0.failures_per_minute)
    }

    /// How fast events were published, over the newest thousand of the last quarter of an hour.
    async fn publish_latency_ms(&self) -> Latency {
        Latency { p50: self.0.publish_latency.p50, p99: self.0.publish_latency.p99 }
    }

    /// Messages that nobody has dealt with, counted up to 10,001.
    async fn open_dead_letters(&self) -> Long {
        Long::clamped(self.0.open_dead_letters)
    }

    /// Whether the broker takes messages from this process.
    async fn broker_connected(&self) -> bool {
        self.0.broker_connected
    }

    /// When it was looked at.
    async fn as_of(&self) -> DateTime {
        DateTime(self.0.as_of)
    }
}

impl OverviewObject {
    fn counted(&self, status: &str, rows: i64, at_least: bool) -> StatusCount {
        StatusCount { status: status.to_owned(), count: Count::new(rows, at_least, self.0.as_of) }
    }
}

fn points(minutes: &[Minute]) -> Vec<Point> {
    minutes
        .iter()
        .map(|minute| Point { at: DateTime(minute.at), value: Long::clamped(minute.value) })
        .collect()
}

/// The overview, asked for.
#[derive(Default)]
pub struct OverviewQuery;

#[Object]
impl OverviewQuery {
    /// How everything stands, from one look per process that is at most a few seconds old. ADMIN, OPERATOR.
    async fn overview(&self, ctx: &Context<'_>) -> Result<OverviewObject, ApiError> {
        guard::reader(ctx)?;
        let current = Services::of(ctx)?.overview.current().await;
        current.map(OverviewObject).ok_or_else(|| ApiError::internal("the overview was not read in time"))
    }
}

/// The overview, live.
#[derive(Default)]
pub struct OverviewSubscription;

#[Subscription]
impl OverviewSubscription {
    /// How everything stands, then again at each look, every two seconds. ADMIN, OPERATOR.
    async fn overview_changed(
        &self,
        ctx: &Context<'_>,
    ) -> Result<impl Stream<Item = OverviewObject> + use<>, ApiError> {
        guard::reader(ctx)?;
        Ok(looks(Services::of(ctx)?.overview.subscribe()))
    }
}

type Looks = watch::Receiver<Option<(tokio::time::Instant, Arc<Overview>)>>;

fn looks(receiver: Looks) -> impl Stream<Item = OverviewObject> {
    stream::unfold((None, receiver), |(shown, mut receiver)| async move {
        loop {
            let latest = receiver.borrow_and_update().clone();
            let latest = latest.filter(|(at, _)| OverviewFeed::is_fresh(*at)).map(|(_, overview)| overview);
            let is_new = |look: &Arc<Overview>| shown.as_ref().is_none_or(|shown| !Arc::ptr_eq(shown, look));
            if let Some(look) = latest.filter(is_new) {
                return Some((OverviewObject(Arc::clone(&look)), (Some(look), receiver)));
            }
            receiver.changed().await.ok()?;
        }
    })
}
