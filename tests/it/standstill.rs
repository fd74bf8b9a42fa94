//! Processes that stand still, die at a bad moment, or do not know what time it is.

use std::{process::Stdio, time::Duration};

use paydesk::auth::Role;

use crate::{
    payments::{APPROVED, CREATE, input},
    support::{
        TestApp, Toss,
        api::{Actor, token},
        eventually,
        process::{Process, faketime},
        proxy::Proxy,
        service_url,
    },
};

/// A short lease, waits to match, and one publisher, whose channel is open once it has sent something.
const LEASE: [(&str, &str); 8] = [
    ("db-checkout-timeout", "300ms"),
    ("outbox-confirm-timeout", "3s"),
    ("outbox-stuck-after", "4s"),
    ("outbox-recovery-interval", "300ms"),
    ("outbox-retry-interval", "200ms"),
    ("outbox-backoff-base", "200ms"),
    ("outbox-publishers", "1"),
    ("outbox-publishers-max", "1"),
];

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_a_frozen_broker_nothing_was_published_and_all_is_sent_afterwards() {
    let toss = Toss::start().await;
    let test = TestApp::builder().set("workers", "false").start().await;
    let inbox = test.inbox(&["payment.#"]).await;
    let (proxy, amqp_url) = Proxy::before(&service_url("AMQP_URL")).await;
    let url = toss.url();
    let settings = [
        ("toss-url", url.as_str()),
        ("toss-secret-key", "test_sk_sim0000000000000000"),
        ("amqp-url", amqp_url.as_str()),
        ("log", "error"),
    ];
    let settings = [&settings[..], &LEASE[..]].concat();
    let mut process = Process::start(&test, &settings).await;
    let service = Actor::new(process.base.clone(), Some(token(&[Role::Service], "service")));
    let pay = async |number: i64| {
        let data = service.data(CREATE, input(&format!("k{number}"), number, number, APPROVED)).await;
        assert_eq!(data["createKeyInPayment"]["payment"]["status"], "COMPLETED");
    };
    pay(21).await;
    test.reaches(1, "PUBLISHED").await;
    proxy.freeze();
    for number in 1..=20 {
        pay(number).await;
    }
    eventually("it has one in hand", async || {
        (test.db.count("payment_outbox WHERE status = 'PROCESSING'").await > 0).then_some(())
    })
    .await;
    process.kill();
    proxy.pass();
    assert_eq!(test.db.count("payment_outbox").await, 21);
    assert_eq!(test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await, 1, "nothing was confirmed");
    let next = Process::start(&test, &settings).await;
    eventually("all are published", async || {
        (test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await == 21).then_some(())
    })
    .await;
    inbox.settled().await;
    assert_eq!(inbox.counts().len(), 21);
    drop(next);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_stands_still_for_longer_than_its_lease_is_fenced() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let inbox = test.inbox(&["x"]).await;
    let (proxy, amqp_url) = Proxy::before(&service_url("AMQP_URL")).await;
    let own = [("amqp-url", amqp_url.as_str()), ("instance", "still"), ("log", "error")];
    let still = Process::start(&test, &[&own[..], &LEASE[..]].concat()).await;
    let warm = test.insert_event("x").await;
    test.reaches(warm, "PUBLISHED").await;
    proxy.freeze();
    let id = test.insert_event("x").await;
    eventually("it has the event in hand", async || {
        let claimed =
            format!("payment_outbox WHERE id = {id} AND status = 'PROCESSING' AND claimed_by = 'still'");
        (test.db.count(&claimed).await == 1).then_some(())
    })
    .await;
    still.signal("-STOP");
    let other = LEASE
        .iter()
        .fold(TestApp::builder(), |builder, (flag, value)| builder.set(flag, value))
        .start_beside(&test)
        .await;
    // The other takes it over once the lease is over.
    test.reaches(id, "PUBLISHED").await;
    let row = format!(
        "SELECT status || ' ' || attempt_count || ' ' || published_at FROM payment_outbox WHERE id = {id}"
    );
    let before: String = test.db.value(&row).await;
    proxy.pass();
    still.signal("-CONT");
    // It works again, so that it has ended what it had in hand.
    other.stop().await;
    let next = test.insert_event("x").await;
    test.reaches(next, "PUBLISHED").await;
    assert_eq!(test.db.value::<String>(&row).await, before, "its marks come too late");
    inbox.settled().await;
    let counts = inbox.counts();
    assert_eq!(counts.len(), 3);
    assert!(counts.values().all(|count| *count <= 2), "sent once for each claim at most: {counts:?}");
    assert_eq!(still.terminate().await, Some(0));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_whose_clock_is_ten_minutes_off_takes_nothing_that_is_not_due() {
    let Some(library) = faketime() else {
        println!("libfaketime is not installed: no clock is wrong");
        return;
    };
    let test = TestApp::builder().set("workers", "false").start().await;
    let inbox = test.inbox(&["x"]).await;
    let (held, waiting) = (test.insert_event("x").await, test.insert_event("x").await);
    test.db
        .run(&format!(
            "UPDATE payment_outbox SET status = 'PROCESSING', claim_token = gen_random_uuid(), claimed_by = 'alive',
                 processing_started_at = now() WHERE id = {held};
             UPDATE payment_outbox SET status = 'FAILED', retry_count = 1, next_retry_at = now() + interval '5 minutes' WHERE id = {waiting}"
        ))
        .await;
    for (by, name) in [("+600", "fast"), ("-600", "slow")] {
        let amqp_url = service_url("AMQP_URL");
        let settings = [
            ("database-url", test.db.url.as_str()),
            ("amqp-url", amqp_url.as_str()),
            ("amqp-prefix", test.prefix.as_str()),
            ("instance", name),
            ("log", "error"),
            ("outbox-pending-interval", "50ms"),
            ("outbox-retry-interval", "50ms"),
            ("outbox-recovery-interval", "50ms"),
        ];
        let clock =
            [("LD_PRELOAD", library.as_str()), ("FAKETIME", by), ("FAKETIME_DONT_FAKE_MONOTONIC", "1")];
        let process = Process::spawn(&settings, &clock, Stdio::inherit());
        process.ready().await;
        let due = test.insert_event("x").await;
        test.reaches(due, "PUBLISHED").await;
        let times = format!(
            "payment_outbox WHERE id = {due} AND claimed_by = '{name}' AND published_at BETWEEN created_at AND now()
             AND processing_started_at BETWEEN created_at AND now()"
        );
        assert_eq!(test.db.count(&times).await, 1, "its times are the database's");
        // Its other looks have come round too.
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(process.terminate().await, Some(0));
    }
    let untouched = format!(
        "payment_outbox WHERE (id = {held} AND status = 'PROCESSING' AND claimed_by = 'alive')
         OR (id = {waiting} AND status = 'FAILED' AND retry_count = 1)"
    );
    assert_eq!(test.db.count(&untouched).await, 2);
    inbox.settled().await;
    assert_eq!(inbox.len(), 2);
    test.db.run(&format!("DELETE FROM payment_outbox WHERE id IN ({held}, {waiting})")).await;
    test.stop().await;
}
