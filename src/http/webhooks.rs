//! `POST /webhooks/payverse` and `POST /webhooks/hecto`: what gateways tell by themselves. They bear no token; what they
//! say counts only as far as their signature and the gateway's own books go.

use axum::{
    Extension, Router,
    body::Body,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};

use super::{answer, body, request_id::RequestId};
use crate::{
    charges::{Charges, NoticeError, Noticed},
    gateways::PaymentGateway,
};

/// The routes of the webhooks.
pub fn webhooks(charges: Charges) -> Router {
    Router::new()
        .route("/webhooks/payverse", post(payverse).fallback(answer::method_not_allowed))
        .route("/webhooks/hecto", post(hecto).fallback(answer::method_not_allowed))
        .with_state(charges)
}

/// Payverse reads JSON.
async fn payverse(
    State(charges): State<Charges>,
    Extension(request_id): Extension<RequestId>,
    request_body: Body,
) -> Response {
    match take_in(&charges, PaymentGateway::Payverse, &request_id, request_body).await {
        Ok(()) => answer::json(StatusCode::OK, r#"{"receiveResult":"SUCCESS"}"#),
        Err((status, message)) => {
            let fail = serde_json::json!({ "receiveResult": "FAIL", "message": message });
            answer::json(status, fail.to_string())
        }
    }
}

/// Hecto reads one word.
async fn hecto(
    State(charges): State<Charges>,
    Extension(request_id): Extension<RequestId>,
    request_body: Body,
) -> Response {
    let (status, word) = match take_in(&charges, PaymentGateway::Hecto, &request_id, request_body).await {
        Ok(()) => (StatusCode::OK, "OK"),
        Err((status, _message)) => (status, "FAIL"),
    };
    let content_type = [(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))];
    (status, content_type, word).into_response()
}

/// Acknowledges what need not be sent again, whatever it came to; the gateway sends everything else again.
async fn take_in(
    charges: &Charges,
    gateway: PaymentGateway,
    request_id: &RequestId,
    request_body: Body,
) -> Result<(), (StatusCode, &'static str)> {
    let request_id = request_id.as_str();
    let gateway_name = gateway.as_str();
    let Ok(bytes) = body::read(request_body, body::BODY_TIMEOUT).await else {
        return Err((StatusCode::BAD_REQUEST, "the body was not taken"));
    };
    match charges.notice(gateway, bytes.into()).await {
        Ok(Noticed::Completed | Noticed::Reversed | Noticed::Nothing) => Ok(()),
        Ok(Noticed::Refused(refused)) => {
            let code = refused.code.as_str();
            tracing::warn!(gateway = gateway_name, request_id, code, "a notice completes no charge");
            Ok(())
        }
        Err(NoticeError::GatewayUnavailable) => {
            Err((StatusCode::SERVICE_UNAVAILABLE, "the gateway is not configured"))
        }
        Err(NoticeError::Invalid(why)) => {
            tracing::warn!(gateway = gateway_name, request_id, %why, "a notice that is not the gateway's word");
            Err((StatusCode::BAD_REQUEST, "the notice is not valid"))
        }
        Err(NoticeError::UnknownOrder) => {
            tracing::warn!(gateway = gateway_name, request_id, "a notice about an order that is not ours");
            Err((StatusCode::NOT_FOUND, "no such order"))
        }
        Err(NoticeError::TryAgain(why)) => {
            tracing::warn!(gateway = gateway_name, request_id, %why, "a notice that cannot be confirmed now");
            Err((StatusCode::SERVICE_UNAVAILABLE, "it cannot be confirmed now; send it again"))
        }
        Err(error @ (NoticeError::Database(_) | NoticeError::TaskLost)) => {
            tracing::error!(gateway = gateway_name, request_id, %error, "a notice was not taken in");
            Err((StatusCode::SERVICE_UNAVAILABLE, "send it again"))
        }
    }
}
