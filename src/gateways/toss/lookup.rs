//! Lookup: what Toss's books say of a payment (gateways.md §1.4, §1.5).

use super::{
    Approval, Refusal,
    answer::{self, Payment, Reading},
};
use crate::{
    gateways::{CallOutcome, refusal::no_answer_code},
    httpclient::{HttpAnswer, HttpError},
};

/// What a lookup goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference<'a> {
    /// Our order id.
    OrderId(&'a str),
    /// The provider's id of the payment.
    PaymentKey(&'a str),
}

/// A payment as the provider's books have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderPayment {
    /// Our order id.
    pub order_id: String,
    /// Where it stands.
    pub state: ProviderState,
    /// Whole won that were approved; `None` in another currency.
    pub total: Option<i64>,
    /// Its id, method and time.
    pub approval: Approval,
    /// The provider's id of the last cancel.
    pub cancel_transaction: Option<String>,
    /// Why it failed, if it did.
    pub failure: Option<Refusal>,
}

/// Where a payment stands at the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderState {
    /// The money is with us, or a part of it.
    Paid,
    /// All of it went back.
    Cancelled,
    /// It was never approved, and never will be.
    Failed,
    /// It is not decided.
    Open,
}

/// How a lookup ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupOutcome {
    /// This is what the books say.
    Found(Box<ProviderPayment>),
    /// The provider's own word that it knows no such payment.
    NotFound(Refusal),
    /// No usable answer.
    Unknown(Refusal),
    /// Our key or contract is wrong.
    Misconfigured(Refusal),
}

impl Reference<'_> {
    /// The path below the base URL.
    pub(super) fn path(&self) -> String {
        match self {
            Self::OrderId(order_id) => format!("/v1/payments/orders/{}", segment(order_id)),
            Self::PaymentKey(payment_key) => format!("/v1/payments/{}", segment(payment_key)),
        }
    }
}

/// `text` as one segment of a path.
pub(super) fn segment(text: &str) -> String {
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~' | b'.') {
            segment.push(char::from(byte));
        } else {
            segment.push_str(&format!("%{byte:02X}"));
        }
    }
    segment
}

/// Reads the answer about `reference`, or its absence.
pub(super) fn read(
    reference: Reference<'_>,
    answer: Result<HttpAnswer, HttpError>,
) -> Reading<LookupOutcome> {
    match answer {
        Ok(answer) if answer.status == 200 => payment(reference, &answer.body),
        Ok(answer) => error(&answer),
        Err(error) => unknown(no_answer_code(&error), &error.to_string()),
    }
}

fn payment(reference: Reference<'_>, body: &[u8]) -> Reading<LookupOutcome> {
    let Ok(payment) = serde_json::from_slice::<Payment>(body) else {
        return unknown("UNREADABLE_ANSWER", "HTTP 200 without a readable payment");
    };
    let is_ours = match reference {
        Reference::OrderId(order_id) => payment.order_id.as_deref() == Some(order_id),
        Reference::PaymentKey(payment_key) => payment.payment_key.as_deref() == Some(payment_key),
    };
    match found(payment) {
        Some(found) if is_ours => Reading {
            result: LookupOutcome::Found(Box::new(found)),
            outcome: CallOutcome::Approved,
            code: None,
        },
        Some(_foreign) => unknown("ANSWER_MISMATCH", "HTTP 200, but not the payment that was asked for"),
        None => unknown("UNREADABLE_ANSWER", "HTTP 200 without what a payment must have"),
    }
}

fn found(payment: Payment) -> Option<ProviderPayment> {
    let state = state(payment.status.as_deref()?, payment.balance_amount);
    let cancel_transaction = payment.cancel_transaction();
    let approval = answer::approval(&payment)?;
    Some(ProviderPayment {
        state,
        total: payment.total_amount.filter(|_| payment.currency.as_deref() == Some("KRW")),
        cancel_transaction,
        failure: payment
            .failure
            .map(|failure| Refusal::new(&failure.code, failure.message.as_deref().unwrap_or_default())),
        order_id: payment.order_id?,
        approval,
    })
}

/// Of what was approved once the balance decides and not the status: see [`super::cancel`].
fn state(status: &str, balance: Option<i64>) -> ProviderState {
    match (status, balance) {
        ("DONE" | "CANCELED" | "PARTIAL_CANCELED", Some(0)) => ProviderState::Cancelled,
        ("DONE" | "CANCELED" | "PARTIAL_CANCELED", Some(_)) => ProviderState::Paid,
        ("ABORTED" | "EXPIRED", _) => ProviderState::Failed,
        _ => ProviderState::Open,
    }
}

/// Any other status: judged by its code.
fn error(answer: &HttpAnswer) -> Reading<LookupOutcome> {
    let Some((outcome, refusal)) = answer::error_of(answer) else {
        return unknown("UNREADABLE_ANSWER", &format!("HTTP {} without a readable error", answer.status));
    };
    let code = Some(refusal.code.clone());
    let result = match outcome {
        CallOutcome::NotFound => LookupOutcome::NotFound(refusal),
        CallOutcome::Misconfigured => LookupOutcome::Misconfigured(refusal),
        CallOutcome::Approved
        | CallOutcome::Refused
        | CallOutcome::AlreadyDone
        | CallOutcome::InProgress
        | CallOutcome::Unknown => LookupOutcome::Unknown(refusal),
    };
    Reading { result, outcome, code }
}

fn unknown(code: &str, message: &str) -> Reading<LookupOutcome> {
    Reading {
        result: LookupOutcome::Unknown(Refusal::new(code, message)),
        outcome: CallOutcome::Unknown,
        code: Some(code.to_owned()),
    }
}
