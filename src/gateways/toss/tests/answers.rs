//! What answers to a cancel and to a lookup mean: by code and balance, never by status alone.

use serde_json::{Value, json};

use super::super::{
    Cancel, CancelOutcome, LookupOutcome, ProviderState, Reference, answer::Reading, cancel, lookup,
};
use crate::{
    gateways::CallOutcome,
    httpclient::{HttpAnswer, HttpError},
};

const CANCEL: Cancel<'_> = Cancel { payment_key: "key-1", reason: "ill", idempotency_key: "k" };

fn answer(status: u16, body: &str) -> Result<HttpAnswer, HttpError> {
    Ok(HttpAnswer { status, body: body.to_owned().into() })
}

fn payment(changes: &Value) -> String {
    let mut payment = json!({ "status": "CANCELED", "orderId": "order-1", "paymentKey": "key-1", "totalAmount": 11000,
        "balanceAmount": 0, "currency": "KRW", "method": "카드", "approvedAt": "2026-01-05T12:00:00+09:00",
        "cancels": [{ "transactionKey": "t-1" }, { "transactionKey": "t-2" }] });
    for (field, value) in changes.as_object().unwrap() {
        payment[field] = value.clone();
    }
    payment.to_string()
}

/// The kind of a cancel's outcome, its class, its code.
fn cancelled(answer: Result<HttpAnswer, HttpError>) -> (&'static str, CallOutcome, Option<String>) {
    let Reading { result, outcome, code } = cancel::read(&CANCEL, answer);
    let kind = match result {
        CancelOutcome::Cancelled { transaction_key } => {
            assert_eq!(transaction_key.as_deref(), Some("t-2"), "the last cancel's");
            "cancelled"
        }
        CancelOutcome::AlreadyDone(_) => "already done",
        CancelOutcome::Refused(_) => "refused",
        CancelOutcome::Unknown(_) => "unknown",
        CancelOutcome::Misconfigured(_) => "misconfigured",
    };
    (kind, outcome, code)
}

fn looked_up(
    reference: Reference<'_>,
    answer: Result<HttpAnswer, HttpError>,
) -> (&'static str, Option<String>) {
    let Reading { result, outcome: _, code } = lookup::read(reference, answer);
    let kind = match result {
        LookupOutcome::Found(found) => match found.state {
            ProviderState::Paid => "paid",
            ProviderState::Cancelled => "cancelled",
            ProviderState::Failed => "failed",
            ProviderState::Open => "open",
        },
        LookupOutcome::NotFound(_) => "not found",
        LookupOutcome::Unknown(_) => "unknown",
        LookupOutcome::Misconfigured(_) => "misconfigured",
    };
    (kind, code)
}

#[test]
fn a_cancel_is_done_when_nothing_is_left_of_our_payment_and_not_before() {
    for (changes, kind, code) in [
        (json!({}), "cancelled", None),
        (json!({ "status": "PARTIAL_CANCELED" }), "cancelled", None),
        (json!({ "balanceAmount": 1 }), "unknown", Some("BALANCE_LEFT")),
        (json!({ "balanceAmount": null }), "unknown", Some("UNREADABLE_ANSWER")),
        (json!({ "balanceAmount": "0" }), "unknown", Some("UNREADABLE_ANSWER")),
        (json!({ "paymentKey": "key-2" }), "unknown", Some("ANSWER_MISMATCH")),
        (json!({ "paymentKey": null }), "unknown", Some("ANSWER_MISMATCH")),
    ] {
        let told = cancelled(answer(200, &payment(&changes)));
        assert_eq!((told.0, told.2.as_deref()), (kind, code), "{changes}");
    }
    for body in ["", "<html>", "null", "[]", "{\"balanceAmount\":"] {
        let told = cancelled(answer(200, body));
        assert_eq!((told.0, told.2.as_deref()), ("unknown", Some("UNREADABLE_ANSWER")), "{body}");
    }
}

