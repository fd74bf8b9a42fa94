//! Taking payments: each outcome of the provider, idempotent mutations, and what the API answers.

use serde_json::{Value, json};

use crate::support::{TestApp, Toss, eventually};

pub const APPROVED: &str = "4330000000000001";
pub const DECLINED: &str = "4000000000000002";

pub const CREATE: &str = "mutation ($input: CreateKeyInPaymentInput!) { createKeyInPayment(input: $input) {
    payment { id orderId userId meetingId amount status paymentKey failureCode flowId } replayed userErrors { code message field } } }";

/// The variables of a payment for (meeting, user) with this card.
pub fn input(key: &str, meeting: i64, user: i64, card: &str) -> Value {
    json!({ "input": {
        "idempotencyKey": key, "userId": user.to_string(), "meetingId": meeting.to_string(), "orderName": "A meeting",
        "amount": 15_000,
        "card": { "number": card, "expirationYear": "30", "expirationMonth": "12", "password": "12", "identityNumber": "900101" },
    } })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_payment_is_completed_and_its_event_delivered_at_once() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).set("outbox-pending-interval", "10m").start().await;
    let inbox = test.inbox(&["payment.#"]).await;
    let data = test.service().data(CREATE, input("k", 7, 42, APPROVED)).await;
    let payload = &data["createKeyInPayment"];
    assert_eq!(payload["userErrors"], json!([]));
    assert_eq!(payload["payment"]["status"], "COMPLETED");
    let message = eventually("the event arrives", async || inbox.all().pop()).await;
    assert_eq!(
        (message.event_type.as_str(), message.routing_key.as_str()),
        ("PAYMENT_COMPLETED", "payment.completed")
    );
    assert_eq!(message.body["data"]["orderId"], payload["payment"]["orderId"]);
    assert_eq!(message.body["data"]["amount"], 15_000);
    assert_eq!(message.body["flowId"], payload["payment"]["flowId"]);
    let events =
        "{ outboxEvents { count { value precision } nodes { status attempts { trigger outcome } } } }";
    eventually("the event is published", async || {
        let data = test.operator().data(events, json!({})).await;
        (data["outboxEvents"]["nodes"][0]["status"] == "PUBLISHED").then_some(())
    })
    .await;
    let data = test.operator().data(events, json!({})).await;
    assert_eq!(data["outboxEvents"]["count"], json!({ "value": 1, "precision": "EXACT" }));
    assert_eq!(
        data["outboxEvents"]["nodes"][0]["attempts"],
        json!([{ "trigger": "IMMEDIATE", "outcome": "PUBLISHED" }])
    );
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_payment_costs_two_transactions_one_claim_and_one_mark() {
    let toss = Toss::start().await;
    let test = TestApp::builder()
        .toss(&toss)
        .set("outbox-pending-interval", "10m")
        .set("outbox-retry-interval", "10m")
        .start()
        .await;
    let _inbox = test.inbox(&["payment.#"]).await;
    let service = test.service();
    service.data(CREATE, input("warm", 1, 1, APPROVED)).await;
    test.reaches(1, "PUBLISHED").await;
    let before = test.app.db.statements();
    service.data(CREATE, input("k", 7, 42, APPROVED)).await;
    test.reaches(2, "PUBLISHED").await;
    let statements = test.app.db.statements() - before;
    // BEGIN, the meeting's lock, key with payment, COMMIT; BEGIN, payment, event, call with key, COMMIT; claim; mark; and
    // what the feed looks at meanwhile.
    assert!((11..=16).contains(&statements), "{statements} statements");
    test.stop().await;
}
