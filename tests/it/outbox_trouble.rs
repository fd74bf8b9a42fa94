//! What is not the message's fault uses no retry; what a process that died was holding is taken over.

use std::time::Duration;

use paydesk::outbox::GateState;

use crate::support::{TestApp, eventually, process::Process, proxy::Proxy, service_url};

async fn nothing_used_a_retry(test: &TestApp) {
    assert_eq!(test.db.count("payment_outbox WHERE retry_count > 0 OR status = 'DEAD_LETTERED'").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_broker_is_down_nothing_is_claimed_and_the_backlog_drains_by_itself() {
    let (proxy, url) = Proxy::before(&service_url("AMQP_URL")).await;
    proxy.refuse();
    let test = TestApp::builder().amqp_url(url).without_waiting_for_the_broker().start().await;
    test.rabbit.declare_exchange(&test.exchange()).await;
    let inbox = test.inbox(&["x"]).await;
    for _ in 0..20 {
        test.insert_event("x").await;
    }
    eventually("the outage is on the feed", async || {
        (test.db.count("failure WHERE kind = 'BROKER_UNAVAILABLE'").await == 1).then_some(())
    })
    .await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(test.db.count("payment_outbox WHERE status = 'PENDING' AND claim_token IS NULL").await, 20);
    proxy.pass();
    eventually("all are published", async || {
        (test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await == 20).then_some(())
    })
    .await;
    inbox.settled().await;
    assert_eq!(inbox.counts().len(), 20);
    assert!(inbox.counts().values().all(|count| *count == 1), "each once");
    assert_eq!(
        test.db.count("failure WHERE kind = 'BROKER_UNAVAILABLE'").await,
        1,
        "one outage is told once"
    );
    nothing_used_a_retry(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_broker_costs_no_retry_and_after_the_thaw_everything_arrives() {
    let (proxy, url) = Proxy::before(&service_url("AMQP_URL")).await;
    let test = TestApp::builder()
        .amqp_url(url)
        .set("outbox-confirm-timeout", "500ms")
        .set("amqp-connect-timeout", "500ms")
        .start()
        .await;
    let inbox = test.inbox(&["x"]).await;
    let warm = test.insert_event("x").await;
    test.reaches(warm, "PUBLISHED").await;
    proxy.freeze();
    for _ in 0..19 {
        test.insert_event("x").await;
    }
    let gate = test.app.publisher.gate();
    eventually("the gate closes", async || (gate.state() == GateState::Probing).then_some(())).await;
    proxy.pass();
    eventually("all are published", async || {
        (test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await == 20).then_some(())
    })
    .await;
    inbox.settled().await;
    assert_eq!(inbox.counts().len(), 20, "twenty distinct messages");
    nothing_used_a_retry(&test).await;
    assert_eq!(test.db.count("payment_outbox WHERE suspect").await, 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_connections_cost_no_retry() {
    let (proxy, url) = Proxy::before(&service_url("AMQP_URL")).await;
    let test = TestApp::builder().amqp_url(url).start().await;
    let inbox = test.inbox(&["x"]).await;
    for round in 0..5 {
        for _ in 0..100 {
            test.insert_event("x").await;
        }
        tokio::time::sleep(Duration::from_millis(50 * round)).await;
        proxy.refuse();
        tokio::time::sleep(Duration::from_millis(100)).await;
        proxy.pass();
    }
    eventually("all are published", async || {
        (test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await == 500).then_some(())
    })
    .await;
    inbox.settled().await;
    assert_eq!(inbox.counts().len(), 500);
    nothing_used_a_retry(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_stuck_in_processing_are_recovered_also_on_their_last_try() {
    let test = TestApp::builder()
        .set("db-checkout-timeout", "100ms")
        .set("outbox-confirm-timeout", "500ms")
        .set("outbox-stuck-after", "1s")
        .set("outbox-recovery-interval", "200ms")
        .start()
        .await;
    let _inbox = test.inbox(&["x"]).await;
    let fresh = test.insert_event("x").await;
    let last = test.insert_event("x").await;
    let by_hand = test.insert_event("x").await;
    test.reaches(by_hand, "PUBLISHED").await;
    test.db
        .run(&format!(
            "UPDATE payment_outbox SET status = 'PROCESSING', claim_token = gen_random_uuid(), claimed_by = 'a dead process',
                 processing_started_at = now() - interval '1 hour', retry_count = CASE WHEN id = {last} THEN 2 ELSE 0 END
             WHERE id IN ({fresh}, {last});
             UPDATE payment_outbox SET status = 'PROCESSING', claim_token = NULL, processing_started_at = NULL,
                 created_at = now() - interval '1 hour' WHERE id = {by_hand}"
        ))
        .await;
    test.reaches(fresh, "PUBLISHED").await;
    test.reaches(by_hand, "PUBLISHED").await;
    test.reaches(last, "DEAD_LETTERED").await;
    let recovered = test.db.count(
        "failure WHERE kind = 'STUCK_RECOVERED' AND code = 'STUCK' AND detail->>'worker' = 'a dead process'",
    );
    assert_eq!(recovered.await, 1);
    assert_eq!(test.db.count("failure WHERE kind = 'OUTBOX_DEAD_LETTERED' AND code = 'STUCK'").await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_rows_that_no_scan_would_find_are_mended_and_those_at_the_limit_have_a_last_try() {
    let test = TestApp::builder()
        .set("outbox-recovery-interval", "200ms")
        .set("outbox-retry-interval", "200ms")
        .start()
        .await;
    let _inbox = test.inbox(&["x"]).await;
    let (without_time, arriving, refused) =
        (test.insert_event("x").await, test.insert_event("x").await, test.insert_event("x").await);
    for id in [without_time, arriving, refused] {
        test.reaches(id, "PUBLISHED").await;
    }
    test.db
        .run(&format!(
            "UPDATE payment_outbox SET status = 'FAILED', next_retry_at = NULL, retry_count = 1 WHERE id = {without_time};
             UPDATE payment_outbox SET status = 'FAILED', next_retry_at = now(), retry_count = 3 WHERE id = {arriving};
             UPDATE payment_outbox SET status = 'FAILED', next_retry_at = now(), retry_count = 3, routing_key = 'nobody'
             WHERE id = {refused}"
        ))
        .await;
    test.reaches(without_time, "PUBLISHED").await;
    test.reaches(arriving, "PUBLISHED").await;
    test.reaches(refused, "DEAD_LETTERED").await;
    assert_eq!(test.db.count("failure WHERE kind = 'OUTBOX_DEAD_LETTERED'").await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn backends_terminated_under_load_lose_nothing() {
    let test = TestApp::builder()
        .set("outbox-confirm-timeout", "1s")
        .set("db-checkout-timeout", "500ms")
        .set("outbox-stuck-after", "3s")
        .set("outbox-recovery-interval", "500ms")
        .start()
        .await;
    let inbox = test.inbox(&["x"]).await;
    for _round in 0..10 {
        for _ in 0..30 {
            test.insert_event("x").await;
        }
        test.db
            .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'paydesk'")
            .await;
    }
    eventually("all are published", async || {
        (test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await == 300).then_some(())
    })
    .await;
    inbox.settled().await;
    assert_eq!(inbox.counts().len(), 300, "every event arrived; repeats carry the same message id");
    test.stop().await;
}

/// pitfalls.md F6: a confirm that nobody awaits any more is kept by its channel. `make bench ARGS=memory` is the long form.
#[tokio::test(flavor = "multi_thread")]
async fn batches_that_time_out_leave_nothing_behind_in_memory_heavy() {
    const EVENTS: i64 = 100;
    let (proxy, url) = Proxy::before(&service_url("AMQP_URL")).await;
    let test = TestApp::builder().set("workers", false).start().await;
    let queue = test.rabbit.durable_queue(&test.exchange(), "x").await;
    let settings = [
        ("amqp-url", url.as_str()),
        ("amqp-connect-timeout", "500ms"),
        ("outbox-confirm-timeout", "200ms"),
        ("outbox-pending-interval", "200ms"),
        ("outbox-window", "64"),
        ("log", "error"),
    ];
    let process = Process::start(&test, &settings).await;
    let published = async || test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await;
    let (mut memory, mut lost) = (Vec::new(), 0);
    for round in 0..12 {
        test.db
            .run(&format!(
                "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
                 SELECT 'TESTED', 'TEST', n::text, '{}', 'x', to_json(repeat('x', 131072)) FROM generate_series(1, {EVENTS}) n",
                test.exchange()
            ))
            .await;
        eventually("the first ones are published", async || {
            (published().await > round * EVENTS).then_some(())
        })
        .await;
        proxy.freeze();
        // Unless all were through already.
        let done = (round + 1) * EVENTS;
        lost += eventually("a batch is lost", async || {
            let suspects = test.db.count("payment_outbox WHERE suspect").await;
            (suspects > 0).then_some(1).or((published().await == done).then_some(0))
        })
        .await;
        proxy.pass();
        eventually("all are published", async || (published().await == done).then_some(())).await;
        memory.push(process.resident_kib());
    }
    assert!(lost >= 6, "batches were lost in {lost} rounds only, which shows nothing");
    // In each round 4 MiB were in flight that timed out; what the first ones left warm, the later ones use again.
    assert!(memory[11] < memory[2] + 24 * 1024, "it grew round by round, in KiB: {memory:?}");
    nothing_used_a_retry(&test).await;
    assert_eq!(process.terminate().await, Some(0));
    test.rabbit.delete_queue(&queue).await;
    test.stop().await;
}
