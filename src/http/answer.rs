//! Error answers: one JSON shape, GraphQL's, for every route.

use axum::{
    Extension,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::request_id::RequestId;
use crate::graphql::{ApiError, error_body};

/// JSON that no cache keeps.
pub(super) fn json(status: StatusCode, body: impl Into<axum::body::Body>) -> Response {
    let mut response = (status, body.into()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

pub(super) fn error(status: StatusCode, error: &ApiError, request_id: &RequestId) -> Response {
    json(status, error_body(error, request_id.as_str()))
}

pub(super) fn unauthenticated(request_id: &RequestId) -> Response {
    let mut response = error(StatusCode::UNAUTHORIZED, &ApiError::unauthenticated(), request_id);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

pub(super) async fn not_found(Extension(request_id): Extension<RequestId>) -> Response {
    error(StatusCode::NOT_FOUND, &ApiError::not_found("There is nothing here."), &request_id)
}

pub(super) async fn method_not_allowed(Extension(request_id): Extension<RequestId>) -> Response {
    let refused = ApiError::bad_request("This method is not allowed here.");
    error(StatusCode::METHOD_NOT_ALLOWED, &refused, &request_id)
}
