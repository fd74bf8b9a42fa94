//! Payverse, simulated (gateways.md §2): its lookup, whose form is a guess there, and its webhooks.

use axum::{
    Router,
    body::Bytes,
    extract::{ConnectInfo, State},
    http::HeaderMap,
    response::Response,
    routing::post,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

use super::{
    calls::Arrival,
    exchange::{Reply, exchange},
    line::Line,
    sales::{Sale, Standing, text},
    setup::SimulatorSetup,
    world::World,
};
use crate::types::{Instant, clock};

/// The gateway's name in `/_control/…`.
pub(super) const GATEWAY: &str = "payverse";
/// Its operations' names in `/_control/…`.
pub(super) const OPERATIONS: [&str; 2] = ["lookup", "webhook"];

pub(super) fn router() -> Router<World> {
    Router::new().route("/payverse/payment/inquiry", post(inquiry))
}

async fn inquiry(
    State(world): State<World>,
    ConnectInfo(line): ConnectInfo<Line>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let field = |name: &str| text(body.get(name));
    let header =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let setup = world.setup.clone();
    let (order_id, tid) = (field("orderId"), body.get("tid").map(|tid| text(Some(tid))));
    let expected = sign(&setup.payverse_secret_key, &[&setup.payverse_mid, &order_id, &field("reqDate")]);
    let is_merchant = header("mid") == setup.payverse_mid && header("clientkey") == setup.payverse_client_key;
    let is_authentic = is_merchant && field("sign") == expected;
    let arrival = Arrival {
        gateway: GATEWAY,
        operation: "lookup",
        idempotency_key: None,
        order_id: Some(order_id.clone()),
        amount: None,
    };
    exchange(world, line, arrival, error, move |state| {
        if !is_authentic {
            return error(401, None);
        }
        let sale = state.sales.find(GATEWAY, |sale| {
            sale.order_id.as_deref() == Some(order_id.as_str())
                && tid.as_ref().is_none_or(|tid| *tid == sale.transaction_id)
        });
        sale.map_or_else(
            || error(404, None),
            |sale| Reply::new(200, record(&setup, sale, false), &format!("{:?}", sale.status).to_uppercase()),
        )
    })
    .await
}

fn error(status: u16, code: Option<&str>) -> Reply {
    let code = code.map_or_else(|| format!("9{status}"), str::to_owned);
    let body = json!({ "resultStatus": "FAIL", "resultCode": code, "resultMessage": "the inquiry failed" });
    Reply::new(status, body, &code)
}

/// A payment as the lookup and the webhook tell it. A webhook can be forged where the signature does not cover it.
pub(super) fn record(setup: &SimulatorSetup, sale: &Sale, forged: bool) -> Value {
    let now = seoul(clock::now());
    let (day, time) = (now.get(..8).unwrap_or_default(), now.get(8..).unwrap_or_default());
    let (order_id, amount) = (sale.order_id.clone().unwrap_or_default(), sale.amount_text());
    let mid = sale.merchant.as_deref().unwrap_or(&setup.payverse_mid);
    let (kind, status) = match sale.status {
        _ if forged && sale.is_forged("status") => ("Sale", "SUCCESS"),
        Standing::Paid => ("Sale", "SUCCESS"),
        Standing::Cancelled => ("Refund", "SUCCESS"),
        Standing::Pending | Standing::Unapproved => ("Sale", "PENDING"),
        Standing::Declined => ("Sale", "DECLINE"),
    };
    let mut sign = sign(&setup.payverse_secret_key, &[mid, &order_id, &amount, day]);
    if forged && sale.is_forged("signature") {
        sign = sign.chars().rev().collect();
    }
    let succeeded = status == "SUCCESS";
    let mut record = json!({
        "type": kind,
        "mid": mid,
        "tid": sale.transaction_id,
        "schemeGroup": "CARD",
        "schemeCode": "SIM",
        "orderId": order_id,
        "productName": sale.title(),
        "requestCurrency": sale.currency(),
        "requestAmount": amount,
        "installmentMonths": "00",
        "resultStatus": status,
        "resultCode": if succeeded { "0000" } else { "9000" },
        "resultMessage": if succeeded { "OK" } else { "not approved" },
        "mallReserved": "",
        "sign": sign,
    });
    if let (Some(record), Some(moved)) = (record.as_object_mut(), moved(sale, kind, day, time).as_object()) {
        record.extend(moved.iter().filter(|_| succeeded).map(|(name, value)| (name.clone(), value.clone())));
    }
    record
}

/// The money that moved, in the words of a sale or of a refund.
fn moved(sale: &Sale, kind: &str, day: &str, time: &str) -> Value {
    let amount = sale.approved_amount.as_ref().or(sale.amount.as_ref());
    let (amount, currency) = (text(amount), sale.currency());
    match kind {
        "Refund" => json!({
            "cancelCurrency": currency, "cancelAmount": amount, "cancelDay": day, "cancelTime": time,
        }),
        _ => json!({
            "approvalNo": "00000001", "approvalCurrency": currency, "approvalAmount": amount,
            "approvalDay": day, "approvalTime": time,
        }),
    }
}

/// A plain SHA-512 over the fields in double bars.
fn sign(key: &str, fields: &[&str]) -> String {
    hex(&Sha512::digest(format!("||{key}||{}||", fields.join("||"))))
}

/// Bytes in lowercase hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A moment as Korean gateways write it: `20260105120000`.
pub(super) fn seoul(at: Instant) -> String {
    (at + chrono::TimeDelta::hours(9)).format("%Y%m%d%H%M%S").to_string()
}
