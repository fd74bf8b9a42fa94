//! How a payment ends, whoever finds out: the same compare-and-set, event and failure for the direct path and for the
//! reconciler.

use diesel_async::AsyncPgConnection;
use serde::Deserialize;

use super::{
    GATEWAY_MISCONFIGURED, Payment, PaymentStatus, Payments, Refund, RefundRequested, RefundWanted, event,
    find, store,
};
use crate::{
    db::{DbError, Transaction, violated_constraint},
    failures::{self, FailureKind, NewFailure, Severity, SubjectType},
    gateways::{Approval, Refusal},
    telemetry::current_traceparent,
};

pub(super) const SUBJECT: SubjectType = SubjectType::Payment;

/// What is left to do once the transaction has committed.
#[derive(Debug)]
pub(super) enum Follow {
    /// Nothing.
    Nothing,
    /// Carry this refund out: it was wanted while the payment was PENDING.
    Refund(Box<Refund>),
    /// Cancel this approval at the provider: it came too late.
    Void(Approval),
}

/// A payment as a transaction leaves it.
pub(super) struct Settled {
    pub(super) payment: Payment,
    pub(super) follow: Follow,
}

impl Payments {
    /// PENDING → COMPLETED with its event, and with the refund that was wanted meanwhile. An approval of a payment that
    /// we called FAILED is noted, to be cancelled.
    pub(super) async fn approved(
        &self,
        tx: &mut Transaction,
        payment: &Payment,
        approval: &Approval,
    ) -> Result<Settled, DbError> {
        let Some(completed) = store::complete(tx.conn(), payment.id, approval).await? else {
            return self.approved_too_late(tx, payment, approval).await;
        };
        let traceparent = current_traceparent();
        let told = event::completed(&completed, approval.approved_at, self.exchange.clone(), traceparent);
        self.outbox.enqueue(tx, told).await?;
        let follow = match wanted(&completed) {
            None => Follow::Nothing,
            Some(wanted) => {
                let requested = self.request_refund_in_tx(tx, &completed, wanted).await?;
                let (RefundRequested::New(refund) | RefundRequested::Known(refund)) = requested;
                Follow::Refund(Box::new(refund))
            }
        };
        Ok(Settled { payment: completed, follow })
    }

    async fn approved_too_late(
        &self,
        tx: &mut Transaction,
        payment: &Payment,
        approval: &Approval,
    ) -> Result<Settled, DbError> {
        let now = find(tx.conn(), payment.id).await?.unwrap_or_else(|| payment.clone());
        let same = now.payment_key.as_deref() == Some(approval.payment_key.as_str());
        let follow = if now.is(PaymentStatus::Failed) {
            let after = self.config.reconcile_after;
            store::note_late_approval(tx.conn(), now.id, &approval.payment_key, after).await?;
            Follow::Void(approval.clone())
        } else if same || now.is(PaymentStatus::Pending) {
            // Somebody else recorded this very approval.
            Follow::Nothing
        } else {
            // A second approval of one order: the first is the one that was paid for.
            Follow::Void(approval.clone())
        };
        Ok(Settled { payment: now, follow })
    }

    /// No money moved: FAILED, with the event that lets the meeting service give the seat back.
    pub(super) async fn refused(
        &self,
        tx: &mut Transaction,
        payment: &Payment,
        refusal: &Refusal,
    ) -> Result<Option<Payment>, DbError> {
        let failed = store::fail(tx.conn(), payment.id, refusal).await?;
        if let Some(payment) = &failed {
            let (kind, severity) = if refusal.code == GATEWAY_MISCONFIGURED {
                (FailureKind::GatewayMisconfigured, Severity::Critical)
            } else {
                (FailureKind::PaymentFailed, Severity::Info)
            };
            failures::record(tx.conn(), failure(payment, kind, severity, refusal)).await?;
            let told = event::failed(payment, self.exchange.clone(), current_traceparent());
            self.outbox.enqueue(tx, told).await?;
        }
        Ok(failed)
    }

    /// Runs after the commit. The refund goes on in a task of its own; the void is waited for.
    pub(super) async fn follow_up(&self, settled: Settled) -> Payment {
        let Settled { payment, follow } = settled;
        let Some(toss) = self.toss.clone() else { return payment };
        match follow {
            Follow::Nothing => {}
            Follow::Refund(refund) => self.carry_out_in_background(toss, *refund),
            Follow::Void(approval) => {
                if let Err(error) = self.void(&toss, &payment, &approval.payment_key).await {
                    tracing::error!(%error, payment = payment.id, "a void was not recorded; the reconciler will look");
                }
            }
        }
        payment
    }
}

/// Stays PENDING; told once per payment. That our configuration is to blame is told too: a person must mend it.
pub(super) async fn unknown(
    conn: &mut AsyncPgConnection,
    payment: &Payment,
    refusal: &Refusal,
) -> Result<(), DbError> {
    if refusal.code == GATEWAY_MISCONFIGURED {
        let kind = FailureKind::GatewayMisconfigured;
        return tell_once(conn, payment, kind, Severity::Critical, refusal, false).await;
    }
    tell_once(conn, payment, FailureKind::PaymentUnknown, Severity::Warning, refusal, false).await
}

/// Records a failure of this kind (`by_code`: and this code) unless the payment has one.
pub(super) async fn tell_once(
    conn: &mut AsyncPgConnection,
    payment: &Payment,
    kind: FailureKind,
    severity: Severity,
    refusal: &Refusal,
    by_code: bool,
) -> Result<(), DbError> {
    let told = failures::for_subjects(conn, SUBJECT.as_str(), vec![payment.id.to_string()], 100).await?;
    let same =
        |known: &failures::Failure| known.kind == kind.as_str() && (!by_code || known.code == refusal.code);
    if !told.iter().any(same) {
        failures::record(conn, failure(payment, kind, severity, refusal)).await?;
    }
    Ok(())
}

pub(super) fn failure(
    payment: &Payment,
    kind: FailureKind,
    severity: Severity,
    refusal: &Refusal,
) -> NewFailure {
    NewFailure {
        kind,
        severity,
        subject_type: SUBJECT,
        subject_id: payment.id.to_string(),
        event_type: None,
        code: refusal.code.clone(),
        message: refusal.message.clone(),
        detail: None,
        attempt: 1,
        flow_id: Some(payment.flow_id),
    }
}

/// An approval must name a payment of its own (gateways.md §1.9): whose money this is, nobody knows.
pub(super) fn payment_key_is_taken(error: &DbError) -> bool {
    matches!(error, DbError::Query(error)
        if violated_constraint(error) == Some("payment_payment_key_provider_uq"))
}

pub(super) fn foreign_payment_key() -> Refusal {
    Refusal {
        code: "PAYMENT_KEY_USED".to_owned(),
        message: "the provider answered with the payment key of another payment".to_owned(),
    }
}

/// Ours for a wrong key or contract; the provider's own words are in the message.
pub(super) fn misconfigured(refusal: &Refusal) -> Refusal {
    Refusal {
        code: GATEWAY_MISCONFIGURED.to_owned(),
        message: format!("{}: {}", refusal.code, refusal.message),
    }
}

fn wanted(payment: &Payment) -> Option<RefundWanted> {
    let wanted = payment.refund_wanted.as_ref()?;
    match RefundWanted::deserialize(wanted) {
        Ok(wanted) => Some(wanted),
        Err(error) => {
            tracing::error!(%error, payment = payment.id, "the refund that a payment wants cannot be read");
            None
        }
    }
}
