//! `/auth/…`: a browser signs in with a token and gets a sealed cookie, so that no script ever holds the token.

use std::time::Duration;

use axum::{
    Extension, Router,
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use serde::{Deserialize, Serialize};

use super::{Http, answer, body, graphql, origin, request_id::RequestId};
use crate::{
    auth::{DevLogin, Persona, Principal, Sessions, TokenError},
    graphql::ApiError,
};

/// `__Host-`: only this host sets it, only over a secure way, for every path.
const COOKIE: &str = "__Host-paydesk";
/// A page of another site cannot send it without asking first, and we never agree.
const X_PAYDESK_CONSOLE: HeaderName = HeaderName::from_static("x-paydesk-console");

/// How browsers sign in.
#[derive(Clone)]
pub struct SignIn {
    /// Seals and opens the cookie; none without a key, and nobody signs in.
    pub sessions: Option<Sessions>,
    /// Signs personas' tokens; none outside of development.
    pub dev_login: Option<DevLogin>,
    /// The deployment's name.
    pub environment: String,
}

impl SignIn {
    /// Whose cookie the request carries, if it carries one of ours.
    pub(super) fn cookie(&self, headers: &HeaderMap) -> Option<Result<Principal, TokenError>> {
        let sealed = cookie(headers)?;
        Some(self.sessions.as_ref().ok_or(TokenError::Malformed).and_then(|sessions| sessions.open(sealed)))
    }
}

/// The value of our cookie.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

/// Whether the console itself sends this: what a cookie is good for, and what changes one.
pub(super) fn is_from_console(headers: &HeaderMap) -> bool {
    let marked = headers.get(X_PAYDESK_CONSOLE).is_some_and(|value| value == "1");
    marked && is_from_own_page(headers)
}

/// A browser names the page that sends a POST or opens a websocket; nobody else has a cookie of ours.
pub(super) fn is_from_own_page(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN) && !origin::is_foreign(headers)
}

pub(super) fn routes() -> Router<Http> {
    Router::new()
        .route("/auth/me", get(me).fallback(answer::method_not_allowed))
        .route("/auth/session", post(sign_in).fallback(answer::method_not_allowed))
        .route("/auth/logout", post(sign_out).fallback(answer::method_not_allowed))
        .route("/auth/dev", get(personas).post(play).fallback(answer::method_not_allowed))
}

/// Who is signed in, and how one can sign in.
#[derive(Serialize)]
struct Me<'a> {
    viewer: Option<Viewer<'a>>,
    environment: &'a str,
    /// Whether `POST /auth/session` can make a session.
    sessions: bool,
    /// What `POST /auth/dev` takes.
    personas: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Viewer<'a> {
    subject: &'a str,
    name: Option<&'a str>,
    roles: Vec<&'static str>,
    expires_at: String,
}

/// Answers 200 also to those who are not signed in: it is the question whether they are.
async fn me(State(http): State<Http>, headers: HeaderMap) -> Response {
    let signed_in = http.sign_in.cookie(&headers).and_then(Result::ok);
    about(&http.sign_in, signed_in.as_ref())
}

fn about(sign_in: &SignIn, principal: Option<&Principal>) -> Response {
    let viewer = principal.map(|principal| Viewer {
        subject: principal.subject(),
        name: principal.name(),
        roles: principal.roles().iter().map(|role| role.as_str()).collect(),
        expires_at: principal.expires_at().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
    });
    let personas = sign_in.dev_login.iter().flat_map(|_| Persona::ALL).map(Persona::as_str).collect();
    let me = Me { viewer, environment: &sign_in.environment, sessions: sign_in.sessions.is_some(), personas };
    answer::json(StatusCode::OK, serde_json::to_string(&me).unwrap_or_default())
}

async fn sign_in(
    State(http): State<Http>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
) -> Response {
    if origin::is_foreign(&headers) {
        return answer::error(StatusCode::FORBIDDEN, &ApiError::forbidden(), &request_id);
    }
    match graphql::bearer_of(&http, &headers).await {
        Ok(principal) => open(&http.sign_in, &principal, &request_id),
        Err(error) => graphql::refuse_token(error, &request_id),
    }
}

/// Hands the browser its cookie.
fn open(sign_in: &SignIn, principal: &Principal, request_id: &RequestId) -> Response {
    if principal.reader().is_none() {
        return answer::error(StatusCode::FORBIDDEN, &ApiError::forbidden(), request_id);
    }
    let Some(sessions) = &sign_in.sessions else {
        let error = ApiError::not_found("Nobody can sign in here: PAYDESK_SESSION_KEY is not set.");
        return answer::error(StatusCode::NOT_FOUND, &error, request_id);
    };
    let Some(sealed) = sessions.seal(principal) else {
        return answer::unauthenticated(request_id);
    };
    // What is answered is what the cookie holds.
    let opened = sessions.open(&sealed.value).ok();
    let response = about(sign_in, opened.as_ref());
    with_cookie(response, &sealed.value, sealed.lasts)
}

fn with_cookie(mut response: Response, value: &str, lasts: Duration) -> Response {
    let seconds = lasts.as_secs();
    let cookie = format!("{COOKIE}={value}; Path=/; Max-Age={seconds}; HttpOnly; Secure; SameSite=Strict");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

async fn sign_out(Extension(request_id): Extension<RequestId>, headers: HeaderMap) -> Response {
    if !is_from_console(&headers) {
        return answer::error(StatusCode::FORBIDDEN, &ApiError::forbidden(), &request_id);
    }
    with_cookie(StatusCode::NO_CONTENT.into_response(), "", Duration::ZERO)
}

/// The personas are chosen on the console's own page.
async fn personas(State(http): State<Http>, Extension(request_id): Extension<RequestId>) -> Response {
    match http.sign_in.dev_login {
        Some(_) => Redirect::to("/sign-in").into_response(),
        None => answer::not_found(Extension(request_id)).await,
    }
}

#[derive(Deserialize)]
struct Play {
    persona: String,
}

/// Signs a token for the persona, and goes the same way with it as `POST /auth/session`.
async fn play(
    State(http): State<Http>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    request_body: Body,
) -> Response {
    let Some(dev_login) = &http.sign_in.dev_login else {
        return answer::not_found(Extension(request_id)).await;
    };
    if !is_from_console(&headers) || !origin::is_loopback(&headers) {
        return answer::error(StatusCode::FORBIDDEN, &ApiError::forbidden(), &request_id);
    }
    if !graphql::is_json(&headers) {
        return graphql::not_json(&request_id);
    }
    let bytes = match body::read(request_body, body::BODY_TIMEOUT).await {
        Ok(bytes) => bytes,
        Err(refused) => return answer::error(refused.status, &refused.error, &request_id),
    };
    let asked: Option<Play> = serde_json::from_slice(&bytes).ok();
    let Some(persona) = asked.and_then(|asked| Persona::parse(&asked.persona)) else {
        let error = ApiError::bad_user_input(["persona"], "The persona must be admin or operator.");
        return answer::error(StatusCode::BAD_REQUEST, &error, &request_id);
    };
    let token = match dev_login.token(persona) {
        Ok(token) => token,
        Err(error) => {
            let error = ApiError::internal(error);
            return answer::error(StatusCode::INTERNAL_SERVER_ERROR, &error, &request_id);
        }
    };
    match (http.authenticate)(token).await {
        Ok(principal) => open(&http.sign_in, &principal, &request_id),
        Err(error) => graphql::refuse_token(error, &request_id),
    }
}
