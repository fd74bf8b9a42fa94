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
use serde_json::{Map, Value, json};

use super::{
    apple, behaviours::BehaviourRequest, bootpay, google, hecto, payverse, sales::Sale, toss,
    webhooks::Webhook, world::World,
};

/// The gateways that exist here, with their operations.
const GATEWAYS: &[(&str, &[&str])] = &[
    (toss::GATEWAY, &toss::OPERATIONS),
    (payverse::GATEWAY, &payverse::OPERATIONS),
    (bootpay::GATEWAY, &bootpay::OPERATIONS),
    (hecto::GATEWAY, &hecto::OPERATIONS),
    (google::GATEWAY, &google::OPERATIONS),
    (apple::GATEWAY, &[]),
];

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
    let books = |state: &mut super::world::State| [state.toss.books(), state.sales.books()].concat();
    Json(world.with(books)).into_response()
}

/// A purchase that a user made in a gateway's own window; or, where its id is known, what became of it.
async fn purchase(State(world): State<World>, body: Bytes) -> Result<Json<Value>, Refused> {
    let request: Map<String, Value> = read(&body)?;
    match request.get("gateway").and_then(Value::as_str) {
        Some(toss::GATEWAY) => {
            let why = "toss has no window of its own: its payments are made by key-in";
            return Err(Refused(why.to_owned()));
        }
        Some(name) if GATEWAYS.iter().any(|(gateway, _)| *gateway == name) => {}
        name => return Err(no_such_gateway(name.unwrap_or("nameless"))),
    }
    let sale = world.with(|state| state.sales.put(request)).map_err(Refused)?;
    let answer = receipt(&world, &sale)?;
    if sale.webhook {
        Webhook::of(&world, &sale).map_err(Refused)?.send(&world);
    }
    Ok(Json(answer))
}

/// What the user's app would bring back.
fn receipt(world: &World, sale: &Sale) -> Result<Value, Refused> {
    let mut answer = json!({
        "gateway": sale.gateway,
        "orderId": sale.order_id,
        "transactionId": sale.transaction_id,
    });
    match sale.gateway.as_str() {
        google::GATEWAY => answer["purchaseToken"] = json!(sale.transaction_id),
        apple::GATEWAY => {
            let forgeries = &apple::FORGERIES;
            if let Some(forge) = sale.forge.as_deref().filter(|forge| !forgeries.contains(forge)) {
                let known = forgeries.join(", ");
                return Err(Refused(format!("what can be forged is {known}, not {forge}")));
            }
            let signed = world.keys.apple().and_then(|root| root.sign(&world.setup, sale).ok());
            let signed = signed.ok_or_else(|| Refused("this machine cannot sign".to_owned()))?;
            answer["signedTransaction"] = json!(signed);
        }
        _ => {}
    }
    Ok(answer)
}

async fn reset(State(world): State<World>) -> Json<Value> {
    world.reset();
    Json(json!({ "reset": true }))
}
