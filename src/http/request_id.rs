//! Around every request: its id, its span, its headers, and what happens when it panics.

use std::{panic::AssertUnwindSafe, time::Instant};

use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
};
use futures_util::FutureExt;
use tracing::Instrument;

use super::answer;
use crate::graphql::ApiError;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// A longer one is not taken over: it goes into every log line of the request.
const MAX_LENGTH: usize = 128;

/// The request's name in logs, audit entries and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The caller's own id if it is one, else a new one.
    fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(X_REQUEST_ID).and_then(|value| value.to_str().ok());
        let sane = |id: &&str| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte);
            (1..=MAX_LENGTH).contains(&id.len()) && id.bytes().all(allowed)
        };
        Self(given.filter(sane).map_or_else(|| uuid::Uuid::now_v7().to_string(), str::to_owned))
    }
}

/// Runs the request within its span and turns a panic into an answer.
pub async fn around(mut request: Request, next: Next) -> Response {
    let id = RequestId::of(request.headers());
    request.extensions_mut().insert(id.clone());
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let span = tracing::info_span!("request", request_id = %id.as_str());
    let method = request.method().clone();
    let started = Instant::now();
    let answered = async {
        let response = AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(|_panic| {
            let error = ApiError::internal("a request handler panicked");
            answer::error(StatusCode::INTERNAL_SERVER_ERROR, &error, &id)
        });
        tracing::debug!(%method, route, status = response.status().as_u16(), took_ms = started.elapsed().as_millis(), "answered");
        response
    };
    let mut response = answered.instrument(span).await;
    dress(response.headers_mut(), &id);
    response
}

/// The headers of every answer. One that a route has set itself stays.
fn dress(headers: &mut HeaderMap, id: &RequestId) {
    if let Ok(id) = HeaderValue::from_str(id.as_str()) {
        headers.insert(X_REQUEST_ID, id);
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(X_REQUEST_ID, HeaderValue::from_bytes(given.as_bytes()).unwrap());
        RequestId::of(&headers).0
    }

    #[test]
    fn a_sane_id_is_kept_and_any_other_replaced() {
        assert_eq!(of("trace-1.a_b:c"), "trace-1.a_b:c");
        for bad in ["", "a b", "a\"b", "결제", &"x".repeat(129)] {
            let id = of(bad);
            assert!(uuid::Uuid::try_parse(&id).is_ok(), "{bad:?} gave {id:?}");
        }
    }
}
