use super::{
    super::{KeyInOutcome, answer},
    Bench, CARD, card, request, request_body,
};
use crate::{gateways::CallOutcome, httpclient::HttpAnswer};

/// gateways.md §1.7: each class with its codes and their HTTP statuses; 0 where the status is not documented.
const TABLE: &[(CallOutcome, &str)] = &[
    (
        CallOutcome::Refused,
        "REJECT_CARD_PAYMENT 403, REJECT_CARD_COMPANY 403, INVALID_REJECT_CARD 400, INVALID_STOPPED_CARD 400, \
         INVALID_CARD_LOST_OR_STOLEN 400, INVALID_CARD_NUMBER 400, INVALID_CARD_EXPIRATION 400, \
         INVALID_CARD_INSTALLMENT_PLAN 400, NOT_SUPPORTED_INSTALLMENT_PLAN_CARD_OR_MERCHANT 400, \
         NOT_SUPPORTED_MONTHLY_INSTALLMENT_PLAN 400, EXCEED_MAX_CARD_INSTALLMENT_PLAN 400, \
         NOT_ALLOWED_POINT_USE 400, BELOW_MINIMUM_AMOUNT 400, EXCEED_MAX_AMOUNT 400, \
         EXCEED_MAX_PAYMENT_AMOUNT 400, EXCEED_MAX_DAILY_PAYMENT_COUNT 400, \
         EXCEED_MAX_MONTHLY_PAYMENT_AMOUNT 400, EXCEED_MAX_ONE_DAY_AMOUNT 403, EXCEED_MAX_AUTH_COUNT 403, \
         FDS_ERROR 403, INVALID_CARD_PASSWORD 0, INVALID_CARD_IDENTITY 0, INVALID_BIRTH_DAY_FORMAT 0, \
         NOT_SUPPORTED_CARD_TYPE 0, NOT_REGISTERED_CARD_COMPANY 0",
    ),
    (
        CallOutcome::Refused,
        "NOT_CANCELABLE_PAYMENT 403, NOT_CANCELABLE_AMOUNT 403, EXCEED_MAX_REFUND_DUE 403, \
         EXCEED_CANCEL_LIMIT 403, NOT_ALLOWED_PARTIAL_REFUND 403, \
         NOT_ALLOWED_PARTIAL_REFUND_WAITING_DEPOSIT 403, NOT_CANCELABLE_PAYMENT_FOR_DORMANT_USER 403, \
         EXCEED_CANCEL_AMOUNT_DISCOUNT_AMOUNT 400, REFUND_REJECTED 400, INVALID_REFUND_ACCOUNT_INFO 400, \
         INVALID_REFUND_ACCOUNT_NUMBER 400, INVALID_BANK 400, FORBIDDEN_BANK_REFUND_REQUEST 400",
    ),
    (
        CallOutcome::AlreadyDone,
        "ALREADY_PROCESSED_PAYMENT 400, DUPLICATED_ORDER_ID 0, ALREADY_CANCELED_PAYMENT 400, \
         ALREADY_REFUND_PAYMENT 400, NOT_MATCHES_REFUNDABLE_AMOUNT 400",
    ),
    (
        CallOutcome::InProgress,
        "IDEMPOTENT_REQUEST_PROCESSING 409, ALREADY_PROCESSING_REQUEST 400, FORBIDDEN_CONSECUTIVE_REQUEST 403",
    ),
    (
        CallOutcome::Unknown,
        "PROVIDER_ERROR 400, CARD_PROCESSING_ERROR 400, FAILED_CARD_COMPANY_RESPONSE 0, \
         FAILED_INTERNAL_SYSTEM_PROCESSING 500, FAILED_PAYMENT_INTERNAL_SYSTEM_PROCESSING 500, \
         UNKNOWN_PAYMENT_ERROR 500, FAILED_DB_PROCESSING 500, COMMON_ERROR 500, FAILED_REFUND_PROCESS 500, \
         FAILED_PARTIAL_REFUND 500, FAILED_METHOD_HANDLING_CANCEL 500, NOT_AVAILABLE_PAYMENT 400, \
         NOT_AVAILABLE_BANK 403, SOMETHING_NEW 0",
    ),
    (
        CallOutcome::Misconfigured,
        "UNAUTHORIZED_KEY 401, INCORRECT_BASIC_AUTH_FORMAT 403, INVALID_API_KEY 400, FORBIDDEN_REQUEST 403, \
         NOT_FOUND_TERMINAL_ID 400, NOT_REGISTERED_BUSINESS 400, INVALID_UNREGISTERED_SUBMALL 400, \
         INVALID_IDEMPOTENCY_KEY 400, INVALID_REQUEST 400",
    ),
    (CallOutcome::NotFound, "NOT_FOUND_PAYMENT 404"),
];

/// What each class means for a payment that was to be charged.
fn fits(class: CallOutcome, result: &KeyInOutcome) -> bool {
    match result {
        KeyInOutcome::Approved(_) => false,
        KeyInOutcome::Declined(_) => class == CallOutcome::Refused,
        KeyInOutcome::Misconfigured(_) => class == CallOutcome::Misconfigured,
        KeyInOutcome::Unknown(_) => !matches!(class, CallOutcome::Refused | CallOutcome::Misconfigured),
    }
}

#[tokio::test]
async fn every_documented_code_has_its_status_and_its_class() {
    let bench = Bench::new().await;
    let card = card(CARD);
    for (class, codes) in TABLE {
        for entry in codes.split(", ") {
            let (code, status) = entry.split_once(' ').unwrap();
            let headers = [("tosspayments-test-code", code)];
            let answer = bench.post("/toss/v1/payments/key-in", &headers, &request_body()).await;
            if status != "0" {
                assert_eq!(answer.status.to_string(), status, "{code}");
            }
            let reading = answer::key_in(&request(&card), Ok(answer));
            assert_eq!((reading.outcome, reading.code.as_deref()), (*class, Some(code)));
            assert!(fits(*class, &reading.result), "{code}: {:?}", reading.result);
        }
    }
    bench.assert_nothing_charged().await;
}

#[test]
fn the_status_decides_nothing_and_what_cannot_be_read_is_unknown() {
    let card = card(CARD);
    let read = |status, body: &'static str| {
        answer::key_in(&request(&card), Ok(HttpAnswer { status, body: body.into() })).outcome
    };
    let declined = r#"{"code":"REJECT_CARD_PAYMENT","message":"no"}"#;
    for status in [400, 401, 403, 404, 409] {
        assert_eq!(read(status, declined), CallOutcome::Refused);
        assert_eq!(read(status, r#"{"code":"PROVIDER_ERROR"}"#), CallOutcome::Unknown);
        for body in ["", "<html>403</html>", "{}", r#"{"code":403}"#, r#"{"code":"no such thing"}"#] {
            assert_eq!(read(status, body), CallOutcome::Unknown, "{status} {body}");
        }
    }
    for status in [500, 502, 503, 504] {
        assert_eq!(read(status, declined), CallOutcome::Unknown);
    }
}
