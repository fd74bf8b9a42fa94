//! Answers, and the errors among them: codes with the HTTP status that Toss documents for each.

use axum::{
    body::Bytes,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// Codes that do not answer 400, which is the status of all others.
const STATUSES: &[(u16, &[&str])] = &[
    (401, &["UNAUTHORIZED_KEY"]),
    (
        403,
        &[
            "REJECT_CARD_PAYMENT",
            "REJECT_CARD_COMPANY",
            "EXCEED_MAX_ONE_DAY_AMOUNT",
            "EXCEED_MAX_AUTH_COUNT",
            "FDS_ERROR",
            "NOT_CANCELABLE_PAYMENT",
            "NOT_CANCELABLE_AMOUNT",
            "EXCEED_MAX_REFUND_DUE",
            "EXCEED_CANCEL_LIMIT",
            "NOT_ALLOWED_PARTIAL_REFUND",
            "NOT_ALLOWED_PARTIAL_REFUND_WAITING_DEPOSIT",
            "NOT_CANCELABLE_PAYMENT_FOR_DORMANT_USER",
            "FORBIDDEN_CONSECUTIVE_REQUEST",
            "NOT_AVAILABLE_BANK",
            "INCORRECT_BASIC_AUTH_FORMAT",
            "FORBIDDEN_REQUEST",
        ],
    ),
    (404, &["NOT_FOUND_PAYMENT"]),
    (409, &["IDEMPOTENT_REQUEST_PROCESSING"]),
    (429, &["TOO_MANY_REQUESTS"]),
    (
        500,
        &[
            "FAILED_INTERNAL_SYSTEM_PROCESSING",
            "FAILED_PAYMENT_INTERNAL_SYSTEM_PROCESSING",
            "UNKNOWN_PAYMENT_ERROR",
            "FAILED_DB_PROCESSING",
            "COMMON_ERROR",
            "FAILED_REFUND_PROCESS",
            "FAILED_PARTIAL_REFUND",
            "FAILED_METHOD_HANDLING_CANCEL",
        ],
    ),
];

/// Toss's own words for the commonest refusals.
const MESSAGES: &[(&str, &str)] = &[
    ("REJECT_CARD_PAYMENT", "한도초과 혹은 잔액부족으로 결제에 실패했습니다."),
    ("PROVIDER_ERROR", "일시적인 오류가 발생했습니다. 잠시 후 다시 시도해주세요."),
    ("UNAUTHORIZED_KEY", "인증되지 않은 시크릿 키 혹은 클라이언트 키 입니다."),
    ("NOT_FOUND_PAYMENT", "존재하지 않는 결제 정보 입니다."),
    ("ALREADY_CANCELED_PAYMENT", "이미 취소된 결제 입니다."),
    ("NOT_CANCELABLE_AMOUNT", "취소 할 수 없는 금액 입니다."),
    ("IDEMPOTENT_REQUEST_PROCESSING", "이전 멱등 요청이 처리중입니다."),
    ("INVALID_REQUEST", "잘못된 요청입니다."),
];

/// The languages of messages and of some values (`Accept-Language`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Korean,
    English,
}

/// An answer as it goes out, and as it is replayed: byte for byte.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    body: Bytes,
    /// What `/_control/calls` says of it.
    pub(super) outcome: String,
}

impl Answer {
    pub(super) fn new(status: u16, body: &Value, outcome: impl Into<String>) -> Self {
        Self { status, body: Bytes::from(body.to_string()), outcome: outcome.into() }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, [(header::CONTENT_TYPE, "application/json;charset=UTF-8")], self.body).into_response()
    }
}

/// An error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) status: u16,
    pub(super) code: String,
}

impl Fault {
    /// The error `code` with its documented status.
    pub(super) fn of(code: &str) -> Self {
        let status =
            STATUSES.iter().find(|(_, codes)| codes.contains(&code)).map_or(400, |(status, _)| *status);
        Self { status, code: code.to_owned() }
    }

    /// The error that stands for `status` where no code is said; `refusal` is the operation's commonest refusal.
    pub(super) fn of_status(status: u16, refusal: &str) -> Self {
        let code = match status {
            401 => "UNAUTHORIZED_KEY",
            404 => "NOT_FOUND_PAYMENT",
            409 => "IDEMPOTENT_REQUEST_PROCESSING",
            429 => "TOO_MANY_REQUESTS",
            500.. => "FAILED_INTERNAL_SYSTEM_PROCESSING",
            _ => refusal,
        };
        Self { status, code: code.to_owned() }
    }

    pub(super) fn answer(&self, language: Language) -> Answer {
        let body = json!({ "code": self.code, "message": self.message(language) });
        Answer::new(self.status, &body, self.code.clone())
    }

    fn message(&self, language: Language) -> String {
        match language {
            Language::Korean => MESSAGES
                .iter()
                .find(|(code, _)| *code == self.code)
                .map_or("요청을 처리하지 못했습니다.", |(_, message)| message)
                .to_owned(),
            Language::English => {
                format!("The request failed: {}.", self.code.to_lowercase().replace('_', " "))
            }
        }
    }
}
