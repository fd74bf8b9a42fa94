//! One call to a gateway from start to end, as the behaviours bend it. Toss has a conversation of its own, because of
//! its idempotency keys.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::Value;

use super::{
    behaviours::{ForcedError, Plan},
    calls::Arrival,
    line::Line,
    world::{State, World},
};

/// An answer as it goes out.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Value,
    /// What `/_control/calls` says of it.
    pub(super) outcome: String,
}

impl Reply {
    pub(super) fn new(status: u16, body: Value, outcome: &str) -> Self {
        Self { status, body, outcome: outcome.to_owned() }
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = if self.body.is_null() { String::new() } else { self.body.to_string() };
        (status, [(header::CONTENT_TYPE, "application/json; charset=utf-8")], body).into_response()
    }
}

/// Does `work` and answers with what came of it, unless a behaviour asks for something else. `error` makes the
/// gateway's error of a behaviour's status and code. The work runs in a task of its own, so that it finishes even when
/// the client leaves.
pub(super) async fn exchange(
    world: World,
    line: Line,
    arrival: Arrival,
    error: fn(u16, Option<&str>) -> Reply,
    work: impl FnOnce(&mut State) -> Reply + Send + 'static,
) -> Response {
    let tasks = world.tasks.clone();
    match tasks.spawn(run(world, arrival, error, work)).await {
        Ok(Some(reply)) => reply.into_response(),
        Ok(None) => line.cut(),
        Err(_ended_early) => error(500, None).into_response(),
    }
}

/// The answer, or none where the connection is to be cut.
async fn run(
    world: World,
    arrival: Arrival,
    error: fn(u16, Option<&str>) -> Reply,
    work: impl FnOnce(&mut State) -> Reply,
) -> Option<Reply> {
    let (call, plan, reply) = world.with(|state| {
        let plan = state.behaviours.take(arrival.gateway, arrival.operation).unwrap_or(Plan::ORDINARY);
        let call = state.calls.begin(arrival);
        let truth = plan.effect.then(|| work(state));
        let forced = plan.error.as_ref().map(|forced| forced_reply(forced, error));
        (call, plan, forced.or(truth).unwrap_or_else(|| error(500, None)))
    });
    world.pause(plan.delay).await;
    let outcome = if plan.drop { "DROPPED" } else { reply.outcome.as_str() };
    world.with(|state| state.calls.finish(call, outcome));
    (!plan.drop).then_some(reply)
}

fn forced_reply(forced: &ForcedError, error: fn(u16, Option<&str>) -> Reply) -> Reply {
    error(forced.status.unwrap_or(400), forced.code.as_deref())
}
