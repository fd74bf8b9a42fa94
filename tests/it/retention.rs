//! What has been kept long enough goes; what has not stays.

use std::sync::Arc;

use crate::support::{TestApp, app::TestAppBuilder, db::TestDb, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn old_keys_calls_and_failures_are_deleted_and_young_ones_stay() {
    let first = TestApp::builder().set("workers", "false").start().await;
    first
        .db
        .run(
            "INSERT INTO idempotency_key (caller, operation, key, input_hash, subject_type, subject_id, lease_until, created_at)
             SELECT 'c', 'o', n::text, '', 'PAYMENT', n, now(), now() - n * interval '1 day' FROM generate_series(14, 2500) n;
             INSERT INTO provider_call (provider, operation, subject_type, subject_id, flow_id, outcome, duration_ms, at)
             SELECT 'TOSS', 'key-in', 'PAYMENT', n, gen_random_uuid(), 'APPROVED', 1, now() - n * interval '1 day'
             FROM generate_series(179, 182) n;
             INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, occurred_at)
             SELECT 'PAYMENT_FAILED', 'INFO', 'PAYMENT', '1', 'C', 'm', 'f', now() - n * interval '1 day'
             FROM generate_series(179, 182) n",
        )
        .await;
    first
        .db
        .run(
            "INSERT INTO member (id) VALUES (1);
             INSERT INTO charge (id, member_id, can, container, order_id, sku, title, price, payment_gateway, account_token)
             VALUES (1, 1, 100, 'PG', 'CHG1', 'coin_100', 'x', 1, 'PG', gen_random_uuid());
             INSERT INTO charge_reference (charge_id, reference, digest, next_check_at, presented_at)
             SELECT 1, n::text, sha256(n::text::bytea), CASE n WHEN 183 THEN now() + interval '1 day' END, now() - n * interval '1 day'
             FROM generate_series(179, 183) n",
        )
        .await;
    eventually("the failures have positions", async || {
        (first.db.count("failure WHERE position IS NULL").await == 0).then_some(())
    })
    .await;
    let second = TestApp::builder().start_beside(&first).await;
    eventually("the old ones are gone", async || {
        let left = (
            first.db.count("idempotency_key").await,
            first.db.count("provider_call").await,
            first.db.count("failure").await,
            // One is young, and one is still asked about.
            first.db.count("charge_reference").await,
        );
        (left == (1, 1, 1, 2)).then_some(())
    })
    .await;
    assert_eq!(first.db.count("failure_group WHERE count = 4").await, 1, "groups stay");
    second.stop().await;
    first.stop().await;
}

/// A cleanup that is due the whole day.
fn cleaning() -> TestAppBuilder {
    TestApp::builder().set("outbox-cleanup-at", "00:00").set("outbox-cleanup-timezone", "UTC")
}

/// Events of every state, one for each of these ages in days.
async fn events_of_all_ages(db: &TestDb, ages: &str) {
    db.run(&format!(
        "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, next_retry_at,
                                     published_at, dead_lettered_at, created_at)
         SELECT 'TESTED', 'TEST', '1', 'x', 'x', '1', status, CASE status WHEN 'FAILED' THEN now() + interval '1 day' END,
                CASE status WHEN 'PUBLISHED' THEN age END, CASE status WHEN 'DEAD_LETTERED' THEN age END, age
         FROM unnest(ARRAY['PUBLISHED', 'FAILED', 'DEAD_LETTERED']) status,
              (SELECT now() - n * interval '1 day' AS age FROM unnest(ARRAY[{ages}]) n) ages"
    ))
    .await;
}

/// How often a cleanup of this process has looked; the two Apps of a test count together.
async fn looks(test: &TestApp) -> u64 {
    let metrics = test.metrics().await;
    let series = "paydesk_worker_runs_total{worker=\"outbox-cleanup\"} ";
    metrics.lines().find_map(|line| line.strip_prefix(series)?.parse().ok()).unwrap_or_default()
}

async fn left(db: &TestDb) -> Vec<i64> {
    let mut left = Vec::new();
    for status in ["PUBLISHED", "FAILED", "DEAD_LETTERED"] {
        left.push(db.count(&format!("payment_outbox WHERE status = '{status}'")).await);
    }
    left
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_are_done_are_deleted_when_they_are_old_once_a_day_and_no_others() {
    let db = Arc::new(TestDb::new().await);
    events_of_all_ages(&db, "29, 31, 89, 91").await;
    db.run(
        "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, published_at)
         SELECT 'TESTED', 'TEST', '1', 'x', 'x', '1', 'PUBLISHED', now() - interval '40 days' FROM generate_series(1, 2500)",
    )
    .await;
    let first = cleaning().start_on(Arc::clone(&db)).await;
    let second = cleaning().start_beside(&first).await;
    eventually("the day's cleanup is done", async || {
        (db.count("daily_run WHERE name = 'outbox-cleanup' AND finished_at IS NOT NULL").await == 1)
            .then_some(())
    })
    .await;
    assert_eq!(left(&db).await, [1, 4, 3], "PUBLISHED for 29 days, DEAD_LETTERED for 29, 31 and 89");
    second.stop().await;
    first.stop().await;

    events_of_all_ages(&db, "100").await;
    let restarted = cleaning().set("workers", "false").start_on(Arc::clone(&db)).await;
    let before = looks(&restarted).await;
    let working = cleaning().start_beside(&restarted).await;
    eventually("it has looked again", async || (looks(&restarted).await > before).then_some(())).await;
    assert_eq!(left(&db).await, [2, 5, 4], "it is done for today");
    working.stop().await;
    restarted.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cleanup_of_a_process_that_died_is_gone_on_with_and_that_of_a_living_one_is_not() {
    for (beat, expected) in [("10 minutes", [0, 1, 0]), ("1 minute", [1, 1, 1])] {
        let db = Arc::new(TestDb::new().await);
        events_of_all_ages(&db, "100").await;
        db.run(&format!(
            "INSERT INTO daily_run (name, day, instance, beat_at)
             VALUES ('outbox-cleanup', (now() AT TIME ZONE 'UTC')::date, 'another', now() - interval '{beat}')"
        ))
        .await;
        let test = cleaning().set("workers", "false").start_on(Arc::clone(&db)).await;
        let before = looks(&test).await;
        let working = cleaning().start_beside(&test).await;
        eventually("it has looked", async || (looks(&test).await > before).then_some(())).await;
        assert_eq!(left(&db).await, expected, "{beat} without a sign of life");
        working.stop().await;
        test.stop().await;
    }
}
