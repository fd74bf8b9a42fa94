//! Bootpay, simulated (gateways.md §3): token, receipt, approval by the server.

use axum::{
    Router,
    body::Bytes,
    extract::{ConnectInfo, Path, State},
    http::HeaderMap,
    response::Response,
    routing::{get, post},
};
use serde_json::{Value, json};

use super::{
    calls::Arrival,
    exchange::{Reply, exchange},
    line::Line,
    sales::{Sale, Standing, about, text},
    world::World,
};

/// The gateway's name in `/_control/…`.
pub(super) const GATEWAY: &str = "bootpay";
/// Its operations' names in `/_control/…`.
pub(super) const OPERATIONS: [&str; 3] = ["token", "lookup", "confirm"];

pub(super) fn router() -> Router<World> {
    Router::new()
        .route("/bootpay/v2/request/token", post(token))
        .route("/bootpay/v2/receipt/{receipt_id}", get(receipt))
        .route("/bootpay/v2/confirm", post(confirm))
}

fn arrival(operation: &'static str, about: (Option<String>, Option<i64>)) -> Arrival {
    Arrival { gateway: GATEWAY, operation, idempotency_key: None, order_id: about.0, amount: about.1 }
}

async fn token(State(world): State<World>, ConnectInfo(line): ConnectInfo<Line>, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let setup = world.setup.clone();
    let is_known = text(body.get("application_id")) == setup.bootpay_application_id
        && text(body.get("private_key")) == setup.bootpay_private_key;
    exchange(world, line, arrival("token", (None, None)), error, move |state| {
        if !is_known {
            return error(400, Some("APP_KEY_NOT_FOUND"));
        }
        let token = state.tokens.issue(GATEWAY);
        Reply::new(200, json!({ "access_token": token, "expire_in": 1800 }), "ISSUED")
    })
    .await
}

async fn receipt(
    State(world): State<World>,
    ConnectInfo(line): ConnectInfo<Line>,
    Path(receipt_id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let about = world.with(|state| about(state, GATEWAY, &receipt_id));
    exchange(world, line, arrival("lookup", about), error, move |state| {
        if !state.tokens.is_good(GATEWAY, &headers) {
            return error(401, None);
        }
        state.sales.get(GATEWAY, &receipt_id).map_or_else(|| error(404, None), found)
    })
    .await
}

async fn confirm(
    State(world): State<World>,
    ConnectInfo(line): ConnectInfo<Line>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let receipt_id = text(body.get("receipt_id"));
    let about = world.with(|state| about(state, GATEWAY, &receipt_id));
    exchange(world, line, arrival("confirm", about), error, move |state| {
        if !state.tokens.is_good(GATEWAY, &headers) {
            return error(401, None);
        }
        match state.sales.get(GATEWAY, &receipt_id).map(|sale| sale.status) {
            None => error(404, None),
            Some(Standing::Unapproved) => {
                let approved = state.sales.change(GATEWAY, &receipt_id, "status", json!("paid"));
                approved.map_or_else(
                    || error(500, None),
                    |sale| Reply { outcome: "APPROVED".to_owned(), ..found(&sale) },
                )
            }
            Some(_) => error(400, Some("RC_CONFIRM_ALREADY")),
        }
    })
    .await
}

fn error(status: u16, code: Option<&str>) -> Reply {
    let code = code.unwrap_or(match status {
        401 => "TOKEN_INVALID",
        404 => "RC_NOT_FOUND",
        _ => "RC_FAILED",
    });
    Reply::new(status, json!({ "error_code": code, "message": "the request failed" }), code)
}

fn found(sale: &Sale) -> Reply {
    let (status, locale) = match sale.status {
        Standing::Paid => (1, "결제완료"),
        Standing::Unapproved => (2, "승인대기"),
        Standing::Pending => (5, "입금대기"),
        Standing::Declined => (-2, "결제승인실패"),
        Standing::Cancelled => (20, "결제취소"),
    };
    let receipt = json!({
        "receipt_id": sale.transaction_id,
        "order_id": sale.order_id,
        "price": sale.amount,
        "tax_free": 0,
        "cancelled_price": if sale.status == Standing::Cancelled { sale.won() } else { 0 },
        "cancelled_tax_free": 0,
        "order_name": sale.title(),
        "sandbox": sale.sandbox,
        "pg": "simpg",
        "method": "카드",
        "method_symbol": "card",
        "currency": sale.currency(),
        "status": status,
        "status_locale": locale,
        "receipt_url": "https://sim.local/r/1",
        "card_data": { "card_company": "SIM", "card_no": "94100012****7890", "card_approve_no": "00000001", "card_quota": "0" },
    });
    Reply::new(200, receipt, &format!("{:?}", sale.status).to_uppercase())
}
