//! Toss Payments, simulated (gateways.md §1): key-in, cancel, lookup, idempotency keys, test codes, magic cards.
//!
//! Left out, because they would only make tests slow or flaky: the limit of 100 requests a minute and the pause of a
//! second between two cancels of one payment. Their codes can be asked for with `/_control/behaviours`.
//! Idempotency keys live as long as the process, which is assumed to be less than Toss's 15 days.

mod cancel;
mod conversation;
mod envelope;
mod fault;
mod key_in;
mod ledger;
mod operation;
mod replays;

use axum::{
    Router,
    body::Bytes,
    extract::{ConnectInfo, Path, State},
    http::{HeaderMap, Uri},
    response::Response,
    routing::{get, post},
};
use serde_json::Value;

use super::{line::Line, world::World};
use conversation::converse;
use envelope::Envelope;
use ledger::{Ledger, Reference};
use operation::Operation;
use replays::Replays;

/// The gateway's name in `/_control/…`.
pub(super) const GATEWAY: &str = "toss";
/// Its operations' names in `/_control/…`.
pub(super) const OPERATIONS: [&str; 3] = ["key-in", "cancel", "lookup"];

/// Everything Toss knows.
#[derive(Debug, Default)]
pub(super) struct Toss {
    ledger: Ledger,
    replays: Replays,
}

impl Toss {
    /// The books, for `/_control/payments`.
    pub(super) fn books(&self) -> Vec<Value> {
        self.ledger.books()
    }
}

pub(super) fn router() -> Router<World> {
    Router::new()
        .route("/toss/v1/payments/key-in", post(key_in))
        .route("/toss/v1/payments/{paymentKey}/cancel", post(cancel))
        .route("/toss/v1/payments/{paymentKey}", get(lookup))
        .route("/toss/v1/payments/orders/{orderId}", get(lookup_by_order))
}

async fn key_in(
    State(world): State<World>,
    ConnectInfo(line): ConnectInfo<Line>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    converse(world, line, Envelope::post(&headers, &uri), Operation::KeyIn(json(&body))).await
}

async fn cancel(
    State(world): State<World>,
    ConnectInfo(line): ConnectInfo<Line>,
    Path(payment_key): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let operation = Operation::Cancel { payment_key, body: json(&body) };
    converse(world, line, Envelope::post(&headers, &uri), operation).await
}

async fn lookup(
    State(world): State<World>,
    ConnectInfo(line): ConnectInfo<Line>,
    Path(payment_key): Path<String>,
    headers: HeaderMap,
) -> Response {
    let operation = Operation::Lookup(Reference::PaymentKey(payment_key));
    converse(world, line, Envelope::get(&headers), operation).await
}

async fn lookup_by_order(
    State(world): State<World>,
    ConnectInfo(line): ConnectInfo<Line>,
    Path(order_id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let operation = Operation::Lookup(Reference::OrderId(order_id));
    converse(world, line, Envelope::get(&headers), operation).await
}

/// A body that is not JSON becomes null, which the operation refuses as it refuses missing fields.
fn json(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_default()
}
