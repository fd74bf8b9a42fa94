//! Cancel: all that is left of a payment goes back (gateways.md §1.3).

use serde::Serialize;

use super::{
    Refusal,
    answer::{self, Payment, Reading},
};
use crate::{
    gateways::{CallOutcome, refusal::no_answer_code},
    httpclient::{HttpAnswer, HttpError},
};

/// Longest reason that Toss takes.
const MAX_REASON_CHARS: usize = 200;

/// A payment to cancel as a whole.
#[derive(Debug, Clone, Copy)]
pub struct Cancel<'a> {
    /// The provider's id of the payment.
    pub payment_key: &'a str,
    /// Why; cut to 200 characters.
    pub reason: &'a str,
    /// One key for one decision to give the money back, however often it is tried.
    pub idempotency_key: &'a str,
}

/// How a cancel ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CancelOutcome {
    /// Nothing is left of the payment.
    Cancelled {
        /// The provider's id of the cancel.
        transaction_key: Option<String>,
    },
    /// An earlier call may have done it: look it up before anything else.
    AlreadyDone(Refusal),
    /// Refused for good; no money moved.
    Refused(Refusal),
    /// Nobody knows yet: look it up, and ask again with the same key.
    Unknown(Refusal),
    /// Our key or contract is wrong; no money moved.
    Misconfigured(Refusal),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    cancel_reason: &'a str,
}

/// The request's JSON. Without an amount Toss cancels all that is left, so a repetition can never give back more.
pub(super) fn body(request: &Cancel<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let end =
        request.reason.char_indices().nth(MAX_REASON_CHARS).map_or(request.reason.len(), |(end, _)| end);
    let (cancel_reason, _cut) = request.reason.split_at(end);
    serde_json::to_vec(&Body { cancel_reason })
}

/// Reads the answer to `request`, or its absence.
pub(super) fn read(request: &Cancel<'_>, answer: Result<HttpAnswer, HttpError>) -> Reading<CancelOutcome> {
    match answer {
        Ok(answer) if answer.status == 200 => payment(request, &answer.body),
        Ok(answer) => error(&answer),
        Err(error) => unknown(no_answer_code(&error), &error.to_string()),
    }
}

/// A 200: done only if nothing is left of our payment. The status does not say so: a payment that was cancelled in
/// parts stays `PARTIAL_CANCELED` to the end.
fn payment(request: &Cancel<'_>, body: &[u8]) -> Reading<CancelOutcome> {
    let Ok(payment) = serde_json::from_slice::<Payment>(body) else {
        return unknown("UNREADABLE_ANSWER", "HTTP 200 without a readable payment");
    };
    if payment.payment_key.as_deref() != Some(request.payment_key) {
        return unknown("ANSWER_MISMATCH", "HTTP 200, but not about the payment that was asked for");
    }
    match payment.balance_amount {
        Some(0) => {
            let transaction_key = payment.cancel_transaction();
            Reading {
                result: CancelOutcome::Cancelled { transaction_key },
                outcome: CallOutcome::Approved,
                code: None,
            }
        }
        Some(balance) => unknown("BALANCE_LEFT", &format!("HTTP 200, but {balance} won are left")),
        None => unknown("UNREADABLE_ANSWER", "HTTP 200 without a balance"),
    }
}

/// Any other status: judged by its code.
fn error(answer: &HttpAnswer) -> Reading<CancelOutcome> {
    let Some((outcome, refusal)) = answer::error_of(answer) else {
        return unknown("UNREADABLE_ANSWER", &format!("HTTP {} without a readable error", answer.status));
    };
    let code = Some(refusal.code.clone());
    let result = match outcome {
        // The provider's own word that it has no such payment: there is nothing that it could give back.
        CallOutcome::Refused | CallOutcome::NotFound => CancelOutcome::Refused(refusal),
        CallOutcome::Misconfigured => CancelOutcome::Misconfigured(refusal),
        CallOutcome::AlreadyDone => CancelOutcome::AlreadyDone(refusal),
        CallOutcome::Approved | CallOutcome::InProgress | CallOutcome::Unknown => {
            CancelOutcome::Unknown(refusal)
        }
    };
    Reading { result, outcome, code }
}

fn unknown(code: &str, message: &str) -> Reading<CancelOutcome> {
    Reading {
        result: CancelOutcome::Unknown(Refusal::new(code, message)),
        outcome: CallOutcome::Unknown,
        code: Some(code.to_owned()),
    }
}
