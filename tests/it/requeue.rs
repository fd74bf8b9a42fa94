//! An operator's requeue: what it moves, what it refuses, and the trace that it leaves.

use serde_json::{Value, json};

use crate::support::{TestApp, api::Actor, eventually};

const REQUEUE: &str = "mutation ($id: ID!, $reason: String!) { requeueOutboxEvent(input: { id: $id, reason: $reason }) {
    outboxEvent { id eventId status retryCount attemptCount nextRetryAt } userErrors { code message field } } }";

async fn requeue(actor: &Actor, id: i64, reason: &str) -> Value {
    let variables = json!({ "id": id.to_string(), "reason": reason });
    actor.data(REQUEUE, variables).await["requeueOutboxEvent"].take()
}

fn refusal(payload: &Value) -> &str {
    payload["userErrors"][0]["code"].as_str().unwrap_or("none")
}

/// A row as it would be in this state, which no worker of this process touches.
async fn event_in(test: &TestApp, status: &str) -> i64 {
    let id = test.insert_event("x").await;
    test.db.run(&format!("UPDATE payment_outbox SET status = '{status}', retry_count = 3, attempt_count = 3 WHERE id = {id}")).await;
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_lettered_event_is_published_under_its_own_id_and_its_tries_count_on() {
    let failing = TestApp::start().await;
    let inbox = failing.inbox(&["warm"]).await;
    let id = failing.insert_event("nobody.listens").await;
    failing.reaches(id, "DEAD_LETTERED").await;
    failing.stop().await;
    // In this process only the hand-over right after the requeue can find it: the scheduler has had its look.
    let warm = failing.insert_event("warm").await;
    let test = TestApp::builder().set("outbox-pending-interval", "10m").start_beside(&failing).await;
    test.reaches(warm, "PUBLISHED").await;
    let event_id: String =
        test.db.value(&format!("SELECT event_id::text FROM payment_outbox WHERE id = {id}")).await;
    test.rabbit.bind(&inbox, &test.exchange(), "nobody.listens").await;
    let payload = requeue(&test.admin(), id, "the queue is bound again").await;
    assert_eq!(refusal(&payload), "none");
    assert_eq!(
        payload["outboxEvent"],
        json!({ "id": id.to_string(), "eventId": event_id, "status": "PENDING", "retryCount": 0, "attemptCount": 3, "nextRetryAt": null })
    );
    test.reaches(id, "PUBLISHED").await;
    inbox.settled().await;
    assert_eq!(inbox.counts().get(&event_id), Some(&1), "once, with the same id");
    let query = "{ outboxEvent(id: 1) { attemptCount retryCount waitingFor { reason } attempts { number trigger outcome worker } } }";
    let event = test.operator().data(query, json!({})).await["outboxEvent"].take();
    assert_eq!(
        (&event["attemptCount"], &event["retryCount"], &event["waitingFor"]),
        (&json!(4), &json!(0), &json!(null))
    );
    let attempts: Vec<Value> = event["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| json!([attempt["number"], attempt["trigger"], attempt["outcome"]]))
        .collect();
    assert_eq!(
        json!(attempts),
        json!([
            [1, "SCHEDULED", "UNROUTABLE"],
            [2, "RETRY", "UNROUTABLE"],
            [3, "RETRY", "UNROUTABLE"],
            [4, "MANUAL", "PUBLISHED"]
        ])
    );
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_requeued_event_that_fails_again_has_all_its_retries_again() {
    let test = TestApp::start().await;
    let id = test.insert_event("nobody.listens").await;
    test.reaches(id, "DEAD_LETTERED").await;
    requeue(&test.admin(), id, "hope").await;
    eventually("it is dead-lettered again", async || {
        (test.db.count("failure WHERE kind = 'OUTBOX_DEAD_LETTERED'").await == 2).then_some(())
    })
    .await;
    let counts: String =
        test.db.value("SELECT concat_ws(' ', status, retry_count, attempt_count) FROM payment_outbox").await;
    assert_eq!(counts, "DEAD_LETTERED 3 6");
    let attempts: Vec<i32> = test.db.values("SELECT attempt FROM failure ORDER BY id").await;
    assert_eq!(attempts, [1, 2, 3, 4, 5, 6]);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_failed_and_dead_lettered_events_can_be_requeued() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let query =
        "query ($id: ID!) { outboxEvent(id: $id) { status availableActions { action allowed reason } } }";
    for (status, may) in [
        ("PENDING", false),
        ("PROCESSING", false),
        ("PUBLISHED", false),
        ("FAILED", true),
        ("DEAD_LETTERED", true),
    ] {
        let id = event_in(&test, status).await;
        for (actor, allowed) in [(test.admin(), may), (test.operator(), false)] {
            let data = actor.data(query, json!({ "id": id.to_string() })).await;
            let action = &data["outboxEvent"]["availableActions"][0];
            assert_eq!(
                (&action["action"], &action["allowed"]),
                (&json!("requeueOutboxEvent"), &json!(allowed)),
                "{status}"
            );
            assert_eq!(action["reason"].is_null(), allowed, "{status}");
        }
        let row = format!("SELECT row_to_json(o)::text FROM payment_outbox o WHERE id = {id}");
        let before: String = test.db.value(&row).await;
        let payload = requeue(&test.admin(), id, "why").await;
        let after: String = test.db.value(&row).await;
        assert_eq!(refusal(&payload), if may { "none" } else { "INVALID_STATE" }, "{status}");
        assert_eq!(before != after, may, "{status}");
        let shown = if may { "PENDING" } else { status };
        assert_eq!(payload["outboxEvent"]["status"], shown);
        assert_eq!(
            test.db.count(&format!("audit_entry WHERE target_id = '{id}'")).await,
            i64::from(may),
            "{status}"
        );
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_requeues_at_once_one_wins_and_the_other_is_told() {
    let test = TestApp::start().await;
    let inbox = test.inbox(&[]).await;
    for round in 1..=5 {
        let key = format!("round.{round}");
        let id = test.insert_event(&key).await;
        test.reaches(id, "DEAD_LETTERED").await;
        test.rabbit.bind(&inbox, &test.exchange(), &key).await;
        let (first, second) = (test.admin(), test.admin());
        let (first, second) = tokio::join!(requeue(&first, id, "one"), requeue(&second, id, "two"));
        let mut refusals = [refusal(&first), refusal(&second)];
        refusals.sort_unstable();
        assert_eq!(refusals, ["INVALID_STATE", "none"]);
        test.reaches(id, "PUBLISHED").await;
        assert_eq!(test.db.count(&format!("audit_entry WHERE target_id = '{id}'")).await, 1);
    }
    inbox.settled().await;
    assert_eq!(inbox.counts().into_values().collect::<Vec<_>>(), [1; 5], "one publish each");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_entry_says_who_what_why_and_what_changed() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let id = event_in(&test, "DEAD_LETTERED").await;
    requeue(&test.admin(), id, "  the queue is\0 bound again ").await;
    let row = test
        .db
        .client
        .query_one(
            "SELECT concat_ws('|', actor, role, action, target_type, target_id, before->>'status', after->>'status',
                 before->>'retryCount', after->>'retryCount'), reason, length(request_id) > 0,
                 a.flow_id = o.flow_id FROM audit_entry a, payment_outbox o",
            &[],
        )
        .await
        .unwrap();
    let (deed, reason): (String, String) = (row.get(0), row.get(1));
    assert_eq!(deed, format!("admin|ADMIN|requeueOutboxEvent|OUTBOX_EVENT|{id}|DEAD_LETTERED|PENDING|3|0"));
    assert_eq!(reason, "the queue is\u{FFFD} bound again");
    assert!(row.get::<_, bool>(2) && row.get::<_, bool>(3));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_audit_entry_nothing_is_requeued() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let id = event_in(&test, "DEAD_LETTERED").await;
    test.db.run("ALTER TABLE audit_entry ADD CONSTRAINT full_ck CHECK (false)").await;
    let answer = test.admin().query(REQUEUE, json!({ "id": id.to_string(), "reason": "why" })).await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "INTERNAL", "{answer}");
    assert!(answer["errors"][0]["extensions"]["requestId"].is_string());
    assert!(!answer.to_string().contains("audit_entry"), "{answer}");
    assert_eq!(test.status(id).await, "DEAD_LETTERED");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_entry_cannot_be_changed_or_taken_away() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let id = event_in(&test, "FAILED").await;
    requeue(&test.admin(), id, "why").await;
    for sql in [
        "UPDATE audit_entry SET actor = 'nobody'",
        "DELETE FROM audit_entry",
        "TRUNCATE audit_entry",
        "TRUNCATE audit_entry CASCADE",
    ] {
        let refused = test.db.client.batch_execute(sql).await.unwrap_err();
        assert!(refused.as_db_error().unwrap().message().contains("is refused"), "{sql}: {refused:?}");
    }
    assert_eq!(test.db.count("audit_entry WHERE actor = 'admin'").await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reason_and_an_id_are_required_and_each_is_named() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let dead = event_in(&test, "DEAD_LETTERED").await.to_string();
    for (id, reason, field) in [
        (dead.as_str(), String::new(), "reason"),
        (dead.as_str(), " \n\t".to_owned(), "reason"),
        (dead.as_str(), "x".repeat(1_001), "reason"),
        ("0", "why".to_owned(), "id"),
        ("abc", "why".to_owned(), "id"),
    ] {
        let data = test.admin().data(REQUEUE, json!({ "id": id, "reason": reason })).await;
        let payload = &data["requeueOutboxEvent"];
        assert_eq!(
            (refusal(payload), &payload["userErrors"][0]["field"]),
            ("INVALID_INPUT", &json!(["input", field]))
        );
    }
    let missing = test.admin().data(REQUEUE, json!({ "id": "999", "reason": "why" })).await;
    assert_eq!(refusal(&missing["requeueOutboxEvent"]), "NOT_FOUND");
    let without = "mutation { requeueOutboxEvent(input: { id: 1 }) { userErrors { code } } }";
    assert_eq!(test.admin().refused(without, json!({})).await, "BAD_USER_INPUT");
    for actor in [test.operator(), test.service()] {
        assert_eq!(actor.refused(REQUEUE, json!({ "id": dead, "reason": "why" })).await, "FORBIDDEN");
    }
    assert_eq!(
        (test.status(dead.parse().unwrap()).await.as_str(), test.db.count("audit_entry").await),
        ("DEAD_LETTERED", 0)
    );
    test.stop().await;
}
