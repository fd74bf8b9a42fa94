//! Registrations, driven by messages alone.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    payments::{APPROVED, DECLINED},
    support::{
        TestApp, Toss, eventually,
        messages::{cancel, register},
    },
};

pub const REGISTER: &str = "participant.register";
/// Charged, but the answer to the first call never arrives.
const LOST_ANSWER: &str = "4000000000000341";

async fn start(toss: &Toss, card: &str) -> TestApp {
    let test = TestApp::builder().toss(toss).test_card(card).set("provider-timeout", "1s").start().await;
    test.consuming().await;
    test
}

/// Waits until a message was carried out to its end.
pub async fn done(test: &TestApp, message: &Value) {
    let id = message["eventId"].as_str().unwrap();
    eventually(&format!("message {id} is done"), async || {
        let done = format!("inbox WHERE event_id = '{id}' AND state = 'DONE'");
        (test.db.count(&done).await == 1).then_some(())
    })
    .await;
}

/// Nothing is left in the queue or in hand, and nothing went to its dead letters.
pub async fn all_acknowledged(test: &TestApp, queue: &str) {
    test.stop().await;
    assert_eq!(test.rabbit.waiting(&test.name(queue)).await, 0, "every message was acknowledged");
    assert_eq!(test.rabbit.waiting(&test.name(&format!("{queue}.dlq"))).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_is_paid_once_and_its_event_sent_in_the_messages_flow() {
    let toss = Toss::start().await;
    let test = start(&toss, APPROVED).await;
    let inbox = test.inbox(&["payment.#"]).await;
    let message = register(7, 42);
    test.send(REGISTER, &message).await;
    let event = eventually("the event arrives", async || inbox.all().pop()).await;
    assert_eq!(event.event_type, "PAYMENT_COMPLETED");
    assert_eq!((&event.body["data"]["userId"], &event.body["data"]["meetingId"]), (&json!(42), &json!(7)));
    assert_eq!(event.body["data"]["amount"], 15_000);
    assert_eq!(event.body["flowId"], message["correlationId"]);
    done(&test, &message).await;
    test.send(REGISTER, &message).await;
    // A further message behind the repeated one tells when that one is through.
    let next = register(7, 43);
    test.send(REGISTER, &next).await;
    done(&test, &next).await;
    inbox.settled().await;
    assert_eq!(inbox.len(), 2, "the repetition sent nothing");
    assert_eq!(toss.payments().await.len(), 2);
    all_acknowledged(&test, "payment.participant.register").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_registration_is_acknowledged_and_gives_the_seat_back() {
    let toss = Toss::start().await;
    let test = start(&toss, DECLINED).await;
    let inbox = test.inbox(&["payment.#"]).await;
    let message = register(7, 42);
    test.send(REGISTER, &message).await;
    let event = eventually("the event arrives", async || inbox.all().pop()).await;
    assert_eq!(event.event_type, "PAYMENT_FAILED");
    assert_eq!(event.body["data"]["failureCode"], "REJECT_CARD_PAYMENT");
    assert!(event.body["data"]["paymentId"].is_i64());
    done(&test, &message).await;
    assert_eq!(test.db.count("payment WHERE status = 'FAILED'").await, 1);
    assert_eq!(test.db.count("inbound_dead_letter").await, 0);
    all_acknowledged(&test, "payment.participant.register").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_registration_is_refused_with_an_event_about_the_seat() {
    let toss = Toss::start().await;
    let test = start(&toss, APPROVED).await;
    let inbox = test.inbox(&["payment.failed"]).await;
    let (first, second) = (register(7, 42), register(7, 42));
    test.send(REGISTER, &first).await;
    done(&test, &first).await;
    test.send(REGISTER, &second).await;
    done(&test, &second).await;
    test.send(REGISTER, &second).await;
    let event = eventually("the event arrives", async || inbox.all().pop()).await;
    assert_eq!(event.body["data"]["failureCode"], "ALREADY_PAID");
    assert_eq!(event.body["data"]["paymentId"], Value::Null);
    assert_eq!(
        (&event.body["aggregateType"], &event.body["aggregateId"]),
        (&json!("MEETING"), &json!("7:42"))
    );
    assert_eq!(event.body["flowId"], second["correlationId"]);
    inbox.settled().await;
    assert_eq!(inbox.len(), 1);
    assert_eq!(toss.payments().await.len(), 1);
    all_acknowledged(&test, "payment.participant.register").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_whose_answer_was_lost_is_found_in_the_providers_books_and_charged_once() {
    let toss = Toss::start().await;
    let test = start(&toss, LOST_ANSWER).await;
    let message = register(7, 42);
    test.send(REGISTER, &message).await;
    done(&test, &message).await;
    assert_eq!(test.db.value::<String>("SELECT status FROM payment").await, "COMPLETED");
    assert_eq!(toss.payments().await.len(), 1);
    assert_eq!(toss.key_ins().await.len(), 1);
    all_acknowledged(&test, "payment.participant.register").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_system_error_is_tried_four_times_and_then_dead_lettered() {
    let toss = Toss::start().await;
    let test = start(&toss, APPROVED).await;
    let broken =
        json!({ "gateway": "toss", "operation": "key-in", "times": 100, "status": 500, "effect": false });
    toss.behave(broken).await;
    let message = register(7, 42);
    test.send(REGISTER, &message).await;
    let dlq = test.name("payment.participant.register.dlq");
    let body = eventually("it is dead-lettered", async || test.rabbit.bodies(&dlq).await.pop()).await;
    assert_eq!(body, message.to_string().into_bytes());
    let keys = toss.key_ins().await;
    assert_eq!(keys.len(), 4, "one try and three more");
    assert!(keys.iter().all(|key| *key == keys[0]), "each with the same key");
    let letter = "inbound_dead_letter WHERE status = 'OPEN' AND error_class = 'SYSTEM' AND error_code = 'OUTCOME_UNKNOWN'";
    assert_eq!(test.db.count(letter).await, 1);
    assert_eq!(test.db.count("payment WHERE status = 'PENDING'").await, 1, "the reconciler's to decide");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_test_card_registrations_wait_and_readiness_says_so() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    test.consuming().await;
    let http = paydesk::httpclient::HttpClient::new(std::time::Duration::from_secs(5), None).unwrap();
    let answer = http.get(&format!("http://{}/readyz", test.base), &[]).await.unwrap();
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(answer.status, 200);
    let told = body["detail"]["consumer-participant-register"].as_str().unwrap();
    assert!(told.contains("PAYDESK_TOSS_TEST_CARD"), "{told}");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_cannot_ask_the_provider_leaves_every_queue_to_those_that_can() {
    let toss = Toss::start().await;
    let able = start(&toss, APPROVED).await;
    let unable = TestApp::builder().start_beside(&able).await;
    let http = paydesk::httpclient::HttpClient::new(std::time::Duration::from_secs(5), None).unwrap();
    let answer = http.get(&format!("http://{}/readyz", unable.base), &[]).await.unwrap();
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    for queue in ["participant-register", "participant-cancel", "meeting-deleted"] {
        let told = body["detail"][format!("consumer-{queue}")].as_str().unwrap_or_default();
        assert!(told.contains("is not consumed: PAYDESK_TOSS_URL"), "{queue}: {body}");
    }
    able.consuming().await;
    for user in 1..=4 {
        let message = register(7, user);
        able.send(REGISTER, &message).await;
        done(&able, &message).await;
        let message = cancel(7, user, true);
        able.send("participant.cancel", &message).await;
        done(&able, &message).await;
    }
    assert_eq!(able.db.count("refund WHERE status = 'COMPLETED'").await, 4);
    assert_eq!(able.db.count("inbound_dead_letter").await, 0);
    unable.stop().await;
    able.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_billion_won_go_in_exactly() {
    let toss = Toss::start().await;
    let test = start(&toss, APPROVED).await;
    let mut message = register(7, 42);
    message["data"]["amount"] = json!(3_000_000_000_i64);
    message["flowId"] = json!(Uuid::from_u128(5));
    test.send(REGISTER, &message).await;
    done(&test, &message).await;
    assert_eq!(test.db.value::<i64>("SELECT amount FROM payment").await, 3_000_000_000);
    assert_eq!(test.db.count(&format!("payment WHERE flow_id = '{}'", Uuid::from_u128(5))).await, 1);
    test.stop().await;
}
