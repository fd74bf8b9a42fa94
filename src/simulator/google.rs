//! Google Play, simulated (gateways.md §6): access tokens for a service account of its own, purchases, consuming.

use std::collections::HashMap;

use aws_lc_rs::{
    rsa::KeySize,
    signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey},
};
use axum::{
    Router,
    body::Bytes,
    extract::{ConnectInfo, Path, State},
    http::HeaderMap,
    response::Response,
    routing::{get, post},
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    calls::Arrival,
    exchange::{Reply, exchange},
    line::Line,
    payverse::hex,
    sales::{Sale, Standing, about},
    world::World,
};
use crate::types::clock;

/// The gateway's name in `/_control/…`.
pub(super) const GATEWAY: &str = "google";
/// Its operations' names in `/_control/…`.
pub(super) const OPERATIONS: [&str; 3] = ["token", "lookup", "consume"];

const EMAIL: &str = "paydesk@sim.iam.gserviceaccount.com";
const SCOPE: &str = "https://www.googleapis.com/auth/androidpublisher";
const PURCHASE: &str =
    "/google/androidpublisher/v3/applications/{package}/purchases/products/{product}/tokens/{token}";

pub(super) fn router() -> Router<World> {
    Router::new().route("/google/token", post(token)).route(PURCHASE, get(lookup).post(consume))
}

/// The service account's key, made at start and thrown away.
#[derive(Debug)]
pub(super) struct ServiceAccount {
    private_der: Vec<u8>,
    public: Vec<u8>,
}

impl ServiceAccount {
    pub(super) fn generate() -> Option<Self> {
        let pair = aws_lc_rs::rsa::KeyPair::generate(KeySize::Rsa2048).ok()?;
        let private: aws_lc_rs::encoding::Pkcs8V1Der<'_> = aws_lc_rs::encoding::AsDer::as_der(&pair).ok()?;
        Some(Self { private_der: private.as_ref().to_vec(), public: pair.public_key().as_ref().to_vec() })
    }

    /// The key file, as Google's console gives it out.
    pub(super) fn key_file(&self, base_url: &str) -> String {
        let encoded = STANDARD.encode(&self.private_der);
        let mut pem = "-----BEGIN PRIVATE KEY-----\n".to_owned();
        for (index, letter) in encoded.chars().enumerate() {
            if index > 0 && index % 64 == 0 {
                pem.push('\n');
            }
            pem.push(letter);
        }
        pem.push_str("\n-----END PRIVATE KEY-----\n");
        let file = json!({
            "type": "service_account",
            "project_id": "sim",
            "private_key_id": "sim",
            "private_key": pem,
            "client_email": EMAIL,
            "token_uri": format!("{base_url}/google/token"),
        });
        format!("{file:#}\n")
    }

    /// What is wrong with an assertion.
    fn fault(&self, assertion: &str) -> Option<&'static str> {
        let (message, signature) = assertion.rsplit_once('.')?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).unwrap_or_default();
        let payload = message.split_once('.').map_or("", |(_, payload)| payload);
        let claims: Value = serde_json::from_slice(&decode(payload)).unwrap_or_default();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &self.public);
        if key.verify(message.as_bytes(), &decode(signature)).is_err() {
            return Some("Invalid JWT Signature.");
        }
        let (issued, ends) = (claims["iat"].as_i64().unwrap_or(0), claims["exp"].as_i64().unwrap_or(0));
        let now = clock::now().timestamp();
        let is_timely = issued <= now && ends > now && ends <= issued + 3600;
        if !is_timely {
            return Some(
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.",
            );
        }
        let audience = claims["aud"].as_str().unwrap_or_default();
        let is_ours =
            claims["iss"] == EMAIL && claims["scope"] == SCOPE && audience.ends_with("/google/token");
        (!is_ours).then_some("Invalid issuer, scope or audience.")
    }
}

fn arrival(operation: &'static str, about: (Option<String>, Option<i64>)) -> Arrival {
    Arrival { gateway: GATEWAY, operation, idempotency_key: None, order_id: about.0, amount: about.1 }
}

async fn token(State(world): State<World>, ConnectInfo(line): ConnectInfo<Line>, body: Bytes) -> Response {
    let form: HashMap<String, String> = form_urlencoded::parse(&body).into_owned().collect();
    let assertion = form.get("assertion").cloned().unwrap_or_default();
    let fault = match world.keys.google() {
        Some(account) if assertion.contains('.') => account.fault(&assertion),
        _ => Some("Invalid JWT."),
    };
    exchange(world, line, arrival("token", (None, None)), oauth_error, move |state| match fault {
        Some(description) => {
            let body = json!({ "error": "invalid_grant", "error_description": description });
            Reply::new(400, body, "invalid_grant")
        }
        None => {
            let token = state.tokens.issue(GATEWAY);
            let body = json!({ "access_token": token, "expires_in": 3599, "token_type": "Bearer" });
            Reply::new(200, body, "ISSUED")
        }
    })
    .await
}

