//! Members who buy can at every gateway: most pay, some wait, pay something else or twice, and a promotion gives bonuses.

use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use super::Client;

/// Charges come at half the payments' rate.
const PAYMENTS_PER_CHARGE: u32 = 2;
/// Members of the demonstration, by ids that a member service brings along.
const MEMBERS: u32 = 20;
/// The promotion of the demonstration, made once.
const PROMOTION: &str = "Demo: 20 % more";
const SKUS: [&str; 5] = ["coin_10", "coin_50", "coin_100", "coin_300", "coin_500"];

const MEMBER: &str = "mutation DemoMember($input: MemberInput!) {
  upsertMember(input: $input) { member { id } userErrors { code message } } }";
const PROMOTIONS: &str = "{ chargeEvents(first: 100) { nodes { title } } }";
const PROMOTE: &str = "mutation DemoPromotion($input: ChargeEventInput!) {
  createChargeEvent(input: $input) { chargeEvent { id } userErrors { code message } } }";
const PRODUCT: &str = "mutation DemoProduct($input: CanProductInput!) {
  upsertCanProduct(input: $input) { canProduct { sku } userErrors { code message } } }";
const REQUEST: &str = "mutation DemoCharge($input: RequestChargeInput!) {
  requestCharge(input: $input) { charge { orderId price } checkout { fields { name value } } userErrors { code message } } }";

/// A gateway as the API and the simulator call it, with the mutation that completes and the name of what it takes.
struct Way {
    gateway: &'static str,
    simulated: &'static str,
    mutation: &'static str,
    input: &'static str,
    reference: &'static str,
}

const WAYS: [Way; 5] = [
    Way {
        gateway: "PG",
        simulated: "bootpay",
        mutation: "verify",
        input: "VerifyChargeInput",
        reference: "transactionId",
    },
    Way {
        gateway: "PAYVERSE",
        simulated: "payverse",
        mutation: "payverseVerify",
        input: "VerifyChargeInput",
        reference: "transactionId",
    },
    Way {
        gateway: "HECTO",
        simulated: "hecto",
        mutation: "verifyHecto",
        input: "VerifyChargeInput",
        reference: "transactionId",
    },
    Way {
        gateway: "APPLE_IAP",
        simulated: "apple",
        mutation: "appleVerify",
        input: "AppleVerifyInput",
        reference: "signedTransaction",
    },
    Way {
        gateway: "GOOGLE_IAP",
        simulated: "google",
        mutation: "processGoogleIap",
        input: "GoogleIapInput",
        reference: "purchaseToken",
    },
];

/// Members, a product and a promotion, then purchases until it is dropped.
pub(super) async fn buy_all(service: &Client, admin: &Client, rate: u32) {
    set_up(service, admin).await;
    let mut ticks = tokio::time::interval(Duration::from_secs(1) * PAYMENTS_PER_CHARGE / rate.max(1));
    let mut ways = WAYS.iter().cycle();
    loop {
        ticks.tick().await;
        if let Some(way) = ways.next() {
            buy(service, way).await;
        }
    }
}

async fn set_up(service: &Client, admin: &Client) {
    for id in 1..=MEMBERS {
        let input = json!({ "input": { "id": id.to_string(), "nickname": format!("Demo {id}") } });
        service.ask(MEMBER, &input).await;
    }
    let product = json!({ "input": {
        "container": "PG", "sku": "coin_1000", "can": 1_000, "price": 99_000, "title": "Can 1,000, ten percent off", "isActive": true,
    } });
    admin.ask(PRODUCT, &product).await;
    let known = admin.ask(PROMOTIONS, &json!({})).await.unwrap_or_default();
    let nodes =
        known.pointer("/data/chargeEvents/nodes").and_then(Value::as_array).cloned().unwrap_or_default();
    if !nodes.iter().any(|node| node.get("title") == Some(&json!(PROMOTION))) {
        let promotion = json!({ "input": {
            "title": PROMOTION, "startAt": "2020-01-01T00:00:00Z", "endAt": "2100-01-01T00:00:00Z", "addPercent": 20,
            "availableCount": 0, "isActive": true,
        } });
        admin.ask(PROMOTE, &promotion).await;
    }
}

async fn buy(service: &Client, way: &Way) {
    let sku = SKUS.get(fastrand::usize(0..SKUS.len())).copied().unwrap_or_default();
    let member = fastrand::u32(1..=MEMBERS).to_string();
    let variables = json!({ "input": {
        "idempotencyKey": Uuid::new_v4(), "memberId": member, "sku": sku, "paymentGateway": way.gateway,
    } });
    let Some(answer) = service.ask(REQUEST, &variables).await else { return };
    let text = |path: &str| answer.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let Some(order_id) = text("/data/requestCharge/charge/orderId") else { return };
    let price =
        answer.pointer("/data/requestCharge/charge/price").and_then(Value::as_i64).unwrap_or_default();
    let account = ["appAccountToken", "obfuscatedAccountId"].iter().find_map(|name| field(&answer, name));
    let mut purchase = json!({ "gateway": way.simulated, "orderId": order_id, "amount": price, "sku": sku, "accountToken": account });
    let luck = fastrand::u8(0..12);
    match luck {
        // Left in the window: the reconciler asks, and nobody pays.
        0 => return,
        1 => set(&mut purchase, "status", json!("pending")),
        2 => set(&mut purchase, "status", json!("cancelled")),
        3 => set(&mut purchase, "amount", json!(price / 2)),
        _ => {}
    }
    // Payverse and Hecto often tell by themselves, before the client comes back.
    let tells = ["payverse", "hecto"].contains(&way.simulated) && luck % 2 == 0;
    set(&mut purchase, "webhook", json!(tells));
    let Some(reference) = purchased(service, &purchase, way).await else { return };
    present(service, way, &order_id, sku, &reference).await;
    // The client tries again, or somebody pays twice.
    if luck == 4 {
        present(service, way, &order_id, sku, &reference).await;
    }
    if luck == 5
        && let Some(again) = purchased(service, &purchase, way).await
    {
        present(service, way, &order_id, sku, &again).await;
    }
}

fn field(answer: &Value, name: &str) -> Option<String> {
    let fields = answer.pointer("/data/requestCharge/checkout/fields")?.as_array()?;
    let field = fields.iter().find(|field| field.get("name") == Some(&json!(name)))?;
    field.get("value")?.as_str().map(str::to_owned)
}

fn set(purchase: &mut Value, name: &str, value: Value) {
    if let Some(purchase) = purchase.as_object_mut() {
        purchase.insert(name.to_owned(), value);
    }
}

/// The member pays in the gateway's window: what the client gets back.
async fn purchased(service: &Client, purchase: &Value, way: &Way) -> Option<String> {
    let answer = service.post(&format!("{}/_control/purchases", service.simulator), purchase).await?;
    answer.get(way.reference)?.as_str().map(str::to_owned)
}

async fn present(service: &Client, way: &Way, order_id: &str, sku: &str, reference: &str) {
    let Way { mutation, input, reference: name, .. } = way;
    let query = format!(
        "mutation DemoPurchase($input: {input}!) {{ {mutation}(input: $input) {{ charge {{ id paymentStatus }} replayed userErrors {{ code message }} }} }}"
    );
    let mut presented = json!({ "orderId": order_id, *name: reference });
    if way.gateway == "GOOGLE_IAP" {
        set(&mut presented, "sku", json!(sku));
    }
    service.ask(&query, &json!({ "input": presented })).await;
}
