//! A broker of the test's own that is really stopped, frozen, and out of memory.

use std::time::Duration;

use paydesk::broker::BrokerState;
use serde_json::json;

use crate::{
    consumers::{REGISTER, done},
    payments::{APPROVED, CREATE, input},
    support::{TestApp, Toss, app::QUEUES, eventually, messages::register, own::OwnServices, rabbit::Rabbit},
};

async fn pay(test: &TestApp, from: i64, count: i64) {
    for number in from..from + count {
        let data = test.service().data(CREATE, input(&format!("k{number}"), number, number, APPROVED)).await;
        assert_eq!(data["createKeyInPayment"]["payment"]["status"], "COMPLETED");
    }
}

async fn all_published(test: &TestApp, count: i64) {
    eventually("every event is published", async || {
        (test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await == count).then_some(())
    })
    .await;
    assert_eq!(
        test.db.count("payment_outbox WHERE retry_count > 0 OR attempt_count > 1").await,
        0,
        "no retry was used"
    );
    assert_eq!(test.db.count("failure WHERE subject_type = 'OUTBOX_EVENT'").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_stops_freezes_and_runs_out_of_memory_costs_no_payment_and_no_retry_heavy() {
    let broker = OwnServices::start("test-broker");
    let toss = Toss::start().await;
    let test = TestApp::builder()
        .amqp_url(broker.amqp_url.clone())
        .toss(&toss)
        .set("outbox-confirm-timeout", "1s")
        .set("amqp-connect-timeout", "2s")
        // The whole retry budget is 300 ms: an outage of seconds would dead-letter everything if it counted.
        .set("outbox-backoff-base", "100ms")
        .start()
        .await;
    let rabbit = Rabbit::connect(&broker.amqp_url).await;
    let queue = rabbit.durable_queue(&test.exchange(), "payment.#").await;
    pay(&test, 1, 5).await;
    all_published(&test, 5).await;

    broker.tell("stop", "rabbitmq");
    pay(&test, 6, 10).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(test.db.count("payment_outbox WHERE status = 'PENDING'").await, 10);
    let waiting = "{ outboxEvents(first: 1) { nodes { waitingFor { reason since } } } }";
    let data = test.operator().data(waiting, json!({})).await;
    assert_eq!(data["outboxEvents"]["nodes"][0]["waitingFor"]["reason"], "BROKER_DOWN");
    broker.tell("start", "rabbitmq");
    all_published(&test, 15).await;

    broker.tell("freeze", "rabbitmq");
    pay(&test, 16, 10).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    broker.tell("thaw", "rabbitmq");
    all_published(&test, 25).await;

    broker.ctl(&["set_vm_memory_high_watermark", "0.000001"]);
    pay(&test, 26, 10).await;
    let states = test.app.broker.state();
    eventually("the broker is blocked", async || {
        matches!(*states.borrow(), BrokerState::Blocked { .. }).then_some(())
    })
    .await;
    pay(&test, 36, 5).await;
    broker.ctl(&["set_vm_memory_high_watermark", "0.4"]);
    all_published(&test, 40).await;

    let rabbit = Rabbit::connect(&broker.amqp_url).await;
    let ids = rabbit.drain(&queue).await;
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 40, "every event arrived");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn consumers_go_on_after_restarts_and_a_freeze_and_acknowledge_under_a_memory_alarm_heavy() {
    let broker = OwnServices::start("test-consumers");
    let toss = Toss::start().await;
    let test = TestApp::builder()
        .amqp_url(broker.amqp_url.clone())
        .toss(&toss)
        .test_card(APPROVED)
        .set("amqp-connect-timeout", "2s")
        .start()
        .await;
    let _listens = Rabbit::connect(&broker.amqp_url).await.durable_queue(&test.exchange(), "payment.#").await;
    let exchange = test.name("meeting.events");
    let send = async |user: i64| {
        // A connection of its own each time: the last one went with the broker.
        let rabbit = Rabbit::connect(&broker.amqp_url).await;
        let message = register(1, user);
        rabbit.publish(&exchange, REGISTER, message.to_string().as_bytes()).await;
        message
    };
    for round in 1..=3 {
        test.consuming().await;
        let message = send(round).await;
        done(&test, &message).await;
        broker.tell("stop", "rabbitmq");
        broker.tell("start", "rabbitmq");
    }
    test.broker_is_up().await;
    test.consuming().await;
    broker.tell("freeze", "rabbitmq");
    tokio::time::sleep(Duration::from_secs(2)).await;
    broker.tell("thaw", "rabbitmq");
    let message = send(4).await;
    done(&test, &message).await;

    // Under way when the alarm comes; their acknowledgements go on the consumers' own connection.
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "times": 3, "delayMs": 2_000 })).await;
    let mut messages = Vec::new();
    for user in 5..=7 {
        messages.push(send(user).await);
    }
    broker.ctl(&["set_vm_memory_high_watermark", "0.000001"]);
    for message in &messages {
        done(&test, message).await;
    }
    broker.ctl(&["set_vm_memory_high_watermark", "0.4"]);
    assert_eq!(test.db.count("payment WHERE status = 'COMPLETED'").await, 7);
    assert_eq!(toss.payments().await.len(), 7);
    assert_eq!(test.db.count("inbound_dead_letter").await, 0);
    all_published(&test, 7).await;
    test.stop().await;
    let rabbit = Rabbit::connect(&broker.amqp_url).await;
    assert_eq!(rabbit.waiting(&test.name(QUEUES[0])).await, 0, "every message was acknowledged");
}
