use futures_util::{FutureExt, future::BoxFuture};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{id, reason, undecided, without_provider};
use crate::{
    broker::InboundQueue,
    failures::SubjectType,
    inbox::{self, Handler, HandlingError, InboxKey, Message, Subscription},
    payments::{
        PaymentStatus, Payments, RefundRequested, RefundSource, RefundStatus, RefundWanted, find_refund, seat,
    },
};

const SUBSCRIPTION: Subscription = Subscription {
    worker: "consumer-participant-cancel",
    queue: InboundQueue { name: "payment.participant.cancel", routing_key: "participant.cancel" },
    event_type: "PARTICIPANT_CANCEL",
};

/// Refunds a participant who cancelled, where a refund is required.
pub struct ParticipantCancel(pub Payments);

/// The message's data.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    user_id: i64,
    meeting_id: i64,
    refund_required: bool,
    reason: Option<String>,
}

impl Handler for ParticipantCancel {
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
        _stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), HandlingError>> {
        self.cancel(message, key).boxed()
    }
}

impl ParticipantCancel {
    async fn cancel(&self, message: &Message, key: InboxKey) -> Result<(), HandlingError> {
        let data: Data = message.data()?;
        let (user_id, meeting_id) = (id("userId", data.user_id)?, id("meetingId", data.meeting_id)?);
        let wanted = RefundWanted {
            reason: reason(data.reason, "the participant cancelled")?,
            requested_by: user_id.to_string(),
            source: RefundSource::ParticipantCancel,
            source_event_id: Some(message.event_id),
        };
        let wanted = data.refund_required.then_some(wanted);
        let Some(requested) = self.start(message, key, meeting_id, user_id, wanted).await? else {
            return Ok(());
        };
        let refund = self.0.carry_out_refund(requested).await?;
        if refund.is(RefundStatus::Requested) { Err(undecided(&refund)) } else { Ok(()) }
    }

    /// Transaction 1: the REQUESTED refund and the inbox row that names it; the wish on a PENDING payment; or the cancel
    /// remembered. Tells the refund that is to be carried out.
    async fn start(
        &self,
        message: &Message,
        key: InboxKey,
        meeting_id: i64,
        user_id: i64,
        wanted: Option<RefundWanted>,
    ) -> Result<Option<RefundRequested>, HandlingError> {
        let mut tx = self.0.db.begin().await?;
        let entry = inbox::lock(tx.conn(), key).await?;
        if let Some(id) = entry.subject_id {
            let refund = find_refund(tx.conn(), id).await?;
            tx.rollback().await?;
            return Ok(refund.map(RefundRequested::Known));
        }
        let Some(wanted) = wanted.filter(|_wanted| !entry.is_done()) else {
            inbox::finish(tx.conn(), key).await?;
            tx.commit().await?;
            return Ok(None);
        };
        seat::take_seat(tx.conn(), meeting_id, user_id).await?;
        let requested = match self.0.lock_active_in_tx(&mut tx, meeting_id, user_id).await? {
            Some(payment) if payment.is(PaymentStatus::Completed) => {
                let requested = self.0.request_refund_in_tx(&mut tx, &payment, wanted).await?;
                let (RefundRequested::New(refund) | RefundRequested::Known(refund)) = &requested;
                inbox::name_subject(tx.conn(), key, SubjectType::Refund, refund.id).await?;
                Some(requested)
            }
            Some(pending) => {
                self.0.want_refund_in_tx(&mut tx, pending.id, &wanted).await?;
                None
            }
            None => {
                seat::remember_cancel(tx.conn(), meeting_id, user_id, message.occurred_at, message.event_id)
                    .await?;
                None
            }
        };
        if requested.is_none() {
            inbox::finish(tx.conn(), key).await?;
        }
        tx.commit().await?;
        Ok(requested)
    }
}
