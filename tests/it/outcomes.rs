//! What a payment comes to: each outcome of the provider, bad input, and trouble around it.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use paydesk::auth::Role;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    payments::{APPROVED, CREATE, DECLINED, input},
    support::{
        Proxy, TestApp, Toss,
        api::{Actor, blamed, code, token},
        app::SECRET,
        eventually,
        process::Process,
        service_url,
    },
};

async fn start() -> (Toss, TestApp) {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).set("provider-timeout", "1s").start().await;
    (toss, test)
}

async fn pay(test: &TestApp, variables: Value) -> Value {
    test.service().data(CREATE, variables).await["createKeyInPayment"].take()
}

async fn behave(toss: &Toss, how: Value) {
    let mut behaviour = json!({ "gateway": "toss", "operation": "key-in" });
    behaviour.as_object_mut().unwrap().extend(how.as_object().unwrap().clone());
    toss.behave(behaviour).await;
}

/// Nothing of a refused request is left, and nobody was asked.
async fn nothing_happened(toss: &Toss, test: &TestApp) {
    for table in ["payment", "idempotency_key", "payment_outbox", "provider_call", "failure"] {
        assert_eq!(test.db.count(table).await, 0, "{table}");
    }
    assert_eq!(toss.calls().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_payment_is_failed_with_its_event_and_the_user_error() {
    let (_toss, test) = start().await;
    let inbox = test.inbox(&["payment.#"]).await;
    let payload = pay(&test, input("k", 7, 42, DECLINED)).await;
    assert_eq!(payload["payment"]["status"], "FAILED");
    assert_eq!(payload["payment"]["failureCode"], "REJECT_CARD_PAYMENT");
    assert_eq!(payload["userErrors"][0]["code"], "PAYMENT_DECLINED");
    assert_eq!(payload["userErrors"].as_array().unwrap().len(), 1);
    let message = eventually("the event arrives", async || inbox.all().pop()).await;
    assert_eq!(
        (message.event_type.as_str(), message.routing_key.as_str()),
        ("PAYMENT_FAILED", "payment.failed")
    );
    let data = &message.body["data"];
    assert_eq!(data["failureCode"], "REJECT_CARD_PAYMENT");
    assert_eq!(
        (&data["userId"], &data["meetingId"], &data["amount"]),
        (&json!(42), &json!(7), &json!(15_000))
    );
    assert_eq!(data["orderId"], payload["payment"]["orderId"]);
    let failure: String = test
        .db
        .value("SELECT concat_ws(' ', kind, severity, subject_type, subject_id, code) FROM failure")
        .await;
    assert_eq!(failure, "PAYMENT_FAILED INFO PAYMENT 1 REJECT_CARD_PAYMENT");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_not_the_providers_clear_word_leaves_the_payment_pending_and_tells_once() {
    let (toss, test) = start().await;
    let cases = [
        (json!({ "drop": true, "effect": false }), "UNKNOWN"),
        (json!({ "drop": true, "effect": true }), "UNKNOWN"),
        (json!({ "delayMs": 3_000 }), "UNKNOWN"),
        (json!({ "status": 500 }), "UNKNOWN"),
        (json!({ "status": 503, "code": "REJECT_CARD_PAYMENT" }), "UNKNOWN"),
        (json!({ "code": "PROVIDER_ERROR" }), "UNKNOWN"),
        (json!({ "code": "SOMETHING_NEW" }), "UNKNOWN"),
        (json!({ "status": 429 }), "UNKNOWN"),
        (json!({ "status": 409 }), "IN_PROGRESS"),
        (json!({ "code": "ALREADY_PROCESSED_PAYMENT" }), "ALREADY_DONE"),
        (json!({ "code": "NOT_FOUND_PAYMENT" }), "NOT_FOUND"),
    ];
    for (number, (how, outcome)) in (1..).zip(cases) {
        behave(&toss, how.clone()).await;
        let key = format!("k{number}");
        let payload = pay(&test, input(&key, 7, number, APPROVED)).await;
        assert_eq!(payload["payment"]["status"], "PENDING", "{how}");
        assert_eq!((&payload["userErrors"], &payload["replayed"]), (&json!([]), &json!(false)), "{how}");
        let again = pay(&test, input(&key, 7, number, APPROVED)).await;
        assert_eq!((&again["payment"], &again["replayed"]), (&payload["payment"], &json!(true)), "{how}");
        let id = payload["payment"]["id"].as_str().unwrap();
        let failures: Vec<String> =
            test.db.values(&format!("SELECT kind FROM failure WHERE subject_id = '{id}'")).await;
        assert_eq!(failures, ["PAYMENT_UNKNOWN"], "{how}");
        let calls: Vec<String> =
            test.db.values(&format!("SELECT outcome FROM provider_call WHERE subject_id = {id}")).await;
        assert_eq!(calls, [outcome], "{how}");
        // Asked again by a resumed request, still unknown: nothing is told twice.
        test.db.run("UPDATE idempotency_key SET finished_at = NULL, lease_until = now()").await;
        behave(&toss, json!({ "status": 500 })).await;
        pay(&test, input(&key, 7, number, APPROVED)).await;
        assert_eq!(test.db.count(&format!("failure WHERE subject_id = '{id}'")).await, 1, "{how}");
        toss.behave(json!({ "gateway": "toss", "operation": "key-in", "times": 0 })).await;
    }
    // The two whose charge the provider had carried out were found in its books when they were asked for again.
    let decided: Vec<String> = test.db.values("SELECT status FROM payment WHERE status <> 'PENDING'").await;
    assert_eq!(decided, ["COMPLETED", "COMPLETED"]);
    assert_eq!(test.db.count("payment_outbox").await, 2, "nothing is said of what nobody knows");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_cannot_be_reached_leaves_the_payment_pending() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).set("toss-url", "http://127.0.0.1:1/toss").start().await;
    let payload = pay(&test, input("k", 7, 42, APPROVED)).await;
    assert_eq!((&payload["payment"]["status"], &payload["userErrors"]), (&json!("PENDING"), &json!([])));
    assert_eq!(test.db.count("failure WHERE kind = 'PAYMENT_UNKNOWN' AND code = 'NOT_CONNECTED'").await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_the_gateway_refuses_is_ours_to_mend_and_critical() {
    let (toss, test) = start().await;
    let inbox = test.inbox(&["payment.failed"]).await;
    for (number, behaviour) in
        (1..).zip([json!({ "code": "UNAUTHORIZED_KEY" }), json!({ "code": "NOT_REGISTERED_BUSINESS" })])
    {
        behave(&toss, behaviour).await;
        let payload = pay(&test, input(&format!("k{number}"), 7, number, APPROVED)).await;
        assert_eq!(payload["payment"]["status"], "FAILED");
        assert_eq!(payload["payment"]["failureCode"], "GATEWAY_MISCONFIGURED");
        assert_eq!(payload["userErrors"][0]["code"], "GATEWAY_MISCONFIGURED");
    }
    let failures: Vec<String> =
        test.db.values("SELECT concat_ws(' ', kind, severity, code) FROM failure ORDER BY id").await;
    assert_eq!(failures, ["GATEWAY_MISCONFIGURED CRITICAL GATEWAY_MISCONFIGURED"; 2]);
    eventually("the seats are given back", async || (inbox.len() == 2).then_some(())).await;
    assert_eq!(toss.payments().await.len(), 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_gateway_nothing_is_written() {
    let toss = Toss::start().await;
    let test = TestApp::start().await;
    let payload = pay(&test, input("k", 7, 42, APPROVED)).await;
    assert_eq!(payload["userErrors"][0]["code"], "GATEWAY_UNAVAILABLE");
    assert_eq!(payload["payment"], Value::Null);
    nothing_happened(&toss, &test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_bad_field_is_named_and_nothing_is_written_or_called() {
    let (toss, test) = start().await;
    let long = |length: usize| json!("가".repeat(length));
    for (pointer, value) in [
        ("/input/amount", json!(-1)),
        ("/input/amount", json!(0)),
        ("/input/userId", json!("0")),
        ("/input/userId", json!("abc")),
        ("/input/userId", json!("-5")),
        ("/input/userId", json!("9223372036854775808")),
        ("/input/meetingId", json!("0")),
        ("/input/meetingId", json!("1.5")),
        ("/input/orderName", json!("")),
        ("/input/orderName", long(101)),
        ("/input/orderName", json!("a\0b")),
        ("/input/idempotencyKey", json!("")),
        ("/input/idempotencyKey", long(256)),
        ("/input/idempotencyKey", json!("a\0b")),
        ("/input/card/number", json!("")),
        ("/input/card/number", json!("4330-0000-0000-0001")),
        ("/input/card/number", json!("43300000000")),
        ("/input/card/number", json!("433000000000000000001")),
        ("/input/card/number", json!("４３３０００００００００００００")),
        ("/input/card/expirationYear", json!("2030")),
        ("/input/card/expirationMonth", json!("13")),
        ("/input/card/expirationMonth", json!("00")),
        ("/input/card/password", json!("1")),
        ("/input/card/password", json!("1234")),
        ("/input/card/identityNumber", json!("90010")),
        ("/input/card/identityNumber", json!("9001011234567")),
    ] {
        let mut variables = input("k", 7, 42, APPROVED);
        *variables.pointer_mut(pointer).unwrap() = value.clone();
        let payload = pay(&test, variables).await;
        let field: Vec<&str> = pointer.split('/').skip(1).collect();
        assert_eq!(payload["userErrors"][0]["code"], "INVALID_INPUT", "{pointer} {value}");
        assert_eq!(payload["userErrors"][0]["field"], json!(field), "{pointer} {value}");
        assert_eq!(payload["payment"], Value::Null, "{pointer} {value}");
        let told = payload["userErrors"][0]["message"].as_str().unwrap();
        assert!(!told.contains("4330") && !told.contains("9001"), "{told}");
    }
    nothing_happened(&toss, &test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_amount_that_json_cannot_hold_and_a_missing_field_are_named_by_their_argument() {
    let (toss, test) = start().await;
    for (pointer, value) in [
        ("/input/amount", json!(9_007_199_254_740_992_i64)),
        ("/input/amount", json!(1.5)),
        ("/input/amount", json!("100")),
        ("/input/amount", json!(null)),
        ("/input/card", json!(null)),
        ("/input/card/number", json!(null)),
        ("/input/card/number", json!(4_330_000_000_000_001_i64)),
    ] {
        let mut variables = input("k", 7, 42, APPROVED);
        *variables.pointer_mut(pointer).unwrap() = value.clone();
        let answer = test.service().query(CREATE, variables).await;
        assert_eq!(code(&answer), "BAD_USER_INPUT", "{pointer} {value}: {answer}");
        let named = blamed(&answer);
        assert!(pointer.replace('/', ".").contains(&format!(".{named}")) && !named.is_empty(), "{answer}");
        assert!(!answer.to_string().contains("433000"), "{answer}");
    }
    nothing_happened(&toss, &test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_without_password_and_identity_number_is_taken() {
    let (_toss, test) = start().await;
    let mut variables = input("k", 7, 42, APPROVED);
    let card = variables["input"]["card"].as_object_mut().unwrap();
    card.remove("password");
    card.remove("identityNumber");
    assert_eq!(pay(&test, variables).await["payment"]["status"], "COMPLETED");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_billion_won_is_exact_everywhere() {
    let (toss, test) = start().await;
    let inbox = test.inbox(&["payment.completed"]).await;
    let mut variables = input("k", 7, 42, APPROVED);
    variables["input"]["amount"] = json!(3_000_000_000_i64);
    let payload = pay(&test, variables).await;
    assert_eq!(payload["payment"]["amount"], 3_000_000_000_i64);
    let data = test.operator().data("{ payment(id: 1) { amount } }", json!({})).await;
    assert_eq!(data["payment"]["amount"], 3_000_000_000_i64);
    assert_eq!(test.db.value::<i64>("SELECT amount FROM payment").await, 3_000_000_000);
    assert_eq!(toss.payments().await[0]["paid"], 3_000_000_000_i64);
    let message = eventually("the event arrives", async || inbox.all().pop()).await;
    assert_eq!(message.body["data"]["amount"], 3_000_000_000_i64);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_broker_is_down_payments_succeed_and_their_events_come_afterwards() {
    let (proxy, url) = Proxy::before(&service_url("AMQP_URL")).await;
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).amqp_url(url).start().await;
    let inbox = test.inbox(&["payment.completed"]).await;
    proxy.refuse();
    let states = test.app.broker.state();
    eventually("the outage is noticed", async || (!states.borrow().is_up()).then_some(())).await;
    for number in 1..=10 {
        let payload = pay(&test, input(&format!("k{number}"), 7, number, APPROVED)).await;
        assert_eq!(payload["payment"]["status"], "COMPLETED");
    }
    assert_eq!(test.db.count("payment_outbox WHERE status = 'PENDING' AND retry_count = 0").await, 10);
    let waiting = "{ outboxEvents { nodes { waitingFor { reason } } } }";
    let data = test.operator().data(waiting, json!({})).await;
    assert_eq!(data["outboxEvents"]["nodes"][0]["waitingFor"]["reason"], "BROKER_DOWN");
    proxy.pass();
    eventually("all arrive", async || (inbox.len() >= 10).then_some(())).await;
    inbox.settled().await;
    assert_eq!(inbox.counts().into_values().collect::<Vec<_>>(), [1; 10], "once each");
    assert_eq!(test.db.count("payment_outbox WHERE retry_count > 0").await, 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_to_the_provider_is_on_record() {
    let (toss, test) = start().await;
    for (number, card) in [(1, APPROVED), (2, DECLINED)] {
        pay(&test, input(&format!("k{number}"), 7, number, card)).await;
    }
    let query = "{ payments { nodes { flowId providerCalls { provider operation idempotencyKey outcome code durationMs } } } }";
    let data = test.operator().data(query, json!({})).await;
    let calls = toss.calls().await;
    for (node, sent, outcome, code) in
        [(1, 0, "APPROVED", json!(null)), (0, 1, "REFUSED", json!("REJECT_CARD_PAYMENT"))]
    {
        let shown = &data["payments"]["nodes"][node]["providerCalls"];
        assert_eq!(shown.as_array().unwrap().len(), 1);
        assert_eq!((&shown[0]["provider"], &shown[0]["operation"]), (&json!("TOSS"), &json!("key-in")));
        assert_eq!((&shown[0]["outcome"], &shown[0]["code"]), (&json!(outcome), &code));
        assert_eq!(shown[0]["idempotencyKey"], calls[sent]["idempotencyKey"]);
        assert!(shown[0]["durationMs"].as_i64().unwrap() >= 0);
    }
    let flows =
        "provider_call JOIN payment ON payment.id = subject_id AND payment.flow_id = provider_call.flow_id";
    assert_eq!(test.db.count(flows).await, 2);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_slow_payments_hold_no_connection_of_a_pool_of_eight_heavy() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).set("db-pool-size", "8").start().await;
    behave(&toss, json!({ "times": 200, "delayMs": 5_000 })).await;
    let mut requests = JoinSet::new();
    for number in 1..=200 {
        let service = test.service();
        requests.spawn(async move {
            service.data(CREATE, input(&format!("k{number}"), 7, number, APPROVED)).await
        });
    }
    eventually("all are at the provider at once", async || {
        let calls = toss.calls().await;
        (calls.len() == 200 && calls.iter().all(|call| call["outcome"] == "RUNNING")).then_some(())
    })
    .await;
    eventually("no connection is in use", async || {
        let (work, read) = test.app.db.pool_use();
        (work.in_use == 0 && read.in_use == 0).then_some(())
    })
    .await;
    let operator = test.operator();
    let mut slowest = Duration::ZERO;
    for _ in 0..20 {
        let asked = Instant::now();
        let data = operator.data("{ payments { count { value } nodes { id status } } }", json!({})).await;
        slowest = slowest.max(asked.elapsed());
        assert_eq!(data["payments"]["count"]["value"], 200);
    }
    println!("while 200 payments wait for the provider the slowest of 20 queries took {slowest:?}");
    for answer in requests.join_all().await {
        assert_eq!(answer["createKeyInPayment"]["payment"]["status"], "COMPLETED", "{answer}");
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_free_connection_the_caller_is_told_to_try_again_in_root_and_nested_fields() {
    let toss = Toss::start().await;
    let test = TestApp::builder()
        .toss(&toss)
        .set("workers", "false")
        .set("db-pool-size", "2")
        .set("db-checkout-timeout", "300ms")
        .start()
        .await;
    let admin = test.admin();
    let nested = CREATE.replace("payment { id", "payment { failures { id } id");
    let reading = test.app.db.read().await.unwrap();
    for (query, variables) in [
        ("{ payments { nodes { id } } }", json!({})),
        ("{ payment(id: 1) { id } }", json!({})),
        (nested.as_str(), input("k", 7, 42, APPROVED)),
    ] {
        assert_eq!(admin.refused(query, variables).await, "RATE_LIMITED", "{query}");
    }
    drop(reading);
    assert_eq!(test.db.count("payment WHERE status = 'COMPLETED'").await, 1, "reading holds up no payment");
    let working = eventually("a connection for work", async || test.app.db.conn().await.ok()).await;
    assert_eq!(admin.refused(CREATE, input("other", 8, 42, APPROVED)).await, "RATE_LIMITED");
    drop(working);
    assert_eq!((test.db.count("payment").await, toss.calls().await.len()), (1, 1));
    test.stop().await;
}

/// Every row of every table as text.
async fn everything_stored(test: &TestApp) -> String {
    let tables: Vec<String> =
        test.db.values("SELECT relname::text FROM pg_stat_user_tables WHERE schemaname = 'public'").await;
    assert!(tables.len() >= 8, "{tables:?}");
    let mut all = String::new();
    for table in tables {
        let rows: Vec<String> = test.db.values(&format!("SELECT row_to_json(t)::text FROM {table} t")).await;
        all.extend(rows);
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn no_digit_of_a_card_is_stored_or_logged_at_any_level() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).set("workers", "false").start().await;
    let log = std::env::temp_dir().join(format!("{}log", test.prefix));
    let url = toss.url();
    let settings = [
        ("toss-url", url.as_str()),
        ("toss-secret-key", "test_sk_sim0000000000000000"),
        ("provider-timeout", "1s"),
        (
            "log",
            "trace,tungstenite=trace,hyper=trace,hyper_util=trace,reqwest=trace,rustls=trace,tower=trace,tokio_postgres=trace,lapin=trace",
        ),
        ("log-format", "json"),
    ];
    let file = std::fs::File::create(&log).unwrap();
    let process = Process::start_with_log(&test, &settings, Stdio::from(file)).await;
    let service = Actor::new(process.base.clone(), Some(token(&[Role::Service], "service")));
    let mut socket = service.socket().await;
    let cards = [APPROVED, DECLINED, "4000000000000119", "4000000000000341"];
    for (number, card) in (1..).zip(cards) {
        let mut variables = input(&format!("k{number}"), 7, number, card);
        variables["input"]["card"]["identityNumber"] = json!("8802291234");
        service.query(CREATE, variables.clone()).await;
        // Refused with the card in hand: as an argument of the wrong type, and as text that is no JSON.
        let mut wrong = variables.clone();
        wrong["input"]["card"]["number"] = json!([card]);
        service.query(CREATE, wrong.clone()).await;
        socket.subscribe("1", CREATE, wrong).await;
        socket.next().await.unwrap();
        let literal = format!(
            "mutation {{ createKeyInPayment(input: {{ card: {{ number: \"{card}\" }} }}) {{ nosuch }} }}"
        );
        service.query(&literal, json!({})).await;
        service.query(&format!("{literal} }}"), json!({})).await;
        service.post(&json!([card, variables])).await;
    }
    assert_eq!(process.terminate().await, Some(0));
    let written = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    assert!(written.contains("\"level\":\"TRACE\"") || written.contains("DEBUG"), "the log is on");
    assert_eq!(test.db.count("payment").await, 4);
    let stored = everything_stored(&test).await;
    for secret in cards.iter().chain(&["8802291234"]) {
        assert!(!stored.contains(secret), "{secret} is in the database");
        assert!(!written.contains(secret), "{secret} is in the log");
        let middle = secret.get(4..10).unwrap();
        assert!(!stored.contains(&format!("\"{middle}")), "part of {secret} is in the database");
    }
    let gateway_key = "dGVzdF9za19zaW0wMDAw";
    for secret in ["test_sk_sim", gateway_key, SECRET, service.token.as_deref().unwrap()] {
        assert!(!written.contains(secret), "{secret} is in the log");
    }
    test.stop().await;
}
