//! The looks behind the hand-over: PENDING events nobody handed over, FAILED ones whose time has come, stuck ones.

use std::{future::Future, sync::Arc, time::Duration};

use diesel::result::QueryResult;
use diesel_async::AsyncPgConnection;
use tokio_util::sync::CancellationToken;

use super::{
    ErrorCode, PublishTrigger, Publisher,
    lanes::Handed,
    mark::{self, ClaimKey, FailedMark, Try},
    store::{self, DueEvent, ScanPoint, StuckEvent},
};
use crate::{
    db::DbError,
    failures::FailureKind,
    telemetry::record,
    workers::{TickError, Worker},
};

/// Rows that one recovery transaction takes.
const RECOVERY_BATCH: i64 = 500;

/// Hands PENDING events over that no hand-over brought: written by SQL, by a process that died, or while the
/// queue was full or the broker away.
pub struct PendingScheduler(pub Arc<Publisher>);

/// Hands FAILED events over whose `next_retry_at` has passed.
pub struct RetryScheduler(pub Arc<Publisher>);

/// Takes over what a process that died was holding.
pub struct RecoveryScheduler(pub Arc<Publisher>);

impl Worker for PendingScheduler {
    const NAME: &'static str = "outbox-pending";

    fn interval(&self) -> Duration {
        self.0.config.outbox_pending_interval
    }

    async fn woken(&self) {
        tokio::select! {
            () = self.0.queue.missed() => {}
            () = self.0.gate.reopened() => {}
        }
    }

    async fn tick(&self, stop: &CancellationToken) -> Result<(), TickError> {
        let first_page = i64::from(self.0.config.outbox_pending_batch);
        while !stop.is_cancelled() {
            let look = self.0.queue.begin_look();
            if hand_over_all(&self.0, Due::Pending, first_page, stop).await? {
                self.0.queue.end_look(look);
                break;
            }
            reopened(&self.0, stop).await;
        }
        Ok(())
    }
}

impl Worker for RetryScheduler {
    const NAME: &'static str = "outbox-retry";

    fn interval(&self) -> Duration {
        self.0.config.outbox_retry_interval
    }

    fn woken(&self) -> impl Future<Output = ()> + Send {
        self.0.gate.reopened()
    }

    async fn tick(&self, stop: &CancellationToken) -> Result<(), TickError> {
        let first_page = i64::from(self.0.config.outbox_retry_batch);
        // A suspect whose time has come is the lone lane's.
        self.0.suspects.notify_one();
        while !hand_over_all(&self.0, Due::Retryable, first_page, stop).await? && !stop.is_cancelled() {
            reopened(&self.0, stop).await;
        }
        Ok(())
    }
}

/// Which events are due.
#[derive(Clone, Copy)]
enum Due {
    Pending,
    Retryable,
}

impl Due {
    fn trigger(self) -> PublishTrigger {
        match self {
            Self::Pending => PublishTrigger::Scheduled,
            Self::Retryable => PublishTrigger::Retry,
        }
    }

    async fn page(
        self,
        conn: &mut AsyncPgConnection,
        from: Option<ScanPoint>,
        limit: i64,
    ) -> QueryResult<Vec<DueEvent>> {
        match self {
            Self::Pending => store::pending(conn, from, limit).await,
            Self::Retryable => store::retryable(conn, from, limit).await,
        }
    }
}

/// Waited for within a tick, so that no reopening is missed between two of them; then it is looked from the start.
async fn reopened(publisher: &Publisher, stop: &CancellationToken) {
    tokio::select! {
        () = publisher.gate.opened() => {}
        () = stop.cancelled() => {}
    }
}

/// Pages through what is due, waiting for room in the queue, until a page comes back short or the gate closes. The
/// pages grow: a long backlog costs few reads, a short one little memory. True if it came to the end.
async fn hand_over_all(
    publisher: &Publisher,
    due: Due,
    first_page: i64,
    stop: &CancellationToken,
) -> Result<bool, TickError> {
    let window = i64::from(publisher.config.outbox_window);
    let (mut from, mut limit) = (None, first_page);
    while publisher.gate.is_open() && !stop.is_cancelled() {
        let page = due.page(&mut *publisher.db.conn().await?, from, limit).await?;
        let full = i64::try_from(page.len()).unwrap_or(i64::MAX) == limit;
        from = page.last().map(DueEvent::point);
        let found = page.iter().map(|event| Handed::now(event.id, event.key(), due.trigger())).collect();
        tokio::select! {
            () = publisher.queue.send(found) => {}
            () = stop.cancelled() => return Ok(false),
        }
        if !full {
            return Ok(true);
        }
        limit = (limit * 2).min(window).max(first_page.min(window));
    }
    Ok(false)
}

impl Worker for RecoveryScheduler {
    const NAME: &'static str = "outbox-recovery";

    fn interval(&self) -> Duration {
        self.0.config.outbox_recovery_interval
    }

    async fn tick(&self, stop: &CancellationToken) -> Result<(), TickError> {
        while self.recover_stuck().await? && !stop.is_cancelled() {}
        while self.mend_failed().await? && !stop.is_cancelled() {}
        Ok(())
    }
}

impl RecoveryScheduler {
    /// One batch of stuck rows; true if there may be more.
    async fn recover_stuck(&self) -> Result<bool, DbError> {
        let lease = self.0.config.outbox_stuck_after;
        let mut tx = self.0.db.begin().await?;
        let stuck = store::stuck(tx.conn(), lease, RECOVERY_BATCH).await?;
        let marks: Vec<FailedMark> = stuck.iter().map(|event| self.stuck_mark(event)).collect();
        let won = mark::fail_in_tx(tx.conn(), &marks, FailureKind::StuckRecovered).await?;
        tx.commit().await?;
        if won > 0 {
            tracing::warn!(events = won, "took over events whose publisher died");
            (0..won).for_each(|_| record::outbox_attempt(ErrorCode::Stuck.as_str()));
        }
        Ok(i64::try_from(stuck.len()).unwrap_or(i64::MAX) == RECOVERY_BATCH && won > 0)
    }

    fn stuck_mark(&self, event: &StuckEvent) -> FailedMark {
        let holder = event.claimed_by.as_deref().unwrap_or("nobody known");
        FailedMark {
            key: ClaimKey { id: event.id, token: event.claim_token },
            attempt: Try {
                event_type: event.event_type.clone(),
                flow_id: event.flow_id,
                trigger: event.claim_trigger.clone(),
                worker: event.claimed_by.clone(),
                started_at: event.processing_started_at,
            },
            after: self.0.policy.after_failure(event.retry_count),
            code: ErrorCode::Stuck,
            error: format!("stuck in PROCESSING, claimed by {holder}, which did not finish within the lease"),
            suspect: false,
        }
    }

    /// One batch of FAILED rows that no scan finds; true if there may be more.
    async fn mend_failed(&self) -> Result<bool, DbError> {
        let mended = store::mend_failed(&mut *self.0.db.conn().await?, RECOVERY_BATCH).await?;
        Ok(i64::try_from(mended).unwrap_or(i64::MAX) == RECOVERY_BATCH)
    }
}
