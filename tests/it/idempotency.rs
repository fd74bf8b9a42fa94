//! One key, one effect: repeated, parallel, reused and resumed requests.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    payments::{APPROVED, CREATE, DECLINED, input},
    support::{
        TestApp, Toss,
        api::{Actor, token},
        eventually,
        process::Process,
    },
};
use paydesk::auth::Role;

const NO_ANSWER: &str = "4000000000000341";

async fn start() -> (Toss, TestApp) {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    (toss, test)
}

async fn pay(actor: &Actor, variables: Value) -> Value {
    actor.data(CREATE, variables).await["createKeyInPayment"].take()
}

fn refusal(payload: &Value) -> &str {
    payload["userErrors"][0]["code"].as_str().unwrap_or("none")
}

/// Asks again for as long as the first request runs, as the answer says to.
async fn pay_patiently(actor: &Actor, variables: Value) -> Value {
    eventually("the first request ends", async || {
        let payload = pay(actor, variables.clone()).await;
        (refusal(&payload) != "IDEMPOTENT_REQUEST_IN_PROGRESS").then_some(payload)
    })
    .await
}

async fn slow(toss: &Toss, delay_ms: u64) {
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "delayMs": delay_ms })).await;
}

async fn calls(toss: &Toss, count: usize) {
    eventually("the provider is called", async || (toss.calls().await.len() == count).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_at_once_with_one_key_have_one_effect_and_another_amount_is_refused() {
    let (toss, test) = start().await;
    let inbox = test.inbox(&["payment.#"]).await;
    slow(&toss, 500).await;
    let service = test.service();
    let requests = join_all((0..20).map(|_| pay_patiently(&service, input("k", 7, 42, APPROVED))));
    let other = async {
        calls(&toss, 1).await;
        let mut other = input("k", 7, 42, APPROVED);
        other["input"]["amount"] = json!(15_001);
        pay(&service, other).await
    };
    let (answers, other) = tokio::join!(requests, other);
    assert_eq!((refusal(&other), &other["payment"]), ("IDEMPOTENCY_KEY_REUSED", &Value::Null));
    assert_eq!(answers.iter().filter(|answer| answer["replayed"] == false).count(), 1, "one made it");
    for answer in &answers {
        assert_eq!(answer["payment"], answers[0]["payment"]);
        assert_eq!((&answer["payment"]["status"], &answer["userErrors"]), (&json!("COMPLETED"), &json!([])));
    }
    assert_eq!(toss.calls().await.len(), 1);
    assert_eq!(toss.payments().await.len(), 1);
    assert_eq!(test.db.count("payment").await, 1);
    assert_eq!(test.db.count("provider_call").await, 1);
    eventually("the event arrives", async || (inbox.len() == 1).then_some(())).await;
    assert_eq!(test.db.count("payment_outbox").await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_at_once_with_keys_of_their_own_pay_once() {
    let (toss, test) = start().await;
    slow(&toss, 300).await;
    let mut requests = JoinSet::new();
    for number in 0..20 {
        let service = test.service();
        requests.spawn(async move { pay(&service, input(&format!("k{number}"), 7, 42, APPROVED)).await });
    }
    let answers = requests.join_all().await;
    let mut refusals: Vec<&str> = answers.iter().map(refusal).collect();
    refusals.sort_unstable();
    refusals.dedup();
    assert!(refusals.iter().all(|code| ["none", "ALREADY_PAID", "PAYMENT_IN_PROGRESS"].contains(code)));
    assert_eq!(answers.iter().filter(|answer| refusal(answer) == "none").count(), 1);
    assert_eq!((toss.payments().await.len(), test.db.count("payment").await), (1, 1));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_first_runs_the_same_key_is_told_to_ask_again() {
    let (toss, test) = start().await;
    slow(&toss, 1_000).await;
    let service = test.service();
    let first = tokio::spawn({
        let service = service.clone();
        async move { pay(&service, input("k", 7, 42, APPROVED)).await }
    });
    calls(&toss, 1).await;
    let second = pay(&service, input("k", 7, 42, APPROVED)).await;
    assert_eq!(refusal(&second), "IDEMPOTENT_REQUEST_IN_PROGRESS");
    assert_eq!(second["payment"], Value::Null);
    let first = first.await.unwrap();
    let third = pay(&service, input("k", 7, 42, APPROVED)).await;
    assert_eq!((&first["replayed"], &third["replayed"]), (&json!(false), &json!(true)));
    assert_eq!(first["payment"], third["payment"]);
    assert_eq!(toss.calls().await.len(), 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_the_same_key_resumes_with_the_same_order_and_provider_key() {
    let (toss, test) = start().await;
    let url = toss.url();
    let settings =
        [("toss-url", url.as_str()), ("toss-secret-key", "test_sk_sim0000000000000000"), ("log", "error")];
    let mut process = Process::start(&test, &settings).await;
    slow(&toss, 1_500).await;
    let doomed = Actor::new(process.base.clone(), Some(token(&[Role::Service], "service")));
    let request =
        tokio::spawn(async move { doomed.try_query(CREATE, input("k", 7, 42, APPROVED)).await.is_err() });
    calls(&toss, 1).await;
    process.kill();
    assert!(request.await.unwrap(), "the process died with the request");
    let service = test.service();
    let before = pay(&service, input("k", 7, 42, APPROVED)).await;
    assert_eq!(refusal(&before), "IDEMPOTENT_REQUEST_IN_PROGRESS", "its lease may still be held");
    eventually("the provider has finished", async || {
        (toss.calls().await[0]["outcome"] != "RUNNING").then_some(())
    })
    .await;
    test.db.run("UPDATE idempotency_key SET lease_until = now()").await;
    let resumed = pay(&service, input("k", 7, 42, APPROVED)).await;
    assert_eq!((&resumed["payment"]["status"], &resumed["userErrors"]), (&json!("COMPLETED"), &json!([])));
    assert_eq!(resumed["replayed"], true, "the payment is the first request's");
    let calls = toss.calls().await;
    let operations: Vec<_> = calls.iter().map(|call| call["operation"].as_str().unwrap()).collect();
    assert_eq!(operations, ["key-in", "lookup"], "the provider's books come first");
    assert_eq!(calls[0]["orderId"], calls[1]["orderId"]);
    let books = toss.payments().await;
    assert_eq!((books.len(), &books[0]["paid"]), (1, &json!(15_000)), "charged once");
    assert_eq!((test.db.count("payment").await, test.db.count("payment_outbox").await), (1, 1));
    let again = pay(&service, input("k", 7, 42, APPROVED)).await;
    assert_eq!(again["payment"], resumed["payment"]);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_the_callers_own_and_the_operations_own() {
    let (toss, test) = start().await;
    test.db
        .run("INSERT INTO idempotency_key (caller, operation, key, input_hash, subject_type, subject_id, lease_until)
              VALUES ('alice', 'another', 'k', '\\x00', 'PAYMENT', 1, now())")
        .await;
    for (number, subject) in [(1, "alice"), (2, "bob")] {
        let actor = Actor::new(test.base.clone(), Some(token(&[Role::Service], subject)));
        let payload = pay(&actor, input("k", 7, number, APPROVED)).await;
        assert_eq!((refusal(&payload), &payload["replayed"]), ("none", &json!(false)));
    }
    assert_eq!(toss.payments().await.len(), 2);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_part_of_the_input_tells_one_request_from_another_but_for_the_cards_secrets() {
    let (toss, test) = start().await;
    let service = test.service();
    pay(&service, input("k", 7, 42, APPROVED)).await;
    for (pointer, value) in [
        ("/input/userId", json!("43")),
        ("/input/meetingId", json!("8")),
        ("/input/orderName", json!("Another")),
        ("/input/amount", json!(15_001)),
        ("/input/card/number", json!("4330000000000002")),
    ] {
        let mut other = input("k", 7, 42, APPROVED);
        *other.pointer_mut(pointer).unwrap() = value;
        assert_eq!(refusal(&pay(&service, other).await), "IDEMPOTENCY_KEY_REUSED", "{pointer}");
    }
    let mut same = input("k", 7, 42, APPROVED);
    same["input"]["card"]["password"] = json!("99");
    assert_eq!(pay(&service, same).await["replayed"], true);
    assert_eq!(toss.calls().await.len(), 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_that_made_no_row_is_not_remembered() {
    let (toss, test) = start().await;
    let service = test.service();
    pay(&service, input("first", 7, 42, APPROVED)).await;
    let refused = pay(&service, input("second", 7, 42, APPROVED)).await;
    assert_eq!((refusal(&refused), &refused["payment"]), ("ALREADY_PAID", &Value::Null));
    assert_eq!(test.db.count("idempotency_key WHERE key = 'second'").await, 0);
    test.db.run("UPDATE payment SET status = 'FAILED', failure_code = 'X', payment_key = NULL").await;
    let paid = pay(&service, input("second", 7, 42, APPROVED)).await;
    assert_eq!((refusal(&paid), &paid["replayed"]), ("none", &json!(false)));
    assert_eq!(toss.payments().await.len(), 2);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_remembered_for_fifteen_days() {
    let (toss, test) = start().await;
    let service = test.service();
    let first = pay(&service, input("k", 7, 42, APPROVED)).await;
    let age = async |age: &str| {
        test.db.run(&format!("UPDATE idempotency_key SET created_at = now() - interval '{age}'")).await;
    };
    age("14 days 23 hours").await;
    assert_eq!(refusal(&pay(&service, input("k", 8, 42, APPROVED)).await), "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(pay(&service, input("k", 7, 42, APPROVED)).await["payment"], first["payment"]);
    age("15 days 1 minute").await;
    let new = pay(&service, input("k", 8, 42, APPROVED)).await;
    assert_eq!((refusal(&new), &new["replayed"]), ("none", &json!(false)));
    assert_ne!(new["payment"]["id"], first["payment"]["id"]);
    assert_eq!(toss.payments().await.len(), 2);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_user_pays_once_for_a_meeting_and_two_users_each() {
    let (toss, test) = start().await;
    let service = test.service();
    for user in [1, 2] {
        assert_eq!(refusal(&pay(&service, input(&format!("k{user}"), 7, user, APPROVED)).await), "none");
    }
    assert_eq!(refusal(&pay(&service, input("k3", 7, 1, APPROVED)).await), "ALREADY_PAID");
    let unknown = pay(&service, input("k4", 8, 1, NO_ANSWER)).await;
    assert_eq!(unknown["payment"]["status"], "PENDING");
    assert_eq!(refusal(&pay(&service, input("k5", 8, 1, APPROVED)).await), "PAYMENT_IN_PROGRESS");
    assert_eq!(toss.calls().await.len(), 3);
    assert_eq!(test.db.count("idempotency_key").await, 3);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_decline_the_key_repeats_it_and_a_new_key_may_pay() {
    let (toss, test) = start().await;
    let service = test.service();
    let declined = pay(&service, input("k", 7, 42, DECLINED)).await;
    let again = pay(&service, input("k", 7, 42, DECLINED)).await;
    assert_eq!((refusal(&declined), refusal(&again)), ("PAYMENT_DECLINED", "PAYMENT_DECLINED"));
    assert_eq!((&declined["replayed"], &again["replayed"]), (&json!(false), &json!(true)));
    assert_eq!(declined["payment"], again["payment"]);
    let paid = pay(&service, input("another", 7, 42, APPROVED)).await;
    assert_eq!((refusal(&paid), &paid["payment"]["status"]), ("none", &json!("COMPLETED")));
    assert_eq!(toss.calls().await.len(), 2);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_in_the_middle_still_gets_its_payment() {
    let (toss, test) = start().await;
    let inbox = test.inbox(&["payment.completed"]).await;
    let service = test.service();
    for _ in 0..2 {
        slow(&toss, 1_000).await;
    }
    let posting = tokio::spawn({
        let service = service.clone();
        async move { service.try_query(CREATE, input("posted", 7, 1, APPROVED)).await }
    });
    calls(&toss, 1).await;
    posting.abort();
    let mut socket = service.socket().await;
    socket.subscribe("1", CREATE, input("sent", 7, 2, APPROVED)).await;
    calls(&toss, 2).await;
    drop(socket);
    eventually("both are completed", async || {
        (test.db.count("payment WHERE status = 'COMPLETED'").await == 2).then_some(())
    })
    .await;
    eventually("both events arrive", async || (inbox.len() == 2).then_some(())).await;
    for (key, user) in [("posted", 1), ("sent", 2)] {
        assert_eq!(pay(&service, input(key, 7, user, APPROVED)).await["replayed"], true);
    }
    assert_eq!(toss.calls().await.len(), 2);
    test.stop().await;
}

/// A server that was killed while the provider carried out its first call of the key `k`; the money moved or did not.
async fn killed_in_its_first_call(toss: &Toss, test: &TestApp, effect: bool) {
    let url = toss.url();
    let settings =
        [("toss-url", url.as_str()), ("toss-secret-key", "test_sk_sim0000000000000000"), ("log", "error")];
    let mut process = Process::start(test, &settings).await;
    let status = if effect { 200 } else { 500 };
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "delayMs": 500, "effect": effect, "status": status })).await;
    let doomed = Actor::new(process.base.clone(), Some(token(&[Role::Service], "service")));
    let request = tokio::spawn(async move { doomed.try_query(CREATE, input("k", 7, 42, APPROVED)).await });
    calls(toss, 1).await;
    process.kill();
    assert!(request.await.unwrap().is_err());
    eventually("the provider has finished", async || {
        (toss.calls().await[0]["outcome"] != "RUNNING").then_some(())
    })
    .await;
    test.db.run("UPDATE idempotency_key SET lease_until = now()").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_provider_never_carried_out_is_asked_for_again_under_the_same_key() {
    let (toss, test) = start().await;
    killed_in_its_first_call(&toss, &test, false).await;
    let resumed = pay(&test.service(), input("k", 7, 42, APPROVED)).await;
    assert_eq!(resumed["payment"]["status"], "COMPLETED", "{resumed}");
    let calls = toss.calls().await;
    let operations: Vec<_> = calls.iter().map(|call| call["operation"].as_str().unwrap()).collect();
    assert_eq!(operations, ["key-in", "lookup", "key-in"]);
    assert_eq!(calls[0]["idempotencyKey"], calls[2]["idempotencyKey"]);
    assert_eq!(toss.payments().await.len(), 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_key_that_changed_in_between_charges_nobody_twice_and_fails_nothing_that_was_paid() {
    let toss = Toss::start().await;
    let first = TestApp::builder().set("workers", "false").start().await;
    killed_in_its_first_call(&toss, &first, true).await;
    // A key that the provider refuses says nothing about the earlier call.
    for (key, status) in [("zzz_wrong", "PENDING"), ("live_sk_another0000000000", "COMPLETED")] {
        let next = TestApp::builder()
            .set("workers", "false")
            .toss(&toss)
            .set("toss-secret-key", key)
            .start_beside(&first)
            .await;
        first.db.run("UPDATE idempotency_key SET lease_until = now(), finished_at = NULL").await;
        let resumed = pay(&next.service(), input("k", 7, 42, APPROVED)).await;
        assert_eq!(resumed["payment"]["status"], status, "{key}: {resumed}");
        next.stop().await;
    }
    assert_eq!(toss.payments().await.len(), 1, "charged once");
    let told = "failure WHERE kind = 'GATEWAY_MISCONFIGURED' AND severity = 'CRITICAL'";
    assert_eq!(first.db.count(told).await, 1);
    assert_eq!(first.db.count("payment_outbox").await, 1);
    first.stop().await;
}
