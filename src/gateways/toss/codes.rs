//! Toss's error codes and what each means for the money (gateways.md §1.7).

use crate::gateways::CallOutcome;

/// Refusals of a payment: final, no money moved.
const PAYMENT_REFUSALS: &[&str] = &[
    "REJECT_CARD_PAYMENT",
    "REJECT_CARD_COMPANY",
    "INVALID_REJECT_CARD",
    "INVALID_STOPPED_CARD",
    "INVALID_CARD_LOST_OR_STOLEN",
    "INVALID_CARD_NUMBER",
    "INVALID_CARD_EXPIRATION",
    "INVALID_CARD_INSTALLMENT_PLAN",
    "NOT_SUPPORTED_INSTALLMENT_PLAN_CARD_OR_MERCHANT",
    "NOT_SUPPORTED_MONTHLY_INSTALLMENT_PLAN",
    "EXCEED_MAX_CARD_INSTALLMENT_PLAN",
    "NOT_ALLOWED_POINT_USE",
    "BELOW_MINIMUM_AMOUNT",
    "EXCEED_MAX_AMOUNT",
    "EXCEED_MAX_PAYMENT_AMOUNT",
    "EXCEED_MAX_DAILY_PAYMENT_COUNT",
    "EXCEED_MAX_MONTHLY_PAYMENT_AMOUNT",
    "EXCEED_MAX_ONE_DAY_AMOUNT",
    "EXCEED_MAX_AUTH_COUNT",
    "FDS_ERROR",
    "INVALID_CARD_PASSWORD",
    "INVALID_CARD_IDENTITY",
    "INVALID_BIRTH_DAY_FORMAT",
    "NOT_SUPPORTED_CARD_TYPE",
    "NOT_REGISTERED_CARD_COMPANY",
];

/// Refusals of a cancel: final, no money moved.
const CANCEL_REFUSALS: &[&str] = &[
    "NOT_CANCELABLE_PAYMENT",
    "NOT_CANCELABLE_AMOUNT",
    "EXCEED_MAX_REFUND_DUE",
    "EXCEED_CANCEL_LIMIT",
    "NOT_ALLOWED_PARTIAL_REFUND",
    "NOT_ALLOWED_PARTIAL_REFUND_WAITING_DEPOSIT",
    "NOT_CANCELABLE_PAYMENT_FOR_DORMANT_USER",
    "EXCEED_CANCEL_AMOUNT_DISCOUNT_AMOUNT",
    "REFUND_REJECTED",
    "INVALID_REFUND_ACCOUNT_INFO",
    "INVALID_REFUND_ACCOUNT_NUMBER",
    "INVALID_BANK",
    "FORBIDDEN_BANK_REFUND_REQUEST",
];

/// An earlier call did it: look up and converge.
const ALREADY_DONE: &[&str] = &[
    "ALREADY_PROCESSED_PAYMENT",
    "DUPLICATED_ORDER_ID",
    "ALREADY_CANCELED_PAYMENT",
    "ALREADY_REFUND_PAYMENT",
    "NOT_MATCHES_REFUNDABLE_AMOUNT",
];

/// An earlier call still runs: the same key again, later.
const IN_PROGRESS: &[&str] =
    &["IDEMPOTENT_REQUEST_PROCESSING", "ALREADY_PROCESSING_REQUEST", "FORBIDDEN_CONSECUTIVE_REQUEST"];

/// Our key, contract or request is wrong: somebody must look, no card is to blame.
const MISCONFIGURED: &[&str] = &[
    "UNAUTHORIZED_KEY",
    "INCORRECT_BASIC_AUTH_FORMAT",
    "INVALID_API_KEY",
    "FORBIDDEN_REQUEST",
    "NOT_FOUND_TERMINAL_ID",
    "NOT_REGISTERED_BUSINESS",
    "INVALID_UNREGISTERED_SUBMALL",
    "INVALID_IDEMPOTENCY_KEY",
    "INVALID_REQUEST",
];

/// The provider's own word that it knows no such payment.
const NOT_FOUND: &[&str] = &["NOT_FOUND_PAYMENT"];

const CLASSES: &[(CallOutcome, &[&str])] = &[
    (CallOutcome::Refused, PAYMENT_REFUSALS),
    (CallOutcome::Refused, CANCEL_REFUSALS),
    (CallOutcome::AlreadyDone, ALREADY_DONE),
    (CallOutcome::InProgress, IN_PROGRESS),
    (CallOutcome::Misconfigured, MISCONFIGURED),
    (CallOutcome::NotFound, NOT_FOUND),
];

/// The class of an error answer. The HTTP status only ever makes it *less* certain: a server error is unknown
/// whatever its body says, and so is every code that is not listed here, such as `PROVIDER_ERROR` (HTTP 400).
pub(super) fn outcome_of(status: u16, code: &str) -> CallOutcome {
    if status >= 500 {
        return CallOutcome::Unknown;
    }
    CLASSES
        .iter()
        .find(|(_, codes)| codes.contains(&code))
        .map_or(CallOutcome::Unknown, |(outcome, _)| *outcome)
}