/// Package, product and purchase token.
type Place = (String, String, String);

async fn lookup(
    State(world): State<World>,
    ConnectInfo(line): ConnectInfo<Line>,
    Path(place): Path<Place>,
    headers: HeaderMap,
) -> Response {
    let about = world.with(|state| about(state, GATEWAY, &place.2));
    let package = world.setup.google_package_name.clone();
    exchange(world, line, arrival("lookup", about), error, move |state| {
        if !state.tokens.is_good(GATEWAY, &headers) {
            return error(401, None);
        }
        match found(state.sales.get(GATEWAY, &place.2), &place, &package) {
            Ok(sale) => Reply::new(200, product(sale), &format!("{:?}", sale.status).to_uppercase()),
            Err(reply) => reply,
        }
    })
    .await
}

async fn consume(
    State(world): State<World>,
    ConnectInfo(line): ConnectInfo<Line>,
    Path((package, product, action)): Path<Place>,
    headers: HeaderMap,
) -> Response {
    let token = action.strip_suffix(":consume").unwrap_or_default().to_owned();
    let place = (package, product, token);
    let about = world.with(|state| about(state, GATEWAY, &place.2));
    let package = world.setup.google_package_name.clone();
    exchange(world, line, arrival("consume", about), error, move |state| {
        if !state.tokens.is_good(GATEWAY, &headers) {
            return error(401, None);
        }
        match found(state.sales.get(GATEWAY, &place.2), &place, &package) {
            Err(reply) => reply,
            Ok(sale) if sale.consumed || sale.status != Standing::Paid => {
                error(400, Some("purchaseNotConsumable"))
            }
            Ok(_) => {
                state.sales.change(GATEWAY, &place.2, "consumed", json!(true));
                Reply::new(200, Value::Null, "CONSUMED")
            }
        }
    })
    .await
}

/// The purchase, if the path names it rightly.
fn found<'a>(sale: Option<&'a Sale>, place: &Place, package: &str) -> Result<&'a Sale, Reply> {
    let sale = sale.ok_or_else(|| error(404, Some("purchaseTokenNotFound")))?;
    if place.0 != sale.app.as_deref().unwrap_or(package) {
        return Err(error(404, Some("applicationNotFound")));
    }
    if sale.sku.as_deref() != Some(place.1.as_str()) {
        return Err(error(400, Some("purchaseTokenDoesNotMatchProductId")));
    }
    Ok(sale)
}

/// An order id that does not tell the token.
fn order_of(token: &str) -> String {
    let digest = hex(&Sha256::digest(token));
    format!("GPA.{}", digest.get(..16).unwrap_or_default())
}

fn product(sale: &Sale) -> Value {
    let state = match sale.status {
        Standing::Paid | Standing::Unapproved => 0,
        Standing::Cancelled | Standing::Declined => 1,
        Standing::Pending => 2,
    };
    let mut product = json!({
        "kind": "androidpublisher#productPurchase",
        "purchaseTimeMillis": "1767582000000",
        "purchaseState": state,
        "consumptionState": i32::from(sale.consumed),
        "acknowledgementState": i32::from(sale.consumed),
        "orderId": sale.store_order_id.clone().unwrap_or_else(|| order_of(&sale.transaction_id)),
        "regionCode": "KR",
    });
    let kind = sale.purchase_type.or(sale.sandbox.then_some(0));
    let optional = [
        ("purchaseType", kind.map(|kind| json!(kind))),
        ("quantity", sale.quantity.map(|quantity| json!(quantity))),
        ("obfuscatedExternalAccountId", sale.account_token.as_ref().map(|token| json!(token))),
    ];
    if let Some(product) = product.as_object_mut() {
        let there = optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        product.extend(there);
    }
    product
}

fn error(status: u16, code: Option<&str>) -> Reply {
    let reason = code.unwrap_or(match status {
        401 => "authError",
        403 => "permissionDenied",
        404 => "purchaseTokenNotFound",
        410 => "purchaseTokenNoLongerValid",
        429 => "rateLimitExceeded",
        500.. => "backendError",
        _ => "invalid",
    });
    let message = "The request failed.";
    let errors = json!([{ "domain": "androidpublisher", "reason": reason, "message": message }]);
    let body = json!({ "error": { "code": status, "message": message, "errors": errors } });
    Reply::new(status, body, reason)
}

fn oauth_error(status: u16, code: Option<&str>) -> Reply {
    let code = code.unwrap_or("invalid_grant");
    Reply::new(status, json!({ "error": code, "error_description": "the request failed" }), code)
}
