use diesel_async::AsyncPgConnection;

use super::{
    Payment, PaymentStatus, Payments,
    outcome::{SUBJECT, tell_once},
    store,
};
use crate::{
    db::{DbError, Recording},
    failures::{FailureKind, Severity},
    gateways::{
        self, Cancel, CancelOutcome, LookupOutcome, ProviderCall, ProviderState, Reference, Refusal,
        TossClient,
    },
};

const REASON: &str = "approved after the payment had been given up";

/// How a void ended.
enum Voided {
    /// Nothing is left of the approval.
    Done,
    /// It could not be cancelled; somebody must look.
    Refused(Refusal),
    /// Nobody knows: the reconciler tries again with the same key.
    Unknown,
}

impl Payments {
    /// Cancels an approval that came too late: money never stays with us for a payment that we called failed. Its key
    /// is always the same, and the row stays due for the reconciler until this has succeeded, so a crash anywhere
    /// in between ends in one cancel.
    pub(super) async fn void(
        &self,
        toss: &TossClient,
        payment: &Payment,
        payment_key: &str,
    ) -> Result<(), DbError> {
        let key = format!("void:{}", payment.order_id);
        let (outcome, call) =
            toss.cancel(Cancel { payment_key, reason: REASON, idempotency_key: &key }).await;
        let mut calls = vec![call];
        let voided = match outcome {
            CancelOutcome::Cancelled { .. } => Voided::Done,
            CancelOutcome::Unknown(_) => Voided::Unknown,
            CancelOutcome::AlreadyDone(refusal)
            | CancelOutcome::Refused(refusal)
            | CancelOutcome::Misconfigured(refusal) => {
                let (books, looked_up) = toss.lookup(Reference::PaymentKey(payment_key)).await;
                calls.push(looked_up);
                match books {
                    LookupOutcome::Found(found) if found.state == ProviderState::Cancelled => Voided::Done,
                    _ => Voided::Refused(refusal),
                }
            }
        };
        let mut recording = Recording::of("void", payment.id);
        loop {
            match self.record_void(payment, &voided, &calls).await {
                Ok(()) => return Ok(()),
                Err(error) => recording.wait_after(error).await?,
            }
        }
    }

    async fn record_void(
        &self,
        payment: &Payment,
        voided: &Voided,
        calls: &[ProviderCall],
    ) -> Result<(), DbError> {
        let mut tx = self.db.begin().await?;
        // Locked, so that two who void at once tell it once.
        let now = store::locked(tx.conn(), payment.id).await?;
        match voided {
            Voided::Done => {
                tell_voided(tx.conn(), payment).await?;
                if now.is_some_and(|now| now.is(PaymentStatus::Failed)) {
                    store::look_back_after(tx.conn(), payment.id, None, 0).await?;
                }
            }
            Voided::Refused(refusal) => {
                let message = format!(
                    "the payment was approved after it had been given up, and cannot be cancelled: {}; cancel it at the provider",
                    refusal.message
                );
                let refusal = Refusal { code: refusal.code.clone(), message };
                let kind = FailureKind::PaymentVoided;
                tell_once(tx.conn(), payment, kind, Severity::Critical, &refusal, true).await?;
            }
            Voided::Unknown => {}
        }
        for call in calls {
            gateways::record_call(tx.conn(), call, SUBJECT.as_str(), payment.id, payment.flow_id).await?;
        }
        tx.commit().await
    }
}

/// Tells, once, that an approval came too late and is cancelled.
pub(super) async fn tell_voided(conn: &mut AsyncPgConnection, payment: &Payment) -> Result<(), DbError> {
    let refusal = Refusal {
        code: "APPROVED_TOO_LATE".to_owned(),
        message: "the provider approved the payment after it had been given up; the approval was cancelled"
            .to_owned(),
    };
    tell_once(conn, payment, FailureKind::PaymentVoided, Severity::Critical, &refusal, true).await
}
