//! The simulated gateways that can is bought at, and a member's way through a purchase.

use std::{path::PathBuf, time::Duration};

use paydesk::{
    httpclient::HttpClient,
    simulator::{RunningSimulator, Simulator},
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{api::Actor, app::TestAppBuilder};

/// Asks for a charge.
pub const REQUEST: &str = "mutation ($input: RequestChargeInput!) { requestCharge(input: $input) {
    charge { id orderId can price container title currency status paymentStatus paymentGateway flowId member { id } }
    checkout { gateway endpoint fields { name value } } replayed userErrors { code message field } } }";
/// What every way in answers with.
const ANSWER: &str = "charge { id orderId paymentStatus gatewayTransactionId method completedAt } replayed userErrors { code message field }";

/// The five gateways, over real HTTP.
pub struct Shop {
    pub running: RunningSimulator,
    http: HttpClient,
    /// Files that the settings name: Apple's root, Google's service account.
    folder: PathBuf,
}

impl Shop {
    pub async fn start() -> Self {
        let running = Simulator::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let folder = std::env::temp_dir().join(format!("paydesk-shop-{}", Uuid::new_v4().simple()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("apple.pem"), running.apple_root().unwrap()).unwrap();
        std::fs::write(folder.join("google.json"), running.google_service_account().unwrap()).unwrap();
        Self { running, http: HttpClient::new(Duration::from_secs(10), None).unwrap(), folder }
    }

    /// Flags and values for a server that sells here.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let url = |path: &str| format!("{}{path}", self.running.base_url());
        let file = |name: &str| self.folder.join(name).display().to_string();
        vec![
            ("payverse-url", url("/payverse")),
            ("payverse-mid", "SIM_KRW_01".to_owned()),
            ("payverse-client-key", "sim_client_key01".to_owned()),
            ("payverse-secret-key", "sim_secret_key01".to_owned()),
            ("bootpay-url", url("/bootpay/v2")),
            ("bootpay-application-id", "sim_application_01".to_owned()),
            ("bootpay-private-key", "sim_private_key01".to_owned()),
            ("hecto-url", url("/hecto")),
            ("hecto-merchant-id", "sim_card_il".to_owned()),
            ("hecto-license-key", "SIMLICENSEKEY0001".to_owned()),
            ("hecto-aes-key", "simAes256KeySimAes256KeySimAes25".to_owned()),
            ("apple-root-cert-file", file("apple.pem")),
            ("apple-bundle-id", "kr.sim.coin".to_owned()),
            ("google-url", url("/google")),
            ("google-token-url", url("/google/token")),
            ("google-service-account-file", file("google.json")),
            ("google-package-name", "kr.sim.coin".to_owned()),
        ]
    }

    /// A purchase in the gateway's own window (interfaces.md, "Simulator"): what there is to verify with.
    pub async fn buy(&self, purchase: Value) -> String {
        let answer = self.control("purchases", &purchase).await;
        let named = ["transactionId", "purchaseToken", "signedTransaction"];
        let found = named.iter().rev().find_map(|name| answer[*name].as_str());
        found.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The next calls behave so.
    pub async fn behave(&self, behaviour: Value) {
        self.control("behaviours", &behaviour).await;
    }

    /// Every call to a gateway, oldest first.
    pub async fn calls(&self, gateway: &str, operation: &str) -> Vec<Value> {
        let url = format!("{}/_control/calls?gateway={gateway}", self.running.base_url());
        let answer = self.http.get(&url, &[]).await.unwrap();
        let calls: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
        calls.into_iter().filter(|call| call["operation"] == operation).collect()
    }

    /// The gateways' books: every purchase with what was taken and given back.
    pub async fn books(&self) -> Vec<Value> {
        let url = format!("{}/_control/payments", self.running.base_url());
        serde_json::from_slice(&self.http.get(&url, &[]).await.unwrap().body).unwrap()
    }

    async fn control(&self, what: &str, body: &Value) -> Value {
        let url = format!("{}/_control/{what}", self.running.base_url());
        let answer = self.http.post_json(&url, &[], body.to_string().into_bytes()).await.unwrap();
        assert!(answer.status < 300, "{body}: {}", String::from_utf8_lossy(&answer.body));
        serde_json::from_slice(&answer.body).unwrap_or(Value::Null)
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.folder);
    }
}

impl TestAppBuilder {
    /// Sells at these gateways.
    pub fn shop(self, shop: &Shop) -> Self {
        shop.settings().into_iter().fold(self, |builder, (flag, value)| builder.set(flag, value))
    }
}

