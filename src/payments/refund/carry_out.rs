//! The provider's part of a refund, and the transaction with its outcome.

use super::{Refund, RefundStatus, find_refund, store};
use crate::{
    db::{DbError, Recording, Transaction},
    failures::{self, FailureKind, NewFailure, Severity, SubjectType},
    gateways::{
        self, Cancel, CancelOutcome, LookupOutcome, ProviderCall, ProviderState, Reference, Refusal,
        TossClient,
    },
    idempotency,
    payments::{PaymentStatus, Payments, event, outcome::misconfigured, store as payment_store},
    telemetry::current_traceparent,
};

const SUBJECT: SubjectType = SubjectType::Refund;
/// The provider says so of a payment that was cancelled in parts, too (gateways.md §1.3).
const NOTHING_LEFT_OR_TOO_MUCH: &str = "NOT_CANCELABLE_AMOUNT";

/// What the provider's answers came to.
#[derive(Debug, Clone)]
pub(super) enum Verdict {
    /// Nothing is left of the payment at the provider.
    GivenBack {
        /// The provider's id of the cancel.
        transaction_key: Option<String>,
    },
    /// Refused for good.
    Refused(Refusal),
    /// Our key or contract is wrong, and the provider was never asked before: no money moved.
    Misconfigured(Refusal),
    /// Nobody knows.
    Unknown(Refusal),
    /// Nobody can know before our key or contract is mended: an earlier call may have had its effect.
    Barred(Refusal),
}

impl Payments {
    /// Cancels, for the first time under the refund's key, looks up what the answer leaves open, and records it.
    pub(in crate::payments) async fn cancel_and_record(
        &self,
        toss: &TossClient,
        refund: Refund,
    ) -> Result<Refund, DbError> {
        let (verdict, calls) = cancel(toss, &refund).await;
        self.record_refund(&refund, &verdict, &calls).await
    }

    /// The way of everybody who comes later: the books first; only if the money is still with us, the same cancel again.
    pub(in crate::payments) async fn look_up_and_record(
        &self,
        toss: &TossClient,
        refund: Refund,
    ) -> Result<Refund, DbError> {
        let (books, looked_up) = toss.lookup(Reference::PaymentKey(&refund.payment_key)).await;
        let (verdict, mut calls) = match books {
            LookupOutcome::Found(found) if found.state == ProviderState::Cancelled => {
                (Verdict::GivenBack { transaction_key: found.cancel_transaction }, Vec::new())
            }
            LookupOutcome::Found(_) | LookupOutcome::NotFound(_) => match cancel(toss, &refund).await {
                (Verdict::Misconfigured(refusal), calls) => (Verdict::Barred(refusal), calls),
                answered => answered,
            },
            LookupOutcome::Unknown(refusal) => (Verdict::Unknown(refusal), Vec::new()),
            LookupOutcome::Misconfigured(refusal) => (Verdict::Barred(refusal), Vec::new()),
        };
        calls.insert(0, looked_up);
        self.record_refund(&refund, &verdict, &calls).await
    }

    async fn record_refund(
        &self,
        refund: &Refund,
        verdict: &Verdict,
        calls: &[ProviderCall],
    ) -> Result<Refund, DbError> {
        let mut recording = Recording::of("refund", refund.id);
        loop {
            match self.try_record_refund(refund, verdict, calls).await {
                Ok(recorded) => return Ok(recorded),
                Err(error) => recording.wait_after(error).await?,
            }
        }
    }

    async fn try_record_refund(
        &self,
        refund: &Refund,
        verdict: &Verdict,
        calls: &[ProviderCall],
    ) -> Result<Refund, DbError> {
        let mut tx = self.db.begin().await?;
        let recorded = self.record_in_tx(&mut tx, refund, verdict, calls).await?;
        tx.commit().await?;
        Ok(recorded)
    }

    /// Transaction 2: the outcome, its event or failure, the calls, the callers' keys.
    pub(super) async fn record_in_tx(
        &self,
        tx: &mut Transaction,
        refund: &Refund,
        verdict: &Verdict,
        calls: &[ProviderCall],
    ) -> Result<Refund, DbError> {
        let cancels = calls.iter().filter(|call| call.operation == "cancel").count();
        let changed = match verdict {
            Verdict::GivenBack { transaction_key } => {
                self.given_back(tx, refund, transaction_key.as_deref()).await?
            }
            Verdict::Refused(refusal) => refused(tx, refund, refusal, FailureKind::RefundFailed).await?,
            Verdict::Misconfigured(refusal) => {
                refused(tx, refund, &misconfigured(refusal), FailureKind::GatewayMisconfigured).await?
            }
            Verdict::Unknown(refusal) => {
                self.unknown(tx, refund, refusal).await?;
                false
            }
            Verdict::Barred(refusal) => {
                barred(tx, refund, &misconfigured(refusal)).await?;
                false
            }
        };
        if !changed {
            tracing::debug!(refund = refund.id, ?verdict, "nothing to change");
        }
        if cancels > 0 {
            store::count_attempts(tx.conn(), refund.id, i32::try_from(cancels).unwrap_or(i32::MAX)).await?;
        }
        for call in calls {
            gateways::record_call(tx.conn(), call, SUBJECT.as_str(), refund.id, refund.flow_id).await?;
        }
        idempotency::finish(tx.conn(), SUBJECT.as_str(), refund.id).await?;
        Ok(find_refund(tx.conn(), refund.id).await?.ok_or(diesel::result::Error::NotFound)?)
    }

