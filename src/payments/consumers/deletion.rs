use futures_util::{FutureExt, future::BoxFuture};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{id, reason, undecided, without_provider};
use crate::{
    broker::InboundQueue,
    db::DbError,
    inbox::{self, Handler, HandlingError, InboxKey, Message, Subscription},
    payments::{PaymentStatus, Payments, Refund, RefundSource, RefundStatus, RefundWanted, seat},
};

const SUBSCRIPTION: Subscription = Subscription {
    worker: "consumer-meeting-deleted",
    queue: InboundQueue { name: "payment.meeting.deleted", routing_key: "meeting.deleted" },
    event_type: "MEETING_DELETED",
};

/// Refunds everybody who has paid for a meeting that was deleted, one by one.
pub struct MeetingDeleted(pub Payments);

/// The message's data.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    meeting_id: i64,
    reason: Option<String>,
}

impl Handler for MeetingDeleted {
    fn subscription(&self) -> Subscription {
        SUBSCRIPTION
    }

    fn unavailable(&self) -> Option<String> {
        without_provider(&self.0, &SUBSCRIPTION)
    }

    fn handle<'a>(
        &'a self,
        message: &'a Message,
        key: InboxKey,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), HandlingError>> {
        self.delete(message, key, stop).boxed()
    }
}

impl MeetingDeleted {
    async fn delete(
        &self,
        message: &Message,
        key: InboxKey,
        stop: &CancellationToken,
    ) -> Result<(), HandlingError> {
        let data: Data = message.data()?;
        let meeting_id = id("meetingId", data.meeting_id)?;
        let wanted = RefundWanted {
            reason: reason(data.reason, "the meeting was deleted")?,
            requested_by: format!("meeting {meeting_id}"),
            source: RefundSource::MeetingDeleted,
            source_event_id: Some(message.event_id),
        };
        let mut open = Ok(());
        for payment_id in self.start(message, key, meeting_id, &wanted).await? {
            if stop.is_cancelled() {
                return Err(HandlingError::Stopped);
            }
            // One that fails does not keep the others from their money; it is told in the end.
            match self.refund(payment_id, &wanted).await {
                Ok(Some(refund)) if refund.is(RefundStatus::Requested) => open = Err(undecided(&refund)),
                Ok(_decided) => {}
                Err(error) if error.is_connection_loss() => return Err(error.into()),
                Err(error) => open = Err(error.into()),
            }
        }
        open
    }

    /// Transaction 1: the meeting is closed, its payments frozen in the inbox row, and the wish noted on PENDING ones.
    /// An earlier try's payments stand.
    async fn start(
        &self,
        message: &Message,
        key: InboxKey,
        meeting_id: i64,
        wanted: &RefundWanted,
    ) -> Result<Vec<i64>, HandlingError> {
        let mut tx = self.0.db.begin().await?;
        let entry = inbox::lock(tx.conn(), key).await?;
        if entry.is_done() {
            tx.rollback().await?;
            return Ok(Vec::new());
        }
        if let Some(frozen) = entry.payment_ids {
            tx.rollback().await?;
            return Ok(frozen);
        }
        seat::close_meeting(tx.conn(), meeting_id, message.occurred_at, message.event_id).await?;
        let mut completed = Vec::new();
        for payment in seat::active_of_meeting(tx.conn(), meeting_id).await? {
            if payment.is(PaymentStatus::Completed) {
                completed.push(payment.id);
            } else {
                self.0.want_refund_in_tx(&mut tx, payment.id, wanted).await?;
            }
        }
        inbox::freeze(tx.conn(), key, completed.clone()).await?;
        tx.commit().await?;
        Ok(completed)
    }

    /// Refunds one payment, or goes on with what an earlier try began; `None` if it is gone, which means refunded.
    async fn refund(&self, payment_id: i64, wanted: &RefundWanted) -> Result<Option<Refund>, DbError> {
        let mut tx = self.0.db.begin().await?;
        let Some(payment) = self.0.lock_in_tx(&mut tx, payment_id).await? else {
            tx.rollback().await?;
            return Ok(None);
        };
        let requested = self.0.request_refund_in_tx(&mut tx, &payment, wanted.clone()).await?;
        tx.commit().await?;
        Ok(Some(self.0.carry_out_refund(requested).await?))
    }
}
