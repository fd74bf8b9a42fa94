//! Watched rows: as they are first, then each change, from any process.

use serde_json::{Value, json};

use crate::{
    payments::{APPROVED, CREATE, input},
    support::{
        TestApp, Toss,
        api::{blamed, code},
        eventually,
    },
};

const PAYMENT: &str = "subscription ($id: ID!) { paymentChanged(id: $id) { id status paymentKey } }";
const EVENT: &str =
    "subscription ($id: ID!) { outboxEventChanged(id: $id) { id status retryCount lastErrorCode } }";

async fn insert_payment(test: &TestApp, user: i64) -> i64 {
    let sql = format!(
        "INSERT INTO payment (order_id, user_id, meeting_id, order_name, amount, idempotency_key)
         VALUES ('o-{user}', {user}, 1, 'x', 100, 'i-{user}') RETURNING id"
    );
    test.db.value(&sql).await
}

async fn fail_payment(test: &TestApp, id: i64, code: &str) {
    test.db
        .run(&format!("UPDATE payment SET status = 'FAILED', failure_code = '{code}' WHERE id = {id}"))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_is_shown_as_it_is_and_then_as_another_process_changes_it() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let beside = TestApp::builder().start_beside(&test).await;
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "delayMs": 1500 })).await;
    let service = test.service();
    let paying = tokio::spawn(async move { service.data(CREATE, input("k", 7, 42, APPROVED)).await });
    eventually("the payment is there", async || (test.db.count("payment").await == 1).then_some(())).await;
    let mut socket = beside.operator().socket().await;
    socket.subscribe("1", PAYMENT, json!({ "id": "1" })).await;
    assert_eq!(
        socket.data().await["paymentChanged"],
        json!({ "id": "1", "status": "PENDING", "paymentKey": null })
    );
    let completed = socket.data().await["paymentChanged"].take();
    assert_eq!(completed["status"], "COMPLETED");
    assert_eq!(paying.await.unwrap()["createKeyInPayment"]["payment"]["paymentKey"], completed["paymentKey"]);
    test.stop().await;
    beside.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_shown_at_each_stand_of_its_way() {
    let test = TestApp::builder().set("outbox-backoff-base", "2s").start().await;
    let beside = TestApp::builder().set("workers", "false").start_beside(&test).await;
    let id = test.insert_event("nobody.listens").await;
    let mut socket = beside.operator().socket().await;
    socket.subscribe("1", EVENT, json!({ "id": id.to_string() })).await;
    let mut shown: Vec<Value> = Vec::new();
    while shown.last().is_none_or(|event| event["status"] != "DEAD_LETTERED") {
        shown.push(socket.data().await["outboxEventChanged"].take());
    }
    let retries: Vec<i64> = shown.iter().map(|event| event["retryCount"].as_i64().unwrap()).collect();
    assert!(retries.is_sorted(), "{retries:?}");
    assert!(shown.windows(2).all(|pair| pair[0] != pair[1] || pair[0]["status"] != "DEAD_LETTERED"));
    assert!(shown.iter().any(|event| event["status"] == "FAILED" && event["lastErrorCode"] == "UNROUTABLE"));
    test.stop().await;
    beside.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_subscriber_never_sees_the_row_as_it_was_before() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let mut first = test.operator().socket().await;
    for user in 1..=6 {
        let id = insert_payment(&test, user).await;
        first.subscribe(&user.to_string(), PAYMENT, json!({ "id": id.to_string() })).await;
        assert_eq!(first.data().await["paymentChanged"]["status"], "PENDING");
        fail_payment(&test, id, "X").await;
        // The shared watch may still hold the row as it was.
        let mut second = test.operator().socket().await;
        second.subscribe("1", PAYMENT, json!({ "id": id.to_string() })).await;
        assert_eq!(second.data().await["paymentChanged"]["status"], "FAILED");
        assert_eq!(first.data().await["paymentChanged"]["status"], "FAILED");
        test.db.run(&format!("UPDATE payment SET payment_key = 'p-{id}' WHERE id = {id}")).await;
        for socket in [&mut first, &mut second] {
            assert_eq!(socket.data().await["paymentChanged"]["paymentKey"], format!("p-{id}"));
        }
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_not_there_is_not_found_for_its_own_id_only() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let id = insert_payment(&test, 1).await;
    let mut socket = test.operator().socket().await;
    socket.subscribe("there", PAYMENT, json!({ "id": id.to_string() })).await;
    assert_eq!(socket.data().await["paymentChanged"]["status"], "PENDING");
    for query in [PAYMENT, EVENT] {
        socket.subscribe("gone", query, json!({ "id": "999" })).await;
        let message = socket.next().await.unwrap();
        assert_eq!((&message["id"], &message["type"]), (&json!("gone"), &json!("error")));
        assert_eq!(message["payload"][0]["extensions"]["code"], "NOT_FOUND");
        socket.subscribe("bad", query, json!({ "id": "abc" })).await;
        let errors = socket.errors().await;
        assert_eq!((code(&errors), blamed(&errors).as_str()), ("BAD_USER_INPUT", "id"));
    }
    fail_payment(&test, id, "X").await;
    assert_eq!(socket.data().await["paymentChanged"]["status"], "FAILED", "the other goes on");
    eventually("only what is watched is read", async || {
        (test.app.payment_watcher.watched() == 1).then_some(())
    })
    .await;
    drop(socket);
    eventually("nothing is watched any more", async || {
        test.app.payment_watcher.hint();
        (test.app.payment_watcher.watched() == 0).then_some(())
    })
    .await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn trouble_with_one_table_is_an_error_for_its_new_ids_only_and_passes() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let payment = insert_payment(&test, 1).await;
    let event = test.insert_event("x").await;
    let mut socket = test.operator().socket().await;
    socket.subscribe("payment", PAYMENT, json!({ "id": payment.to_string() })).await;
    assert_eq!(socket.data().await["paymentChanged"]["status"], "PENDING");
    test.db.run("ALTER TABLE payment RENAME TO payment_away").await;
    socket.subscribe("new", PAYMENT, json!({ "id": payment.to_string() })).await;
    let message = socket.next().await.unwrap();
    assert_eq!((&message["id"], &message["type"]), (&json!("new"), &json!("error")));
    assert_eq!(message["payload"][0]["extensions"]["code"], "INTERNAL");
    assert!(!message.to_string().contains("relation"), "{message}");
    socket.subscribe("event", EVENT, json!({ "id": event.to_string() })).await;
    assert_eq!(socket.data().await["outboxEventChanged"]["status"], "PENDING", "the other table is well");
    test.db.run("ALTER TABLE payment_away RENAME TO payment").await;
    fail_payment(&test, payment, "X").await;
    assert_eq!(socket.data().await["paymentChanged"]["status"], "FAILED", "the old subscription goes on");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn terminated_backends_end_no_subscription() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let id = insert_payment(&test, 1).await;
    let mut socket = test.operator().socket().await;
    socket.subscribe("1", PAYMENT, json!({ "id": id.to_string() })).await;
    assert_eq!(socket.data().await["paymentChanged"]["status"], "PENDING");
    test.db
        .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'paydesk'")
        .await;
    fail_payment(&test, id, "X").await;
    assert_eq!(socket.data().await["paymentChanged"]["status"], "FAILED");
    test.stop().await;
}
