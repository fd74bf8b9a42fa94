//! Consumers whose broker, database or neighbour fails.

use std::time::Duration;

use paydesk::httpclient::HttpClient;
use serde_json::{Value, json};

use crate::{
    consumers::{REGISTER, done},
    payments::APPROVED,
    support::{TestApp, Toss, eventually, messages::register, process::Process, proxy::Proxy, service_url},
};

const QUEUE: &str = "payment.participant.register";

async fn start(toss: &Toss) -> TestApp {
    let test = TestApp::builder().toss(toss).test_card(APPROVED).set("provider-timeout", "1s").start().await;
    test.consuming().await;
    test
}

async fn paid(test: &TestApp, meeting: i64) {
    let message = register(meeting, 42);
    test.send(REGISTER, &message).await;
    done(test, &message).await;
}

/// The host and port of the broker, and its URL with others.
fn broker() -> (String, impl Fn(&str) -> String) {
    let url = service_url("AMQP_URL");
    let authority = url.split("://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let host = authority.rsplit('@').next().unwrap().to_owned();
    let replaced = host.clone();
    (host, move |other: &str| url.replacen(&replaced, other, 1))
}

async fn readiness(test: &TestApp) -> (u16, Value) {
    let http = HttpClient::new(Duration::from_secs(5), None).unwrap();
    let answer = http.get(&format!("http://{}/readyz", test.base), &[]).await.unwrap();
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_queue_is_declared_anew_and_consumed() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    paid(&test, 1).await;
    test.rabbit.delete_queue(&test.name(QUEUE)).await;
    eventually("the queue is there again", async || {
        let noticed = test.app.inbox.consumers().iter().any(|consumer| {
            consumer.subscription().queue.name == QUEUE
                && consumer.state() != paydesk::broker::ConsumerState::Consuming
        });
        noticed.then_some(())
    })
    .await;
    test.consuming().await;
    paid(&test, 2).await;
    test.stop().await;
}

/// Routing keys and the queues that they lead to.
const ROUTES: [(&str, &str); 3] = [
    (REGISTER, QUEUE),
    ("participant.cancel", "payment.participant.cancel"),
    ("meeting.deleted", "payment.meeting.deleted"),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_while_messages_are_consumed_comes_back() {
    let toss = Toss::start().await;
    let test = TestApp::builder()
        .toss(&toss)
        .test_card(APPROVED)
        .set("amqp-redeclare-interval", "300ms")
        .start()
        .await;
    test.consuming().await;
    let events = test.name("meeting.events");
    for exchange in [&events, &test.name("payment.dlx")] {
        test.rabbit.delete_exchange(exchange).await;
    }
    for (_key, queue) in ROUTES {
        test.rabbit.delete_queue(&test.name(&format!("{queue}.dlq"))).await;
    }
    for (key, queue) in ROUTES {
        let dlq = test.name(&format!("{queue}.dlq"));
        eventually(
            &format!("messages of {queue} come, and its dead letters go where they should"),
            async || {
                let routed = test.rabbit.is_routed(&events, key, b"not json").await;
                (routed && test.rabbit.waiting_if_there(&dlq).await? > 0).then_some(())
            },
        )
        .await;
    }
    test.consuming().await;
    paid(&test, 1).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_replaced_by_another_kind_while_messages_are_consumed_is_a_clear_error() {
    let toss = Toss::start().await;
    let test = TestApp::builder()
        .toss(&toss)
        .test_card(APPROVED)
        .set("amqp-redeclare-interval", "300ms")
        .start()
        .await;
    test.consuming().await;
    let events = test.name("meeting.events");
    eventually("it is replaced", async || test.rabbit.replace_exchange(&events).await.then_some(())).await;
    let told = eventually("readiness tells", async || {
        let (status, body) = readiness(&test).await;
        let told = body["detail"]["consumer-participant-register"].as_str()?.to_owned();
        (status == 503 && told.contains("inequivalent arg")).then_some(told)
    })
    .await;
    assert!(told.contains(&events), "{told}");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_without_dead_letter_exchange_is_a_clear_error_and_the_rest_lives() {
    let toss = Toss::start().await;
    // The neighbour, which does not consume, makes the names known before the consumer starts.
    let first = TestApp::builder().set("workers", "false").start().await;
    first.rabbit.plain_queue(&first.name(QUEUE)).await;
    let test = TestApp::builder().toss(&toss).test_card(APPROVED).start_beside(&first).await;
    let (status, body) = eventually("readiness tells", async || {
        let (status, body) = readiness(&test).await;
        body["detail"]["consumer-participant-register"]
            .as_str()?
            .contains("inequivalent arg")
            .then_some((status, body))
    })
    .await;
    assert_eq!(status, 503);
    let told = body["detail"]["consumer-participant-register"].as_str().unwrap();
    assert!(told.contains(&first.name(QUEUE)), "{told}");
    assert!(told.contains("x-dead-letter-exchange"), "{told}");
    let viewer = test.operator().data("{ viewer { subject } }", json!({})).await;
    assert_eq!(viewer["viewer"]["subject"], "operator", "the rest of the process lives");
    test.stop().await;
    first.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_data_is_not_lost_when_nobody_takes_dead_letters() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    test.rabbit.delete_queue(&test.name(&format!("{QUEUE}.dlq"))).await;
    test.send_bytes(REGISTER, b"not json").await;
    eventually("it is kept", async || {
        (test.db.count("inbound_dead_letter WHERE status = 'OPEN' AND body = 'not json'").await == 1)
            .then_some(())
    })
    .await;
    paid(&test, 1).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_cut_three_times_costs_no_message_and_no_second_effect() {
    let toss = Toss::start().await;
    let (host, through) = broker();
    let proxy = Proxy::start(host).await;
    let test = TestApp::builder()
        .toss(&toss)
        .test_card(APPROVED)
        .amqp_url(through(&proxy.addr.to_string()))
        .start()
        .await;
    test.consuming().await;
    let inbox = test.inbox(&["payment.completed"]).await;
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "times": 30, "delayMs": 100 })).await;
    let mut messages = Vec::new();
    for round in 0..3 {
        for number in 0..10 {
            let message = register(round * 10 + number + 1, 42);
            test.send(REGISTER, &message).await;
            messages.push(message);
        }
        // While some are in hand.
        eventually("some are in hand", async || {
            (toss.calls().await.len() > messages.len() - 8).then_some(())
        })
        .await;
        proxy.refuse();
        tokio::time::sleep(Duration::from_millis(200)).await;
        proxy.pass();
    }
    for message in &messages {
        done(&test, message).await;
    }
    test.consuming().await;
    eventually("all events arrive", async || (inbox.counts().len() == 30).then_some(())).await;
    assert_eq!(toss.payments().await.len(), 30);
    assert_eq!(test.db.count("payment").await, 30);
    assert_eq!(test.db.count("inbound_dead_letter").await, 0);
    eventually("every message is acknowledged in the end", async || {
        (test.rabbit.waiting(&test.name(QUEUE)).await == 0).then_some(())
    })
    .await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_the_database_refuses_is_dead_lettered_at_once() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    test.db
        .run(
            "ALTER TABLE payment ALTER COLUMN order_name TYPE varchar(20);
              ALTER TABLE payment ADD CONSTRAINT payment_test_ck CHECK (amount <> 777)",
        )
        .await;
    let (mut long, mut odd) = (register(1, 42), register(2, 42));
    long["data"]["orderName"] = json!("longer than twenty characters");
    odd["data"]["amount"] = json!(777);
    test.send(REGISTER, &long).await;
    test.send(REGISTER, &odd).await;
    let refused = "inbound_dead_letter WHERE error_class = 'DATA' AND error_code = 'DATABASE_REFUSED'";
    eventually("both are kept", async || (test.db.count(refused).await == 2).then_some(())).await;
    assert_eq!(test.db.count("failure WHERE kind = 'INBOUND_DEAD_LETTERED' AND attempt = 1").await, 2);
    assert_eq!(test.db.count("payment").await, 0);
    paid(&test, 3).await;
    test.stop().await;
}

/// What a process is set to that pays with the test card at this provider.
fn paying_at(url: &str) -> [(&'static str, &str); 4] {
    [
        ("toss-url", url),
        ("toss-secret-key", "test_sk_sim0000000000000000"),
        ("toss-test-card", "4330000000000001:30:12:12:900101"),
        ("log", "error"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_dies_in_each_try_ends_in_a_dead_letter() {
    let toss = Toss::start().await;
    let test = TestApp::builder().set("workers", "false").start().await;
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "times": 100, "delayMs": 20_000, "effect": false, "status": 500 })).await;
    let url = toss.url();
    let settings = [
        &paying_at(&url)[..],
        // The provider, which still works on the first call, answers the next ones at once: no process tries twice.
        &[("consumer-retry-delay", "1m")],
    ]
    .concat();
    let message = register(7, 42);
    for round in 1..=4 {
        let mut process = Process::start(&test, &settings).await;
        if round == 1 {
            process.consuming().await;
            test.send(REGISTER, &message).await;
        }
        eventually("the try is under way", async || (toss.key_ins().await.len() == round).then_some(()))
            .await;
        process.kill();
    }
    let process = Process::start(&test, &settings).await;
    // By the process that finds the tries used up, or by the fourth one itself: the provider, which still works on the
    // first call, may answer the fourth before the kill comes.
    let exhausted = "inbound_dead_letter WHERE error_class = 'SYSTEM'";
    eventually("it is dead-lettered", async || (test.db.count(exhausted).await == 1).then_some(())).await;
    let keys = toss.key_ins().await;
    assert_eq!(keys.len(), 4, "one try and three more");
    assert!(keys.iter().all(|key| *key == keys[0]), "each with the same key");
    drop(process);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_keeping_and_rejecting_a_message_is_not_tried_again() {
    let toss = Toss::start().await;
    let test = TestApp::builder().set("workers", "false").start().await;
    let url = toss.url();
    let settings = paying_at(&url);
    toss.behave(
        json!({ "gateway": "toss", "operation": "key-in", "times": 100, "effect": false, "status": 500 }),
    )
    .await;
    let message = register(7, 42);
    let (queue, dlq) = (test.name(QUEUE), test.name(&format!("{QUEUE}.dlq")));
    let rejected = async |count| {
        eventually("it is rejected", async || (test.rabbit.waiting(&dlq).await == count).then_some(())).await;
    };
    let mut process = Process::start(&test, &settings).await;
    process.consuming().await;
    test.send(REGISTER, &message).await;
    rejected(1).await;
    assert_eq!(toss.key_ins().await.len(), 4, "one try and three more");
    process.kill();
    // As the broker has it when the rejection never came.
    test.send(REGISTER, &message).await;
    test.rabbit.take_and_die(&queue).await;
    let mut process = Process::start(&test, &settings).await;
    rejected(2).await;
    assert_eq!(toss.key_ins().await.len(), 4);
    assert_eq!(test.db.count("inbound_dead_letter").await, 1);
    // Whoever sends it again means it.
    test.send(REGISTER, &message).await;
    rejected(3).await;
    assert_eq!(toss.key_ins().await.len(), 8);
    process.kill();
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_inbox_and_effect_the_effect_comes_once() {
    let toss = Toss::start().await;
    let test = TestApp::builder().set("workers", "false").start().await;
    let url = toss.url();
    let settings = [&paying_at(&url)[..], &[("consumer-retry-delay", "500ms")]].concat();
    // The money moves, and the answer comes after the process is dead.
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "times": 1, "delayMs": 1_500 })).await;
    let mut process = Process::start(&test, &settings).await;
    let message = register(7, 42);
    let queue = test.name(QUEUE);
    process.consuming().await;
    test.send(REGISTER, &message).await;
    eventually("the provider was called", async || (toss.calls().await.len() == 1).then_some(())).await;
    process.kill();
    let process = Process::start(&test, &settings).await;
    done(&test, &message).await;
    assert_eq!(toss.payments().await.len(), 1, "charged once");
    assert_eq!(test.db.count("payment WHERE status = 'COMPLETED'").await, 1);
    assert_eq!(test.db.count("payment_outbox WHERE event_type = 'PAYMENT_COMPLETED'").await, 1);
    eventually("acknowledged", async || (test.rabbit.waiting(&queue).await == 0).then_some(())).await;
    drop(process);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_away_nothing_is_tried_or_rejected() {
    let toss = Toss::start().await;
    let proxy_to = service_url("DATABASE_URL");
    let authority = proxy_to.split("://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let host = authority.rsplit('@').next().unwrap().to_owned();
    let proxy = Proxy::start(host.clone()).await;
    let test = TestApp::builder()
        .toss(&toss)
        .test_card(APPROVED)
        .set("db-checkout-timeout", "300ms")
        .database_through(host, proxy.addr.to_string())
        .start()
        .await;
    test.consuming().await;
    paid(&test, 1).await;
    proxy.refuse();
    let message = register(2, 42);
    test.send(REGISTER, &message).await;
    // Long enough for all tries, had they been made.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(toss.calls().await.len(), 1);
    assert_eq!(test.rabbit.waiting(&test.name(&format!("{QUEUE}.dlq"))).await, 0);
    proxy.pass();
    done(&test, &message).await;
    let tries: i32 = test.db.value("SELECT max(tries) FROM inbox").await;
    assert_eq!(tries, 1, "the outage used up no try");
    assert_eq!(test.db.count("inbound_dead_letter").await, 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn quorum_queues_are_consumed_likewise() {
    let toss = Toss::start().await;
    let test = TestApp::builder()
        .toss(&toss)
        .test_card(APPROVED)
        .set("amqp-queue-type", "quorum")
        .set("amqp-redeclare-interval", "200ms")
        .start()
        .await;
    test.consuming().await;
    paid(&test, 1).await;
    test.send_bytes(REGISTER, b"not json").await;
    let dlq = test.name(&format!("{QUEUE}.dlq"));
    eventually("it is dead-lettered", async || (test.rabbit.waiting(&dlq).await == 1).then_some(())).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_connection_is_noticed_by_its_heartbeat_and_replaced() {
    let toss = Toss::start().await;
    let (host, through) = broker();
    let proxy = Proxy::start(host).await;
    let url = format!("{}?heartbeat=1", through(&proxy.addr.to_string()));
    let test = TestApp::builder()
        .toss(&toss)
        .test_card(APPROVED)
        .amqp_url(url)
        .set("amqp-connect-timeout", "1s")
        .start()
        .await;
    test.consuming().await;
    paid(&test, 1).await;
    proxy.freeze();
    eventually("the silence is noticed", async || {
        let consumers = test.app.inbox.consumers();
        let silent = |state| matches!(state, paydesk::broker::ConsumerState::Lost(_));
        consumers.iter().all(|consumer| silent(consumer.state())).then_some(())
    })
    .await;
    proxy.pass();
    test.consuming().await;
    paid(&test, 2).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consumer_that_the_broker_made_too_late_keeps_no_message() {
    let toss = Toss::start().await;
    let (host, through) = broker();
    let proxy = Proxy::start(host).await;
    // The names are known, and the queue is there, before anybody consumes it.
    let first = TestApp::builder().set("workers", "false").start().await;
    let queue = first.name(QUEUE);
    // AMQP's basic.consume of this queue: class 60, method 20, a reserved number, the name with its length.
    let mut consume = vec![0, 60, 0, 20, 0, 0, u8::try_from(queue.len()).unwrap()];
    consume.extend(queue.as_bytes());
    proxy.answer_late(&consume, Duration::from_secs(4));
    let test = TestApp::builder()
        .toss(&toss)
        .test_card(APPROVED)
        .amqp_url(through(&proxy.addr.to_string()))
        .set("amqp-connect-timeout", "1s")
        .start_beside(&first)
        .await;
    test.consuming().await;
    // Two consumers would share them.
    for meeting in 1..=4 {
        paid(&test, meeting).await;
    }
    test.stop().await;
    first.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_told_to_stop_ends_what_it_has_in_hand_and_leaves_the_rest() {
    let toss = Toss::start().await;
    let test = TestApp::builder().set("workers", "false").start().await;
    let url = toss.url();
    let settings = [&paying_at(&url)[..], &[("consumer-prefetch", "2")]].concat();
    let process = Process::start(&test, &settings).await;
    process.consuming().await;
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "times": 2, "delayMs": 1_000 })).await;
    for meeting in 1..=5 {
        test.send(REGISTER, &register(meeting, 42)).await;
    }
    eventually("two are in hand", async || (toss.calls().await.len() == 2).then_some(())).await;
    assert_eq!(process.terminate().await, Some(0));
    assert_eq!(test.db.count("payment WHERE status = 'COMPLETED'").await, 2);
    assert_eq!(test.db.count("inbox WHERE state = 'DONE'").await, 2);
    assert_eq!(test.rabbit.waiting(&test.name(QUEUE)).await, 3, "the others wait for the next process");
    test.stop().await;
}
