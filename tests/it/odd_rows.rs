//! Rows that nobody of ours would write: they are refused, or cost their neighbours nothing.

use serde_json::json;

use crate::{
    payments::{APPROVED, CREATE, input},
    support::{TestApp, Toss, eventually},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_that_only_postgresql_reads_is_listed_delivered_and_requeued() {
    let test = TestApp::builder().set("outbox-backoff-base", "10m").start().await;
    let odd =
        [r#"{"a": "\ud800"}"#.to_owned(), r#"{"a": 1e400}"#.to_owned(), "[".repeat(200) + &"]".repeat(200)];
    for payload in &odd {
        let sql = "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
                   VALUES ('ODD', 'TEST', '1', $1, 'nobody', $2::text::json)";
        test.db.client.execute(sql, &[&test.exchange(), payload]).await.unwrap();
    }
    eventually("all have been tried", async || {
        (test.db.count("payment_outbox WHERE status = 'FAILED'").await == 3).then_some(())
    })
    .await;
    let data = test.operator().data("{ outboxEvents { nodes { id payload } } }", json!({})).await;
    assert_eq!(data["outboxEvents"]["nodes"].as_array().unwrap().len(), 3);
    let requeue = "mutation ($id: ID!) { requeueOutboxEvent(input: { id: $id, reason: \"tried\" }) { userErrors { code } } }";
    let data = test.admin().data(requeue, json!({ "id": "1" })).await;
    assert_eq!(data["requeueOutboxEvent"]["userErrors"], json!([]));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_whose_detail_only_postgresql_reads_passes_the_feed_and_so_do_the_next() {
    let test = TestApp::start().await;
    let mut socket = test.operator().socket().await;
    socket
        .subscribe("1", "subscription { failures(after: \"0\") { failure { code detail } } }", json!({}))
        .await;
    for detail in [r#"{"a": "\ud800"}"#, r#"{"a": 1}"#] {
        let sql = "INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, detail)
                   VALUES ('WORKER_CRASHED', 'INFO', 'WORKER', 'w', $1, 'm', 'f', $2::text::json)";
        let code = if detail.contains("ud800") { "ODD" } else { "PLAIN" };
        test.db.client.execute(sql, &[&code, &detail]).await.unwrap();
    }
    assert_eq!(socket.data().await["failures"]["failure"]["code"], "ODD");
    assert_eq!(socket.data().await["failures"]["failure"]["detail"], json!({ "a": 1 }));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn times_that_no_reader_can_tell_are_refused() {
    let test = TestApp::start().await;
    test.insert_event("x").await;
    for column in ["created_at", "next_retry_at", "processing_started_at", "published_at", "dead_lettered_at"]
    {
        for time in ["infinity", "-infinity", "290000-01-01"] {
            let sql = format!("UPDATE payment_outbox SET {column} = '{time}'");
            let error = test.db.client.batch_execute(&sql).await.unwrap_err();
            let constraint = error.as_db_error().unwrap().constraint().unwrap().to_owned();
            assert_eq!(constraint, format!("payment_outbox_{column}_ck"));
        }
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_count_at_its_end_costs_no_neighbour() {
    let test = TestApp::builder().set("outbox-pending-interval", "10m").start().await;
    let _inbox = test.inbox(&["x"]).await;
    for _ in 0..2 {
        test.insert_event("x").await;
    }
    test.db.run("UPDATE payment_outbox SET attempt_count = 2147483647 WHERE id = 1").await;
    let beside = TestApp::builder().start_beside(&test).await;
    beside.reaches(1, "PUBLISHED").await;
    beside.reaches(2, "PUBLISHED").await;
    beside.stop().await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_recorded_although_somebody_holds_the_row_longer_than_we_wait_for_a_lock_heavy() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let _inbox = test.inbox(&["payment.#"]).await;
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "times": 1, "delayMs": 500 })).await;
    let service = test.service();
    let paying = tokio::spawn(async move { service.data(CREATE, input("k", 1, 1, APPROVED)).await });
    eventually("the provider is asked", async || (test.db.count("payment").await == 1).then_some(())).await;
    let holder = test.db.session().await;
    holder.batch_execute("BEGIN; SELECT FROM payment FOR UPDATE").await.unwrap();
    // Longer than the lock timeout of 10 s, so that the first try to record fails.
    tokio::time::sleep(std::time::Duration::from_secs(12)).await;
    holder.batch_execute("COMMIT").await.unwrap();
    let data = paying.await.unwrap();
    assert_eq!(data["createKeyInPayment"]["payment"]["status"], "COMPLETED");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payloads_text_is_shown_character_by_character() {
    let test = TestApp::start().await;
    let written =
        "{ \"won\": 1.10, \"big\":12345678901234567890123, \"e\":1E2,\t\"10\": 1, \"2\": 2, \"10\": 3 }";
    let sql = "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
               VALUES ('TESTED', 'TEST', '1', $1, 'nobody', $2::text::json) RETURNING id";
    let id: i64 = test.db.client.query_one(sql, &[&test.exchange(), &written]).await.unwrap().get(0);
    let data = test
        .operator()
        .data("query ($id: ID!) { outboxEvent(id: $id) { payloadText } }", json!({ "id": id.to_string() }))
        .await;
    assert_eq!(data["outboxEvent"]["payloadText"], written);
    test.stop().await;
}
