//! `POST /graphql`. The token comes first: without one, not even the body is looked at.

use axum::{
    Extension,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};

use super::{Http, answer, body, request_id::RequestId, session};
use crate::{
    auth::{Principal, TokenError, bearer},
    graphql::{ApiError, Caller},
};

pub(super) async fn post(
    State(http): State<Http>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    request_body: Body,
) -> Response {
    let (principal, is_browser) = match authenticate(&http, &headers).await {
        Ok(known) => known,
        Err(Unknown::Token(error)) => return refuse_token(error, &request_id),
        Err(Unknown::Foreign) => {
            return answer::error(StatusCode::FORBIDDEN, &ApiError::forbidden(), &request_id);
        }
    };
    if !is_json(&headers) {
        return not_json(&request_id);
    }
    let bytes = match body::read(request_body, body::BODY_TIMEOUT).await {
        Ok(bytes) => bytes,
        Err(refused) => return answer::error(refused.status, &refused.error, &request_id),
    };
    let caller = Caller { principal, is_browser, request_id: request_id.as_str().to_owned() };
    let answered = http.api.execute(&bytes, &caller).await;
    let status = StatusCode::from_u16(answered.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer::json(status, answered.body)
}

/// Why nobody knows who asks.
enum Unknown {
    /// The token or the session is no good.
    Token(TokenError),
    /// There is a session, but not the console asks: a page of another site would send the cookie along.
    Foreign,
}

/// By the token if there is one, else by the console's cookie; tells whether it was the cookie.
async fn authenticate(http: &Http, headers: &HeaderMap) -> Result<(Principal, bool), Unknown> {
    if !headers.contains_key(header::AUTHORIZATION)
        && let Some(session) = http.sign_in.cookie(headers)
    {
        let principal = session.map_err(Unknown::Token)?;
        return if session::is_from_console(headers) { Ok((principal, true)) } else { Err(Unknown::Foreign) };
    }
    let principal = bearer_of(http, headers).await.map_err(Unknown::Token)?;
    Ok((principal, false))
}

/// The bearer of the request's one `Authorization` header.
pub(super) async fn bearer_of(http: &Http, headers: &HeaderMap) -> Result<Principal, TokenError> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let token = match (given.next(), given.next()) {
        (Some(only), None) => only.to_str().ok().and_then(bearer),
        _ => None,
    };
    (http.authenticate)(token.ok_or(TokenError::Malformed)?.to_owned()).await
}

/// What is answered to a token or a session that is no good.
pub(super) fn refuse_token(error: TokenError, request_id: &RequestId) -> Response {
    if error == TokenError::KeysUnavailable {
        let error = ApiError::internal(error);
        return answer::error(StatusCode::SERVICE_UNAVAILABLE, &error, request_id);
    }
    tracing::debug!(%error, "token refused");
    answer::unauthenticated(request_id)
}

pub(super) fn not_json(request_id: &RequestId) -> Response {
    let error = ApiError::bad_request("The content type must be application/json.");
    answer::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error, request_id)
}

/// `application/json`, with a charset if it is UTF-8; browsers cannot send it to us unasked.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = given.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let parameter_fits = |parameter: &str| {
        parameter.split_once('=').is_some_and(|(name, value)| {
            !name.trim().eq_ignore_ascii_case("charset")
                || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
    };
    essence.eq_ignore_ascii_case("application/json")
        && parts.filter(|part| !part.is_empty()).all(parameter_fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn only_json_is_json() {
        let json = |given: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(given));
            is_json(&headers)
        };
        for good in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\";"]
        {
            assert!(json(good), "{good}");
        }
        for bad in [
            "text/plain",
            "application/jsonx",
            "application/json; charset=latin1",
            "text/plain; application/json",
            "application/graphql",
            "",
        ] {
            assert!(!json(bad), "{bad}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