    /// COMPLETED, with the snapshot and the event; and the payment's row goes, so that the user may pay again.
    async fn given_back(
        &self,
        tx: &mut Transaction,
        refund: &Refund,
        transaction_key: Option<&str>,
    ) -> Result<bool, DbError> {
        // The payment first: everybody locks in this order.
        let payment = payment_store::locked(tx.conn(), refund.payment_id).await?;
        let known = store::locked(tx.conn(), refund.id).await?.ok_or(diesel::result::Error::NotFound)?;
        if known.is(RefundStatus::Completed) {
            return Ok(false);
        }
        if let Some(other) = store::active(tx.conn(), refund.payment_id).await?
            && other.id != refund.id
        {
            // Another refund of this payment is under way: it will find the money given back, and tell it once.
            return Ok(false);
        }
        let Some(mut payment) = payment else {
            tracing::error!(refund = refund.id, "a payment without a row was given back");
            return Ok(false);
        };
        PaymentStatus::Refunded.as_str().clone_into(&mut payment.status);
        let snapshot = serde_json::to_value(&payment)
            .map_err(|error| diesel::result::Error::SerializationError(Box::new(error)))?;
        let Some(completed) = store::complete(tx.conn(), refund.id, snapshot, transaction_key).await? else {
            return Ok(false);
        };
        payment_store::delete(tx.conn(), refund.payment_id).await?;
        let told = event::refunded(&completed, self.exchange.clone(), current_traceparent());
        self.outbox.enqueue(tx, told).await?;
        Ok(true)
    }

    /// Stays REQUESTED; told once it has been so for long.
    async fn unknown(&self, tx: &mut Transaction, refund: &Refund, refusal: &Refusal) -> Result<(), DbError> {
        // Locked, so that two who look at once tell it once.
        let Some(refund) = store::locked(tx.conn(), refund.id).await? else { return Ok(()) };
        let overdue = refund.is(RefundStatus::Requested)
            && payment_store::is_older(tx.conn(), refund.requested_at, self.config.unknown_give_up).await?;
        if !overdue {
            return Ok(());
        }
        let told =
            failures::for_subjects(tx.conn(), SUBJECT.as_str(), vec![refund.id.to_string()], 100).await?;
        let kind = FailureKind::RefundUnknown;
        if told.iter().all(|one| one.kind != kind.as_str() || one.occurred_at < refund.requested_at) {
            failures::record(tx.conn(), failure(&refund, kind, Severity::Warning, refusal)).await?;
        }
        Ok(())
    }
}

/// Cancels, and looks up where the answer alone does not say whether the money is gone.
async fn cancel(toss: &TossClient, refund: &Refund) -> (Verdict, Vec<ProviderCall>) {
    let request = Cancel {
        payment_key: &refund.payment_key,
        reason: &refund.reason,
        idempotency_key: &refund.idempotency_key,
    };
    let (outcome, call) = toss.cancel(request).await;
    let (refusal, already_done) = match outcome {
        CancelOutcome::Cancelled { transaction_key } => {
            return (Verdict::GivenBack { transaction_key }, vec![call]);
        }
        CancelOutcome::Unknown(refusal) => return (Verdict::Unknown(refusal), vec![call]),
        CancelOutcome::Misconfigured(refusal) => return (Verdict::Misconfigured(refusal), vec![call]),
        CancelOutcome::AlreadyDone(refusal) => (refusal, true),
        CancelOutcome::Refused(refusal) => (refusal, false),
    };
    let (books, looked_up) = toss.lookup(Reference::PaymentKey(&refund.payment_key)).await;
    let verdict = match books {
        LookupOutcome::Found(found) if found.state == ProviderState::Cancelled => {
            Verdict::GivenBack { transaction_key: found.cancel_transaction }
        }
        // The refusal is final by its code; the books were asked in case they know better.
        _ if !already_done && refusal.code != NOTHING_LEFT_OR_TOO_MUCH => Verdict::Refused(refusal),
        LookupOutcome::Found(_) | LookupOutcome::NotFound(_) if !already_done => Verdict::Refused(refusal),
        _ => Verdict::Unknown(refusal),
    };
    (verdict, vec![call, looked_up])
}

/// Stays REQUESTED; told once per request, at once, for a person must mend it.
async fn barred(tx: &mut Transaction, refund: &Refund, refusal: &Refusal) -> Result<(), DbError> {
    let Some(refund) = store::locked(tx.conn(), refund.id).await? else { return Ok(()) };
    let told = failures::for_subjects(tx.conn(), SUBJECT.as_str(), vec![refund.id.to_string()], 100).await?;
    let kind = FailureKind::GatewayMisconfigured;
    let is_told = told.iter().any(|one| one.kind == kind.as_str() && one.occurred_at >= refund.requested_at);
    if refund.is(RefundStatus::Requested) && !is_told {
        failures::record(tx.conn(), failure(&refund, kind, Severity::Critical, refusal)).await?;
    }
    Ok(())
}

/// REQUESTED → FAILED; the payment stays COMPLETED.
async fn refused(
    tx: &mut Transaction,
    refund: &Refund,
    refusal: &Refusal,
    kind: FailureKind,
) -> Result<bool, DbError> {
    let Some(failed) = store::fail(tx.conn(), refund, refusal).await? else { return Ok(false) };
    failures::record(tx.conn(), failure(&failed, kind, Severity::Critical, refusal)).await?;
    Ok(true)
}

fn failure(refund: &Refund, kind: FailureKind, severity: Severity, refusal: &Refusal) -> NewFailure {
    NewFailure {
        kind,
        severity,
        subject_type: SUBJECT,
        subject_id: refund.id.to_string(),
        event_type: None,
        code: refusal.code.clone(),
        message: refusal.message.clone(),
        detail: None,
        attempt: refund.key_no,
        flow_id: Some(refund.flow_id),
    }
}
