//! Hecto, simulated (gateways.md §4): both names of its lookup, and its notices.

use aws_lc_rs::cipher::{
    AES_256, DecryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey, UnboundCipherKey,
};
use axum::{
    Router,
    body::Bytes,
    extract::{ConnectInfo, State},
    response::Response,
    routing::post,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    calls::Arrival,
    exchange::{Reply, exchange},
    line::Line,
    payverse::{hex, seoul},
    sales::{Sale, Standing, text},
    setup::SimulatorSetup,
    world::World,
};
use crate::types::clock;

/// The gateway's name in `/_control/…`.
pub(super) const GATEWAY: &str = "hecto";
/// Its operations' names in `/_control/…`.
pub(super) const OPERATIONS: [&str; 2] = ["lookup", "webhook"];

pub(super) fn router() -> Router<World> {
    Router::new()
        .route("/hecto/spay/APITrdStatInq.do", post(inquiry))
        .route("/hecto/spay/APITrdcheck.do", post(inquiry))
}

/// What is wrong with the request, as Hecto's code.
fn fault(setup: &SimulatorSetup, params: &Value, data: &Value) -> Option<&'static str> {
    let (param, field) = (|name: &str| text(params.get(name)), |name: &str| text(data.get(name)));
    if param("mchtId") != setup.hecto_merchant_id {
        return Some("1001");
    }
    let Some(amount) = decrypt(setup, &field("trdAmt")) else { return Some("1902") };
    let head = [param("trdDt"), param("trdTm"), param("mchtId"), param("mchtTrdNo")].concat();
    let hashes = [
        hash(setup, &[&head, &amount]),
        // Another page of Hecto's puts the method before the amount.
        hash(setup, &[&head, &field("method"), &amount]),
    ];
    (!hashes.contains(&field("pktHash"))).then_some("1901")
}

async fn inquiry(State(world): State<World>, ConnectInfo(line): ConnectInfo<Line>, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (mut params, data) = (body["params"].clone(), body["data"].clone());
    let setup = world.setup.clone();
    let order_id = text(data.get("orgMchtTrdNo"));
    let arrival = Arrival {
        gateway: GATEWAY,
        operation: "lookup",
        idempotency_key: None,
        order_id: Some(order_id.clone()),
        amount: decrypt(&setup, &text(data.get("trdAmt"))).and_then(|amount| amount.parse().ok()),
    };
    exchange(world, line, arrival, error, move |state| {
        let number = data.get("orgTrdNo").map(|number| text(Some(number)));
        let sale = state.sales.find(GATEWAY, |sale| {
            sale.order_id.as_deref() == Some(order_id.as_str())
                && number.as_ref().is_none_or(|number| *number == sale.transaction_id)
        });
        let (status, code, told) = match (fault(&setup, &params, &data), sale) {
            (Some(code), _) => ("0031", code, json!({})),
            (None, None) => ("0031", "CA10", json!({})),
            (None, Some(sale)) => told(&setup, sale),
        };
        if let Some(params) = params.as_object_mut() {
            params.insert("outStatCd".to_owned(), json!(status));
            params.insert("outRsltCd".to_owned(), json!(code));
            params.insert("outRsltMsg".to_owned(), json!(if code == "0000" { "OK" } else { "not so" }));
        }
        Reply::new(200, json!({ "params": params, "data": told }), code)
    })
    .await
}

/// Status, code and data of a payment.
fn told(setup: &SimulatorSetup, sale: &Sale) -> (&'static str, &'static str, Value) {
    let (status, code) = match sale.status {
        Standing::Paid => ("0021", "0000"),
        Standing::Cancelled => ("0021", "0001"),
        Standing::Declined => ("0021", "0009"),
        Standing::Pending | Standing::Unapproved => ("0041", "0000"),
    };
    let cancelled = if sale.status == Standing::Cancelled { sale.amount_text() } else { "0".to_owned() };
    let data = json!({
        "orgMchtTrdNo": sale.order_id,
        "trdNo": sale.transaction_id,
        "method": "CA",
        "trdAmt": encrypt(setup, &sale.amount_text()),
        "cnclAmt": encrypt(setup, &cancelled),
    });
    (status, code, data)
}

/// Hecto tells business errors under HTTP 200; only its gateway machines answer with another status.
fn error(status: u16, code: Option<&str>) -> Reply {
    match code {
        Some(code) => {
            let params =
                json!({ "outStatCd": "0031", "outRsltCd": code, "outRsltMsg": "the inquiry failed" });
            Reply::new(200, json!({ "params": params, "data": {} }), code)
        }
        None => Reply::new(status, Value::Null, &format!("HTTP_{status}")),
    }
}

/// A notice, as the form's fields.
pub(super) fn noti(setup: &SimulatorSetup, sale: &Sale) -> Vec<(&'static str, String)> {
    let moment = seoul(clock::now());
    let (kind, status) = match sale.status {
        Standing::Paid => ("B0", "0021"),
        Standing::Cancelled => ("C0", "0021"),
        Standing::Declined => ("B0", "0031"),
        Standing::Pending | Standing::Unapproved => ("B0", "0041"),
    };
    let merchant = sale.merchant.clone().unwrap_or_else(|| setup.hecto_merchant_id.clone());
    let (order_id, amount) = (sale.order_id.clone().unwrap_or_default(), sale.amount_text());
    let mut packet_hash = hash(setup, &[status, &moment, &merchant, &order_id, &amount]);
    if sale.is_forged("signature") {
        packet_hash = packet_hash.chars().rev().collect();
    }
    let mut fields = vec![
        ("outStatCd", status.to_owned()),
        ("trdNo", sale.transaction_id.clone()),
        ("method", "CA".to_owned()),
        ("bizType", kind.to_owned()),
        ("mchtId", merchant),
        ("mchtTrdNo", order_id),
        ("trdDtm", moment),
        ("trdAmt", amount),
        ("cardApprNo", "00000001".to_owned()),
        ("pktHash", packet_hash),
    ];
    if kind == "C0" {
        fields.push(("orgTrdNo", sale.transaction_id.clone()));
        fields.push(("cnclType", "00".to_owned()));
    }
    fields
}

fn hash(setup: &SimulatorSetup, fields: &[&str]) -> String {
    hex(&Sha256::digest(format!("{}{}", fields.concat(), setup.hecto_license_key)))
}

fn key(setup: &SimulatorSetup) -> Option<UnboundCipherKey> {
    UnboundCipherKey::new(&AES_256, setup.hecto_aes_key.as_bytes()).ok()
}

fn encrypt(setup: &SimulatorSetup, text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    PaddedBlockEncryptingKey::ecb_pkcs7(key(setup)?).ok()?.encrypt(&mut bytes).ok()?;
    Some(STANDARD.encode(bytes))
}

fn decrypt(setup: &SimulatorSetup, text: &str) -> Option<String> {
    let mut bytes = STANDARD.decode(text).ok()?;
    let key = PaddedBlockDecryptingKey::ecb_pkcs7(key(setup)?).ok()?;
    let plain = key.decrypt(&mut bytes, DecryptionContext::None).ok()?;
    String::from_utf8(plain.to_vec()).ok()
}
