//! `/_control/…`: makes the gateways misbehave, and opens their books.

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{behaviours::BehaviourRequest, toss, world::World};

/// The gateways that exist here, with their operations.
const GATEWAYS: &[(&str, &[&str])] = &[(toss::GATEWAY, &toss::OPERATIONS)];

pub(super) fn router() -> Router<World> {
    Router::new()
        .route("/_control/behaviours", post(add_behaviour))
        .route("/_control/calls", get(calls))
        .route("/_control/payments", get(payments))
        .route("/_control/purchases", post(purchase))
        .route("/_control/reset", post(reset))
}

/// A request that cannot be met, in words for whoever wrote it.
struct Refused(String);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let body = json!({ "code": "INVALID_CONTROL_REQUEST", "message": self.0 });
        (StatusCode::BAD_REQUEST, Json(body)).into_response()
    }
}

/// Reads JSON whatever its content type says: these routes are typed by hand.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|error| Refused(format!("not a request for this route: {error}")))
}

async fn add_behaviour(State(world): State<World>, body: Bytes) -> Result<Json<Value>, Refused> {
    let request: BehaviourRequest = read(&body)?;
    let operations = GATEWAYS
        .iter()
        .find(|(gateway, _)| *gateway == request.gateway)
        .map(|(_, operations)| *operations)
        .ok_or_else(|| no_such_gateway(&request.gateway))?;
    if !operations.contains(&request.operation.as_str()) {
        let known = operations.join(", ");
        return Err(Refused(format!(
            "{} has the operations {known}, not {}",
            request.gateway, request.operation
        )));
    }
    request.check().map_err(Refused)?;
    world.with(|state| state.behaviours.add(&request));
    Ok(Json(json!({
        "gateway": request.gateway,
        "operation": request.operation,
        "times": request.times(),
    })))
}

fn no_such_gateway(name: &str) -> Refused {
    let known: Vec<&str> = GATEWAYS.iter().map(|(gateway, _)| *gateway).collect();
    Refused(format!("the gateways here are {}, not {name}", known.join(", ")))
}

#[derive(Deserialize)]
struct CallsQuery {
    gateway: Option<String>,
}

async fn calls(State(world): State<World>, Query(query): Query<CallsQuery>) -> Response {
    Json(world.with(|state| state.calls.list(query.gateway.as_deref()))).into_response()
}

async fn payments(State(world): State<World>) -> Response {
    Json(world.with(|state| state.toss.books())).into_response()
}

#[derive(Deserialize)]
struct PurchaseRequest {
    gateway: String,
}

/// Purchases in a gateway's own window: none of the gateways here has one.
async fn purchase(body: Bytes) -> Refused {
    match read::<PurchaseRequest>(&body) {
        Ok(request) if request.gateway == toss::GATEWAY => {
            Refused("toss has no window of its own: its payments are made by key-in".to_owned())
        }
        Ok(request) => no_such_gateway(&request.gateway),
        Err(refused) => refused,
    }
}

async fn reset(State(world): State<World>) -> Json<Value> {
    world.reset();
    Json(json!({ "reset": true }))
}
