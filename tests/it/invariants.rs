//! The books: they hold after whatever the other tests do, and each break is found.

mod charges;

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::{
    consumers::done,
    payments::{APPROVED, CREATE, DECLINED, input},
    refunds::{ask, paid, refund},
    support::{TestApp, Toss, api::code, db::TestDb, eventually, messages::deleted},
};

const INVARIANTS: &str = "{ invariants { name description holds violations sampleIds checkedAt } }";

fn verify(db: &TestDb) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_paydesk"));
    command.args(["verify", "--database-url", &db.url]).output().unwrap()
}

/// Fails with the report if anything is broken.
pub fn assert_books_hold(db: &TestDb) {
    let output = verify(db);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_payments_refunds_and_messages_the_books_hold() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).test_card(APPROVED).start().await;
    test.consuming().await;
    let _listens = test.inbox(&["payment.#"]).await;
    let service = test.service();
    for (key, card) in [("k1", APPROVED), ("k2", DECLINED)] {
        service.data(CREATE, input(key, 1, i64::from(key == "k2") + 1, card)).await;
    }
    ask(&service, refund("r1", &paid(&service, 7, 7).await)).await;
    let deletion = deleted(1);
    test.send("meeting.deleted", &deletion).await;
    done(&test, &deletion).await;
    eventually("everything is delivered", async || {
        (test.db.count("payment_outbox WHERE status <> 'PUBLISHED'").await == 0).then_some(())
    })
    .await;

    let data = test.operator().data(INVARIANTS, json!({})).await;
    let all = data["invariants"].as_array().unwrap();
    assert!(all.len() > 10);
    for invariant in all {
        assert_eq!(invariant["holds"], true, "{invariant}");
        assert_eq!((&invariant["violations"], &invariant["sampleIds"]), (&json!(0), &json!([])));
    }
    assert_books_hold(&test.db);
    let before = test.app.db.statements();
    test.operator().data(INVARIANTS, json!({})).await;
    assert!(test.app.db.statements() - before < 3, "who looks soon after costs the database nothing");
    let denied = test.service().query(INVARIANTS, json!({})).await;
    assert_eq!(code(&denied), "FORBIDDEN");
    test.stop().await;
}

