//! Whether the process lives, and whether it can work.

use axum::{extract::State, http::StatusCode, response::Response};
use serde::Serialize;

use super::{Http, answer};

/// What the process needs, as it is now.
#[derive(Debug, Clone)]
pub struct Readiness {
    /// Without it nothing works: not ready.
    pub database: bool,
    /// Without it payments still work and events wait: told, but ready.
    pub broker: bool,
    /// False while a queue of ours is declared otherwise, which only a person can put right: not ready.
    pub consuming: bool,
    /// Anything else worth telling, by name: a queue that is not consumed, and why.
    pub detail: Vec<(String, String)>,
}

#[derive(Serialize)]
struct ReadinessJson<'a> {
    database: &'static str,
    broker: &'static str,
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    detail: std::collections::BTreeMap<&'a str, &'a str>,
}

pub(super) async fn alive() -> Response {
    answer::json(StatusCode::OK, r#"{"status":"up"}"#)
}

pub(super) async fn ready(State(http): State<Http>) -> Response {
    let ready = (http.readiness)().await;
    let status =
        if ready.database && ready.consuming { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = ReadinessJson {
        database: word(ready.database),
        broker: word(ready.broker),
        detail: ready.detail.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect(),
    };
    answer::json(status, serde_json::to_string(&body).unwrap_or_default())
}

fn word(up: bool) -> &'static str {
    if up { "up" } else { "down" }
}
