//! What has been kept long enough goes; what has not stays.

use crate::support::{TestApp, eventually};

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
        );
        (left == (1, 1, 1)).then_some(())
    })
    .await;
    assert_eq!(first.db.count("failure_group WHERE count = 4").await, 1, "groups stay");
    second.stop().await;
    first.stop().await;
}