const PAYMENT: &str = "INSERT INTO payment (id, order_id, user_id, meeting_id, order_name, amount, idempotency_key, status, payment_key, completed_at, failure_code)
    VALUES (7, 'o', 1, 1, 'x', 100, 'i', ";
const REFUND: &str = "INSERT INTO refund (id, payment_id, payment_snapshot, order_id, payment_key, user_id, meeting_id, amount, reason, requested_by, source, idempotency_key, flow_id, status, completed_at)
    VALUES (8, 7, '{\"amount\": 100}', 'o', 'p', 1, 1, 100, 'x', 'x', 'API', 'r', gen_random_uuid(), ";
const COMPLETED: &str = "'COMPLETED', 'p', now(), NULL);";
const EVENT: &str = "INSERT INTO payment_outbox (id, event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status)
    VALUES (9, 'TESTED', 'TEST', '1', 'x', 'x', '1', ";

/// An event about the payment 7, as it is told.
fn told(id: i64, what: &str) -> String {
    format!(
        "INSERT INTO payment_outbox (id, event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, published_at)
         VALUES ({id}, 'PAYMENT_{what}', 'PAYMENT', '7', 'x', 'x', '1', 'PUBLISHED', now());"
    )
}

/// What breaks each invariant, and the id that is told.
fn breaks() -> Vec<(&'static str, String, &'static str)> {
    let payment = |rest: &str| format!("{PAYMENT}{rest}");
    let completed = payment(COMPLETED);
    let pending = "'PENDING', NULL, NULL, NULL);";
    let refunded = format!("{REFUND}'COMPLETED', now());");
    let requested = format!("{REFUND}'REQUESTED', NULL);");
    let message = "INSERT INTO inbox (event_id, consumer, state, payment_ids, updated_at)
        VALUES ('00000000-0000-0000-0000-000000000009', 'payment.meeting.deleted', ";
    vec![
        ("payment-events", completed.clone(), "7"),
        ("payment-events", payment("'FAILED', NULL, NULL, 'DECLINED');"), "7"),
        (
            // Completed lately, however long that took.
            "payment-events",
            format!("{completed}UPDATE payment SET created_at = now() - interval '40 days', requested_at = created_at;"),
            "7",
        ),
        ("refund-events", refunded.clone(), "8"),
        ("events-told-once", format!("{completed}{}{}", told(9, "COMPLETED"), told(10, "COMPLETED")), "10"),
        ("events-told-once", format!("{completed}{}{}", told(9, "FAILED"), told(10, "COMPLETED")), "10"),
        ("events-told-once", format!("{refunded}{}{}", told(9, "REFUNDED"), told(10, "REFUNDED")), "10"),
        ("events-have-payments", told(9, "COMPLETED"), "9"),
        ("events-have-payments", format!("{completed}{}", told(9, "FAILED")), "9"),
        ("events-have-payments", format!("{completed}{}", told(9, "REFUNDED")), "9"),
        ("refunded-payments-gone", format!("{completed}{refunded}"), "8"),
        ("refund-amounts", format!("{REFUND}'REQUESTED', NULL); UPDATE refund SET amount = 101;"), "8"),
        ("open-refunds-have-payments", requested.clone(), "8"),
        (
            "pending-payments-asked-about",
            format!("{}UPDATE payment SET requested_at = now() - interval '1 hour';", payment(pending)),
            "7",
        ),
        (
            "requested-refunds-asked-about",
            format!("{requested}UPDATE refund SET next_check_at = now() - interval '1 hour';"),
            "8",
        ),
        ("wanted-refunds-requested", format!("{completed}UPDATE payment SET refund_wanted = '{{}}';"), "7"),
        (
            "outbox-leases",
            format!("{EVENT}'PROCESSING'); UPDATE payment_outbox SET processing_started_at = now() - interval '1 hour';"),
            "9",
        ),
        (
            "due-events-sent",
            "INSERT INTO payment_outbox (id, event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, created_at, updated_at)
             VALUES (9, 'TESTED', 'TEST', '1', 'x', 'x', '1', now() - interval '2 hours', now() - interval '2 hours');"
                .to_owned(),
            "9",
        ),
        (
            "due-events-sent",
            format!("{EVENT}'FAILED'); UPDATE payment_outbox SET next_retry_at = now() - interval '2 hours';"),
            "9",
        ),
        ("outbox-in-sight", format!("{EVENT}'PUBLISHED');"), "9"),
        ("outbox-in-sight", format!("{EVENT}'FAILED');"), "9"),
        ("outbox-in-sight", format!("{EVENT}'DEAD_LETTERED');"), "9"),
        (
            "messages-carried-out",
            format!("{message}'RUNNING', NULL, now() - interval '2 hours');"),
            "00000000-0000-0000-0000-000000000009",
        ),
        ("deleted-meetings-refunded", format!("{completed}{message}'DONE', '{{7}}', now());"), "7"),
        (
            "closed-meetings-unpaid",
            format!(
                "INSERT INTO meeting_closed (meeting_id, closed_at, event_id, created_at)
                 VALUES (1, now(), gen_random_uuid(), now() - interval '1 minute'); {completed}"
            ),
            "7",
        ),
        (
            "cancelled-participants-refunded",
            format!(
                "{completed}INSERT INTO participant_cancel (meeting_id, user_id, canceled_at, event_id, created_at)
                 VALUES (1, 1, now(), gen_random_uuid(), now() + interval '2 minutes');"
            ),
            "7",
        ),
        (
            "dead-letters-on-the-feed",
            "INSERT INTO inbound_dead_letter (id, queue, body, error_class, error_code, error)
             VALUES (6, 'payment.meeting.deleted', '', 'DATA', 'NOT_JSON', 'no');"
                .to_owned(),
            "6",
        ),
        (
            "failures-on-the-feed",
            "INSERT INTO failure (id, kind, severity, subject_type, subject_id, code, message, fingerprint, attempt, occurred_at)
             VALUES (5, 'PAYMENT_FAILED', 'INFO', 'PAYMENT', '1', 'X', 'x', 'f', 1, now() - interval '2 minutes');"
                .to_owned(),
            "5",
        ),
        (
            "feed-in-order",
            "INSERT INTO failure (id, position, kind, severity, subject_type, subject_id, code, message, fingerprint, attempt)
             VALUES (5, 3, 'PAYMENT_FAILED', 'INFO', 'PAYMENT', '1', 'X', 'x', 'f', 1);"
                .to_owned(),
            "5",
        ),
        (
            "idempotency-keys-have-subjects",
            "INSERT INTO idempotency_key (caller, operation, key, input_hash, subject_type, subject_id, lease_until)
             VALUES ('c', 'refundPayment', 'k', '', 'REFUND', 1, now());"
                .to_owned(),
            "refundPayment/k",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_break_is_found_with_the_row_that_breaks_it() {
    let all = TestDb::new().await;
    let report = String::from_utf8(verify(&all).stdout).unwrap();
    let mut unbroken: Vec<&str> = report.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    for (name, how, id) in breaks().into_iter().chain(charges::breaks()) {
        let db = TestDb::new().await;
        db.run(&how).await;
        let output = verify(&db);
        assert_eq!(output.status.code(), Some(1), "{name}");
        let report = String::from_utf8(output.stdout).unwrap();
        let told = report.lines().find(|line| line.starts_with(&format!("BROKEN  {name}: ")));
        assert!(told.is_some_and(|line| line.ends_with(&format!(" 1: {id}"))), "{name}: {report}");
        unbroken.retain(|known| known.trim_end_matches(':') != name);
    }
    assert_eq!(unbroken, Vec::<&str>::new(), "invariants that no row here breaks");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_our_migrations_is_told_to_be_migrated() {
    let db = TestDb::new().await;
    db.run("DELETE FROM __diesel_schema_migrations WHERE version LIKE '%3'").await;
    for drop in ["", "DROP TABLE __diesel_schema_migrations"] {
        db.run(drop).await;
        let output = verify(&db);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(told.contains("paydesk migrate"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_count_of_violations_is_bounded_and_ten_are_named() {
    let test = TestApp::builder().set("workers", "false").start().await;
    test.db
        .run(
            "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status)
             SELECT 'TESTED', 'TEST', '1', 'x', 'x', '1', 'PUBLISHED' FROM generate_series(1, 10005)",
        )
        .await;
    let data = test.operator().data(INVARIANTS, json!({})).await;
    let broken: Vec<&Value> =
        data["invariants"].as_array().unwrap().iter().filter(|known| known["holds"] == false).collect();
    assert_eq!(broken.len(), 1);
    assert_eq!((&broken[0]["name"], &broken[0]["violations"]), (&json!("outbox-in-sight"), &json!(10_000)));
    assert_eq!(broken[0]["sampleIds"].as_array().unwrap().len(), 10);
    test.stop().await;
}