/// A new member's id.
pub async fn member(actor: &Actor) -> String {
    let query =
        "mutation { upsertMember(input: { nickname: \"Kim\" }) { member { id } userErrors { code } } }";
    let data = actor.data(query, json!({})).await;
    data["upsertMember"]["member"]["id"].as_str().unwrap().to_owned()
}

/// The variables of a request.
pub fn request(key: &str, member: &str, gateway: &str, sku: &str) -> Value {
    json!({ "input": { "idempotencyKey": key, "memberId": member, "sku": sku, "paymentGateway": gateway } })
}

/// A charge of 100 can (11,000 won) in REQUEST.
pub async fn requested(actor: &Actor, member: &str, gateway: &str) -> Value {
    let variables = request(&Uuid::new_v4().to_string(), member, gateway, "coin_100");
    let mut data = actor.data(REQUEST, variables).await;
    assert_eq!(data["requestCharge"]["userErrors"], json!([]), "{data:#}");
    data["requestCharge"]["charge"].take()
}

/// The order id of a charge.
pub fn order(charge: &Value) -> &str {
    charge["orderId"].as_str().unwrap()
}

/// The payload of one of the ways in: `verify`, `payverseVerify`, `verifyHecto`.
pub async fn verify(actor: &Actor, way: &str, order_id: &str, transaction_id: &str) -> Value {
    let query = format!("mutation ($input: VerifyChargeInput!) {{ {way}(input: $input) {{ {ANSWER} }} }}");
    let variables = json!({ "input": { "orderId": order_id, "transactionId": transaction_id } });
    actor.data(&query, variables).await[way].take()
}

/// The payload of `appleVerify`.
pub async fn apple(actor: &Actor, order_id: &str, signed: &str) -> Value {
    let query =
        format!("mutation ($input: AppleVerifyInput!) {{ appleVerify(input: $input) {{ {ANSWER} }} }}");
    let variables = json!({ "input": { "orderId": order_id, "signedTransaction": signed } });
    actor.data(&query, variables).await["appleVerify"].take()
}

/// The payload of `processGoogleIap`.
pub async fn google(actor: &Actor, order_id: &str, sku: &str, token: &str) -> Value {
    let query =
        format!("mutation ($input: GoogleIapInput!) {{ processGoogleIap(input: $input) {{ {ANSWER} }} }}");
    let variables = json!({ "input": { "orderId": order_id, "sku": sku, "purchaseToken": token } });
    actor.data(&query, variables).await["processGoogleIap"].take()
}

/// How a way in ended: the charge's payment status, whether it was replayed, the first user error.
pub fn ended(payload: &Value) -> (Option<&str>, bool, Option<&str>) {
    (
        payload["charge"]["paymentStatus"].as_str(),
        payload["replayed"] == true,
        payload["userErrors"][0]["code"].as_str(),
    )
}

/// A charge of 100 can that a member bought at Bootpay: its id.
pub async fn bought(shop: &Shop, actor: &Actor, member: &str) -> i64 {
    let charge = requested(actor, member, "PG").await;
    let receipt = paid_at_bootpay(shop, order(&charge)).await;
    let payload = verify(actor, "verify", order(&charge), &receipt).await;
    assert_eq!(ended(&payload), (Some("COMPLETE"), false, None), "{payload:#}");
    charge["id"].as_str().unwrap().parse().unwrap()
}

/// A receipt of Bootpay over 11,000 won.
pub async fn paid_at_bootpay(shop: &Shop, order_id: &str) -> String {
    shop.buy(json!({ "gateway": "bootpay", "orderId": order_id, "amount": 11_000 })).await
}

/// A promotion around now, and its id.
pub async fn promotion(actor: &Actor, add_percent: i64, available_count: i64) -> String {
    let query = "mutation ($input: ChargeEventInput!) { createChargeEvent(input: $input) {
        chargeEvent { id } userErrors { code message } } }";
    let data = actor.data(query, json!({ "input": spring(add_percent, available_count) })).await;
    data["createChargeEvent"]["chargeEvent"]["id"].as_str().unwrap_or_else(|| panic!("{data:#}")).to_owned()
}

/// The input of a promotion around now.
pub fn spring(add_percent: i64, available_count: i64) -> Value {
    json!({
        "title": "Spring", "startAt": "2020-01-01T00:00:00Z", "endAt": "2100-01-01T00:00:00Z",
        "addPercent": add_percent, "availableCount": available_count, "isActive": true,
    })
}
