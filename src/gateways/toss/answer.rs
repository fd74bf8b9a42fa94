//! Reads Toss's answer to a key-in, and what all answers have in common. Pure: what an answer means does not depend on
//! how it came.

use serde::Deserialize;

use super::{Approval, KeyIn, KeyInOutcome, Refusal, codes::outcome_of, scrub::scrub};
use crate::{
    gateways::{
        CallOutcome,
        refusal::{MAX_CODE_BYTES, no_answer_code},
    },
    httpclient::{HttpAnswer, HttpError},
    types::{Card, Instant, clock, text::storable},
};

/// Longest payment key that Toss gives out (gateways.md §1.5).
const MAX_PAYMENT_KEY_CHARS: usize = 200;
const MAX_METHOD_BYTES: usize = 100;
const MAX_TRANSACTION_KEY_BYTES: usize = 200;

/// The fields of a Payment object that decide. Each may be missing: then nothing is decided.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Payment {
    pub(super) status: Option<String>,
    pub(super) order_id: Option<String>,
    pub(super) total_amount: Option<i64>,
    pub(super) balance_amount: Option<i64>,
    pub(super) currency: Option<String>,
    pub(super) payment_key: Option<String>,
    method: Option<String>,
    approved_at: Option<String>,
    cancels: Option<Vec<CancelRow>>,
    pub(super) failure: Option<ErrorBody>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelRow {
    transaction_key: Option<String>,
}

/// A code with its text: an error answer, or why a stored payment failed.
#[derive(Deserialize)]
pub(super) struct ErrorBody {
    pub(super) code: String,
    #[serde(default)]
    pub(super) message: Option<String>,
}

impl Payment {
    /// The provider's id of the last cancel.
    pub(super) fn cancel_transaction(&self) -> Option<String> {
        let last = self.cancels.as_ref()?.last()?;
        last.transaction_key.as_deref().map(|key| storable(key, MAX_TRANSACTION_KEY_BYTES))
    }
}

/// What a call came to: for the caller, and for the provider-call row.
pub(super) struct Reading<T> {
    pub(super) result: T,
    pub(super) outcome: CallOutcome,
    pub(super) code: Option<String>,
}

/// Reads the answer to `request`, or its absence.
pub(super) fn key_in(request: &KeyIn<'_>, answer: Result<HttpAnswer, HttpError>) -> Reading<KeyInOutcome> {
    match answer {
        Ok(answer) if answer.status == 200 => payment(request, &answer.body),
        Ok(answer) => error(request.card, &answer),
        Err(error) => no_answer(request.card, &error),
    }
}

/// A 200: an approval only if it is the payment that we asked for (gateways.md §1.9).
fn payment(request: &KeyIn<'_>, body: &[u8]) -> Reading<KeyInOutcome> {
    let Ok(payment) = serde_json::from_slice::<Payment>(body) else {
        return unknown(request.card, "UNREADABLE_ANSWER", "HTTP 200 without a readable payment");
    };
    let wrong = mismatches(request, &payment);
    match approval(&payment) {
        Some(approval) if wrong.is_empty() => {
            Reading { result: KeyInOutcome::Approved(approval), outcome: CallOutcome::Approved, code: None }
        }
        _ => {
            let message = format!("HTTP 200, but not the payment that was asked for: {}", wrong.join(", "));
            unknown(request.card, "ANSWER_MISMATCH", &message)
        }
    }
}

/// What the answer says of an approval; none without a usable payment key.
pub(super) fn approval(payment: &Payment) -> Option<Approval> {
    Some(Approval {
        payment_key: payment.payment_key.clone().filter(|key| is_payment_key(key))?,
        method: payment.method.as_deref().map(|method| storable(method, MAX_METHOD_BYTES)),
        approved_at: instant(payment.approved_at.as_deref()),
    })
}

/// The names of the fields that are not as they must be.
fn mismatches(request: &KeyIn<'_>, payment: &Payment) -> Vec<&'static str> {
    let checks = [
        ("status", payment.status.as_deref() == Some("DONE")),
        ("orderId", payment.order_id.as_deref() == Some(request.order_id)),
        ("totalAmount", payment.total_amount == Some(request.amount.get())),
        ("currency", payment.currency.as_deref() == Some("KRW")),
        ("paymentKey", payment.payment_key.as_deref().is_some_and(is_payment_key)),
    ];
    checks.into_iter().filter(|(_, holds)| !holds).map(|(name, _)| name).collect()
}

fn is_payment_key(key: &str) -> bool {
    !key.is_empty() && key.chars().count() <= MAX_PAYMENT_KEY_CHARS && !key.chars().any(char::is_control)
}

/// When the provider approved. A missing or odd time does not make paid money unpaid, so ours stands in for it.
fn instant(text: Option<&str>) -> Instant {
    text.and_then(|text| chrono::DateTime::parse_from_rfc3339(text).ok())
        .map_or_else(clock::now, |time| time.to_utc())
}

/// Any other status: judged by its code.
fn error(card: &Card, answer: &HttpAnswer) -> Reading<KeyInOutcome> {
    let Some((outcome, body)) = error_body(answer) else {
        let message = format!("HTTP {} without a readable error", answer.status);
        return unknown(card, "UNREADABLE_ANSWER", &message);
    };
    let refusal = refusal(card, &body.code, body.message.as_deref().unwrap_or_default());
    let code = Some(refusal.code.clone());
    let result = match outcome {
        CallOutcome::Refused => KeyInOutcome::Declined(refusal),
        CallOutcome::Misconfigured => KeyInOutcome::Misconfigured(refusal),
        // "Already done" may be our own earlier call: it must be looked up, never called a failure.
        CallOutcome::Approved
        | CallOutcome::AlreadyDone
        | CallOutcome::InProgress
        | CallOutcome::Unknown
        | CallOutcome::NotFound => KeyInOutcome::Unknown(refusal),
    };
    Reading { result, outcome, code }
}

fn error_body(answer: &HttpAnswer) -> Option<(CallOutcome, ErrorBody)> {
    let body = serde_json::from_slice::<ErrorBody>(&answer.body).ok().filter(|body| is_code(&body.code))?;
    Some((outcome_of(answer.status, &body.code), body))
}

/// The class and the text of an error answer to a request without a card.
pub(super) fn error_of(answer: &HttpAnswer) -> Option<(CallOutcome, Refusal)> {
    let (outcome, body) = error_body(answer)?;
    Some((outcome, Refusal::new(&body.code, body.message.as_deref().unwrap_or_default())))
}

fn is_code(code: &str) -> bool {
    code.len() <= MAX_CODE_BYTES
        && code.starts_with(|first: char| first.is_ascii_uppercase())
        && code.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// No answer. Even a refused connection is unknown: the reconciler asks once the provider is back.
fn no_answer(card: &Card, error: &HttpError) -> Reading<KeyInOutcome> {
    unknown(card, no_answer_code(error), &error.to_string())
}

fn unknown(card: &Card, code: &str, message: &str) -> Reading<KeyInOutcome> {
    Reading {
        result: KeyInOutcome::Unknown(refusal(card, code, message)),
        outcome: CallOutcome::Unknown,
        code: Some(code.to_owned()),
    }
}

/// The only maker of a key-in's refusals, so that no text reaches anybody with the card in it.
fn refusal(card: &Card, code: &str, message: &str) -> Refusal {
    Refusal::new(code, &scrub(message, card))
}
