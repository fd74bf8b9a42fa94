//! A database that restarts, and lines to it that are slow or lose what is sent.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use crate::{
    payments::{APPROVED, CREATE, input},
    support::{
        TestApp, Toss, app::TestAppBuilder, db::TestDb, eventually, own::OwnServices, proxy::Proxy,
        service_url,
    },
};

const POOL: i64 = 4;

/// The part of a URL that names the server.
fn host(url: &str) -> String {
    url.rsplit_once('@').unwrap().1.split_once('/').unwrap().0.to_owned()
}

/// An app to be started whose lines to the database go through a proxy.
async fn behind_a_proxy() -> (Proxy, TestAppBuilder) {
    let server = host(&service_url("DATABASE_URL"));
    let proxy = Proxy::start(server.clone()).await;
    let app = TestApp::builder().database_through(server, proxy.addr.to_string());
    (proxy, app)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_restarts_costs_one_request_for_each_connection_at_most_heavy() {
    let own = OwnServices::start("test-database");
    let toss = Toss::start().await;
    let db = Arc::new(TestDb::on(own.database_url.clone()).await);
    let test = TestApp::builder().toss(&toss).set("db-pool-size", POOL).start_on(Arc::clone(&db)).await;
    let inbox = test.inbox(&["payment.#"]).await;
    let service = test.service();
    let pay = async |number: i64| {
        let answer = service.query(CREATE, input(&format!("k{number}"), number, number, APPROVED)).await;
        answer["data"]["createKeyInPayment"]["payment"]["status"] == "COMPLETED"
    };
    for number in 1..=10 {
        assert!(pay(number).await);
    }
    own.tell("restart", "postgres");
    let mut failed = 0;
    for number in 11..=40 {
        while !pay(number).await {
            failed += 1;
            assert!(failed <= POOL, "more requests failed than there are connections");
        }
    }
    let session = db.session().await;
    let number = async |sql: &str| session.query_one(sql, &[]).await.unwrap().get::<_, i64>(0);
    eventually("every event is published", async || {
        (number("SELECT count(*) FROM payment_outbox WHERE status = 'PUBLISHED'").await == 40).then_some(())
    })
    .await;
    inbox.settled().await;
    assert_eq!(inbox.counts().len(), 40);
    let open = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND state_change < now() - interval '5 seconds'";
    assert_eq!(number(open).await, 0);
    test.stop().await;
    drop(session);
    drop(test);
    drop(db);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_to_the_database_that_loses_what_is_sent_is_replaced() {
    let (proxy, app) = behind_a_proxy().await;
    let test = app
        .set("db-checkout-timeout", "500ms")
        .set("outbox-confirm-timeout", "1s")
        .set("outbox-stuck-after", "3s")
        .set("outbox-recovery-interval", "300ms")
        .start()
        .await;
    let inbox = test.inbox(&["x"]).await;
    let warm = test.insert_event("x").await;
    test.reaches(warm, "PUBLISHED").await;
    proxy.lose();
    for _ in 0..10 {
        test.insert_event("x").await;
    }
    // Claims, looks and marks are under way on it; its connections end with it.
    tokio::time::sleep(Duration::from_secs(1)).await;
    proxy.pass();
    eventually("all are published", async || {
        (test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await == 11).then_some(())
    })
    .await;
    inbox.settled().await;
    assert_eq!(inbox.counts().len(), 11);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_takes_everything_and_delivers_nothing_keeps_nobody_waiting_for_ever() {
    let (proxy, app) = behind_a_proxy().await;
    let test = app.set("db-checkout-timeout", "1s").set("db-pool-size", 4).start().await;
    let inbox = test.inbox(&["x"]).await;
    let warm = test.insert_event("x").await;
    test.reaches(warm, "PUBLISHED").await;
    let list = async || test.operator().query("{ outboxEvents(first: 1) { nodes { id } } }", json!({})).await;
    assert!(list().await["data"]["outboxEvents"].is_object());
    proxy.freeze();
    // The first one waits for its answer on an open connection, a later one for a new connection.
    for _ in 0..3 {
        let answer = tokio::time::timeout(Duration::from_secs(15), list()).await.expect("it is answered");
        assert!(answer["errors"].is_array(), "{answer}");
    }
    // Longer than the longest statement, on lines that stay as they are.
    let missed = test.insert_event("x").await;
    tokio::time::sleep(Duration::from_secs(45)).await;
    proxy.abandon();
    test.reaches(missed, "PUBLISHED").await;
    inbox.settled().await;
    assert_eq!(inbox.len(), 2);
    assert!(list().await["data"]["outboxEvents"].is_object());
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_lines_cost_time_and_nothing_else() {
    let (database, app) = behind_a_proxy().await;
    let (broker, amqp_url) = Proxy::before(&service_url("AMQP_URL")).await;
    let test = app.amqp_url(amqp_url).start().await;
    let inbox = test.inbox(&["x"]).await;
    database.delay(Duration::from_millis(30));
    broker.delay(Duration::from_millis(100));
    for _ in 0..50 {
        test.insert_event("x").await;
    }
    eventually("all are published", async || {
        (test.db.count("payment_outbox WHERE status = 'PUBLISHED' AND attempt_count = 1").await == 50)
            .then_some(())
    })
    .await;
    inbox.settled().await;
    assert_eq!((inbox.counts().len(), inbox.len()), (50, 50));
    test.stop().await;
}
