use super::{Payment, PaymentStatus, Payments, Refund, RefundStatus};
use crate::{
    outbox::{WaitReason, WaitState},
    types::Instant,
};

impl Payments {
    /// When the reconciler looks for the first time at what was asked for at `requested_at`, at the earliest.
    pub fn first_look(&self, requested_at: Instant) -> Option<Instant> {
        requested_at.checked_add_signed(chrono::TimeDelta::from_std(self.config.reconcile_after).ok()?)
    }
}

/// What a payment waits for: the provider's word, as long as nobody knows it.
pub fn payment_waits_for(payment: &Payment, first_look: Option<Instant>) -> Option<WaitState> {
    payment.is(PaymentStatus::Pending).then(|| WaitState {
        reason: WaitReason::ProviderUnknown,
        until: payment.next_check_at.or(first_look),
        since: Some(payment.requested_at),
        detail: None,
    })
}

/// What a refund waits for: the provider's word, or an operator.
pub fn refund_waits_for(refund: &Refund, first_look: Option<Instant>) -> Option<WaitState> {
    match RefundStatus::parse(&refund.status)? {
        RefundStatus::Completed => None,
        RefundStatus::Requested => Some(WaitState {
            reason: WaitReason::ProviderUnknown,
            until: refund.next_check_at.or(first_look),
            since: Some(refund.requested_at),
            detail: None,
        }),
        RefundStatus::Failed => Some(WaitState {
            reason: WaitReason::NeedsOperator,
            until: None,
            since: Some(refund.updated_at),
            detail: refund.failure_message.clone(),
        }),
    }
}