#[test]
fn a_refused_cancel_is_told_apart_by_its_code() {
    for (status, code, kind, class) in [
        (400, "ALREADY_CANCELED_PAYMENT", "already done", CallOutcome::AlreadyDone),
        (403, "NOT_CANCELABLE_PAYMENT", "refused", CallOutcome::Refused),
        (404, "NOT_FOUND_PAYMENT", "refused", CallOutcome::NotFound),
        (409, "IDEMPOTENT_REQUEST_PROCESSING", "unknown", CallOutcome::InProgress),
        (401, "UNAUTHORIZED_KEY", "misconfigured", CallOutcome::Misconfigured),
        (400, "A_CODE_OF_TOMORROW", "unknown", CallOutcome::Unknown),
        (500, "NOT_CANCELABLE_PAYMENT", "unknown", CallOutcome::Unknown),
    ] {
        let body = json!({ "code": code, "message": "no" }).to_string();
        assert_eq!(cancelled(answer(status, &body)), (kind, class, Some(code.to_owned())));
    }
    for (status, body) in [(400, "<html>"), (502, ""), (403, "{\"code\": \"no code\"}"), (429, "{}")] {
        assert_eq!(cancelled(answer(status, body)).0, "unknown", "{status} {body}");
    }
}

#[test]
fn without_an_answer_nobody_knows() {
    for (error, code) in [
        (HttpError::TimedOut, "TIMEOUT"),
        (HttpError::NotConnected("refused".to_owned()), "NOT_CONNECTED"),
        (HttpError::Broken("reset".to_owned()), "CONNECTION_BROKEN"),
    ] {
        let again = || match &error {
            HttpError::TimedOut => HttpError::TimedOut,
            HttpError::NotConnected(why) => HttpError::NotConnected(why.clone()),
            HttpError::Broken(why) => HttpError::Broken(why.clone()),
        };
        assert_eq!(cancelled(Err(again())), ("unknown", CallOutcome::Unknown, Some(code.to_owned())));
        let told = looked_up(Reference::OrderId("order-1"), Err(again()));
        assert_eq!(told, ("unknown", Some(code.to_owned())));
    }
}

#[test]
fn a_reason_is_cut_to_what_the_provider_takes_at_a_character() {
    let reason = "참가자가 취소했습니다 ".repeat(40);
    let body = cancel::body(&Cancel { reason: &reason, ..CANCEL }).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let sent = body["cancelReason"].as_str().unwrap();
    assert_eq!(sent.chars().count(), 200);
    assert!(reason.starts_with(sent));
    assert_eq!(body.as_object().unwrap().len(), 1, "no amount: all that is left goes back");
}

#[test]
fn a_lookup_tells_where_a_payment_stands_by_its_balance() {
    for (changes, kind) in [
        (json!({ "status": "DONE", "balanceAmount": 11000 }), "paid"),
        (json!({ "status": "PARTIAL_CANCELED", "balanceAmount": 1 }), "paid"),
        (json!({ "status": "PARTIAL_CANCELED" }), "cancelled"),
        (json!({}), "cancelled"),
        (json!({ "status": "DONE", "balanceAmount": null }), "open"),
        (json!({ "status": "ABORTED" }), "failed"),
        (json!({ "status": "EXPIRED" }), "failed"),
        (json!({ "status": "IN_PROGRESS" }), "open"),
        (json!({ "status": "A_STATUS_OF_TOMORROW" }), "open"),
        (json!({ "status": null }), "unknown"),
        (json!({ "orderId": "order-2" }), "unknown"),
    ] {
        assert_eq!(
            looked_up(Reference::OrderId("order-1"), answer(200, &payment(&changes))).0,
            kind,
            "{changes}"
        );
    }
    let foreign = looked_up(Reference::PaymentKey("key-2"), answer(200, &payment(&json!({}))));
    assert_eq!(foreign, ("unknown", Some("ANSWER_MISMATCH".to_owned())));
}

#[test]
fn only_the_providers_own_word_says_that_there_is_no_payment() {
    for (status, code, kind) in [
        (404, "NOT_FOUND_PAYMENT", "not found"),
        (404, "NOT_FOUND", "unknown"),
        (500, "NOT_FOUND_PAYMENT", "unknown"),
        (401, "UNAUTHORIZED_KEY", "misconfigured"),
        (403, "REJECT_CARD_PAYMENT", "unknown"),
    ] {
        let body = json!({ "code": code, "message": "no" }).to_string();
        assert_eq!(
            looked_up(Reference::OrderId("order-1"), answer(status, &body)).0,
            kind,
            "{status} {code}"
        );
    }
    assert_eq!(looked_up(Reference::OrderId("order-1"), answer(404, "<html>not here</html>")).0, "unknown");
}
