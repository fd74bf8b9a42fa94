//! Lists: whole walks while rows come, each filter, wrong arguments, counts, and what a list costs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    TestApp,
    api::{Actor, blamed, code},
    eventually,
};

const LISTS: [&str; 3] = ["payments", "outboxEvents", "failures"];

/// 60 payments, ten at each moment, the newest last.
const SIXTY_PAYMENTS: &str = "INSERT INTO payment (order_id, user_id, meeting_id, order_name, amount, idempotency_key, created_at)
    SELECT 'o-' || n, n, n, 'A meeting', 100, 'i-' || n, timestamptz '2026-01-01' + (n / 10) * interval '1 minute'
    FROM generate_series(1, 60) n";
const SIXTY_EVENTS: &str = "INSERT INTO payment_outbox
        (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, published_at, created_at)
    SELECT 'TESTED', 'TEST', n::text, 'x', 'x', '1', 'PUBLISHED', now(), timestamptz '2026-01-01' + (n / 10) * interval '1 minute'
    FROM generate_series(1, 60) n";
const SIXTY_FAILURES: &str = "INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt)
    SELECT 'OUTBOX_FAILED', 'WARNING', 'OUTBOX_EVENT', n::text, 'X', 'x', 'f', 1 FROM generate_series(1, 60) n";
/// More rows, old and new ones, of numbers that the sixty do not have.
const MORE: &str = "INSERT INTO payment (order_id, user_id, meeting_id, order_name, amount, idempotency_key, created_at)
    SELECT 'm-' || id, id, id, 'A meeting', 100, 'm-' || id, at FROM (SELECT 1000 + nextval('payment_id_seq') AS id, at
    FROM unnest(ARRAY[now(), timestamptz '2026-01-01 00:03', timestamptz '2025-01-01']) at) more;
    INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, published_at, created_at)
    SELECT 'MORE', 'TEST', 'more', 'x', 'x', '1', 'PUBLISHED', now(), at
    FROM unnest(ARRAY[now(), timestamptz '2026-01-01 00:03', timestamptz '2025-01-01']) at;
    INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt)
    VALUES ('OUTBOX_FAILED', 'WARNING', 'OUTBOX_EVENT', 'more', 'MORE', 'x', 'more', 1)";

async fn without_workers() -> TestApp {
    TestApp::builder().set("workers", "false").start().await
}

async fn numbered(test: &TestApp) {
    eventually("every failure has its position", async || {
        (test.db.count("failure WHERE position IS NULL").await == 0).then_some(())
    })
    .await;
}

fn ids(page: &Value) -> Vec<i64> {
    let nodes = page["nodes"].as_array().unwrap();
    nodes.iter().map(|node| node["id"].as_str().unwrap().parse().unwrap()).collect()
}

/// Walks a list to its end in pages of thirteen, rows being inserted after each page; the ids as they came.
async fn walk(test: &TestApp, list: &str, size: &str, from: &str, end: &str, more: &str) -> Vec<i64> {
    let query = format!(
        "query ($size: Int, $from: String) {{ {list}({size}: $size, {from}: $from) {{
            nodes {{ id }} edges {{ cursor node {{ id }} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"
    );
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let data = test.operator().data(&query, json!({ "size": 13, "from": cursor })).await;
        let page = &data[list];
        let mut on_page = ids(page);
        let edges = page["edges"].as_array().unwrap();
        assert_eq!(page["pageInfo"]["startCursor"], edges[0]["cursor"]);
        assert_eq!(page["pageInfo"]["endCursor"], edges[edges.len() - 1]["cursor"]);
        let backwards = size == "last";
        if backwards {
            on_page.reverse();
        }
        seen.extend(on_page);
        if page["pageInfo"][more] == false {
            return seen;
        }
        cursor = page["pageInfo"][end].clone();
        test.db.run(MORE).await;
        if list == "failures" {
            numbered(test).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_sees_every_row_once_in_order_while_rows_come_in_both_directions() {
    for list in LISTS {
        let test = without_workers().await;
        let sixty = [SIXTY_PAYMENTS, SIXTY_EVENTS, SIXTY_FAILURES];
        test.db.run(&sixty.join(";")).await;
        numbered(&test).await;
        let newest_first: Vec<i64> = (1..=60).rev().collect();
        let oldest_first: Vec<i64> = (1..=60).collect();
        for (size, from, end, more, expected) in [
            ("first", "after", "endCursor", "hasNextPage", newest_first),
            ("last", "before", "startCursor", "hasPreviousPage", oldest_first),
        ] {
            let seen = walk(&test, list, size, from, end, more).await;
            assert_eq!(seen.len(), seen.iter().collect::<BTreeSet<_>>().len(), "{list} {size}: none twice");
            let of_the_sixty: Vec<i64> = seen.into_iter().filter(|id| *id <= 60).collect();
            assert_eq!(of_the_sixty, expected, "{list} {size}: every one, in order");
        }
        test.stop().await;
    }
}

async fn filtered(actor: &Actor, list: &str, ty: &str, filter: Value) -> Vec<i64> {
    let query =
        format!("query ($f: {ty}) {{ {list}(filter: $f) {{ nodes {{ id }} count {{ value precision }} }} }}");
    let data = actor.data(&query, json!({ "f": filter })).await;
    let found = ids(&data[list]);
    assert_eq!(data[list]["count"], json!({ "value": found.len(), "precision": "EXACT" }), "{filter}");
    found
}

/// Each filter with what it finds.
async fn check(test: &TestApp, list: &str, ty: &str, cases: Value) {
    for case in cases.as_array().unwrap() {
        let found = filtered(&test.operator(), list, ty, case[0].clone()).await;
        assert_eq!(json!(found), case[1], "{list} {}", case[0]);
    }
}

const FLOW: &str = "00000000-0000-0000-0000-00000000000f";

#[tokio::test(flavor = "multi_thread")]
async fn every_filter_of_payments_finds_what_it_says() {
    let test = without_workers().await;
    test.db
        .run(&format!(
            "INSERT INTO payment (order_id, user_id, meeting_id, order_name, amount, idempotency_key, status, payment_key, completed_at, failure_code, flow_id, created_at)
             VALUES ('o-1', 1, 11, 'x', 100, 'i-1', 'PENDING', NULL, NULL, NULL, gen_random_uuid(), '2026-01-01'),
                    ('o-2', 2, 12, 'x', 100, 'i-2', 'COMPLETED', 'pk-2', now(), NULL, gen_random_uuid(), '2026-01-02'),
                    ('o-3', 3, 13, 'x', 100, 'i-3', 'FAILED', NULL, NULL, 'X', '{FLOW}', '2026-01-03')"
        ))
        .await;
    check(&test, "payments", "PaymentFilter", json!([
        [{}, [3, 2, 1]],
        [null, [3, 2, 1]],
        [{ "status": ["PENDING"] }, [1]],
        [{ "status": ["COMPLETED", "FAILED"] }, [3, 2]],
        [{ "status": [] }, []],
        [{ "userId": "2" }, [2]],
        [{ "meetingId": "13" }, [3]],
        [{ "orderId": "o-1" }, [1]],
        [{ "orderId": "o-_" }, []],
        [{ "paymentKey": "pk-2" }, [2]],
        [{ "flowId": FLOW }, [3]],
        [{ "createdAt": { "from": "2026-01-02T00:00:00Z" } }, [3, 2]],
        [{ "createdAt": { "to": "2026-01-02T00:00:00Z" } }, [1]],
        [{ "createdAt": { "from": "2026-01-02T09:00:00+09:00", "to": "2026-01-02T00:00:00.000001Z" } }, [2]],
        [{ "createdAt": { "from": "2026-01-03T00:00:00Z", "to": "2026-01-02T00:00:00Z" } }, []],
        [{ "userId": "2", "status": ["FAILED"] }, []],
    ]))
    .await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_filter_of_events_finds_what_it_says() {
    let test = without_workers().await;
    let event = "00000000-0000-0000-0000-0000000000e1";
    test.db
        .run(&format!(
            "INSERT INTO payment_outbox (event_id, correlation_id, flow_id, event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, last_error_code, created_at)
             VALUES ('{event}', 'c-1', gen_random_uuid(), 'A', 'PAYMENT', '1', 'x', 'x', '1', 'PENDING', NULL, '2026-01-01'),
                    (gen_random_uuid(), 'c-2', gen_random_uuid(), 'B', 'PAYMENT', '2', 'x', 'x', '1', 'FAILED', 'NACKED', '2026-01-02'),
                    (gen_random_uuid(), 'c-3', '{FLOW}', 'C', 'MEETING', '2', 'x', 'x', '1', 'DEAD_LETTERED', 'UNROUTABLE', '2026-01-03')"
        ))
        .await;
    check(
        &test,
        "outboxEvents",
        "OutboxFilter",
        json!([
            [{}, [3, 2, 1]],
            [{ "status": ["PENDING"] }, [1]],
            [{ "status": ["FAILED", "DEAD_LETTERED"] }, [3, 2]],
            [{ "status": [] }, []],
            [{ "eventType": ["A", "C"] }, [3, 1]],
            [{ "aggregateType": "PAYMENT" }, [2, 1]],
            [{ "aggregateId": "2" }, [3, 2]],
            [{ "aggregateType": "PAYMENT", "aggregateId": "2" }, [2]],
            [{ "eventId": event }, [1]],
            [{ "correlationId": "c-2" }, [2]],
            [{ "flowId": FLOW }, [3]],
            [{ "errorCode": ["NACKED"] }, [2]],
            [{ "errorCode": ["NACKED", "UNROUTABLE"], "status": ["DEAD_LETTERED"] }, [3]],
            [{ "createdAt": { "from": "2026-01-02T00:00:00Z", "to": "2026-01-03T00:00:00Z" } }, [2]],
        ]),
    )
    .await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_filter_of_failures_finds_what_it_says() {
    let test = without_workers().await;
    test.db
        .run("INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt, occurred_at)
              VALUES ('OUTBOX_FAILED', 'WARNING', 'OUTBOX_EVENT', '7', 'NACKED', 'x', 'a', 1, '2026-01-01'),
                     ('PAYMENT_FAILED', 'INFO', 'PAYMENT', '7', 'FDS_ERROR', 'x', 'b', 1, '2026-01-02'),
                     ('WORKER_CRASHED', 'CRITICAL', 'WORKER', 'w', 'PANIC', 'x', 'c', 1, '2026-01-03')")
        .await;
    numbered(&test).await;
    check(
        &test,
        "failures",
        "FailureFilter",
        json!([
            [{}, [3, 2, 1]],
            [{ "kind": ["OUTBOX_FAILED", "WORKER_CRASHED"] }, [3, 1]],
            [{ "kind": [] }, []],
            [{ "severity": ["INFO"] }, [2]],
            [{ "subjectType": "PAYMENT" }, [2]],
            [{ "subjectId": "7" }, [2, 1]],
            [{ "subjectType": "OUTBOX_EVENT", "subjectId": "7" }, [1]],
            [{ "code": ["PANIC", "NACKED"] }, [3, 1]],
            [{ "occurredAt": { "from": "2026-01-02T00:00:00Z" } }, [3, 2]],
            [{ "occurredAt": { "to": "2026-01-02T00:00:00Z" } }, [1]],
        ]),
    )
    .await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_wrong_argument_is_bad_user_input_that_names_it() {
    let test = without_workers().await;
    test.db.run(&[SIXTY_PAYMENTS, SIXTY_EVENTS, SIXTY_FAILURES].join(";")).await;
    numbered(&test).await;
    let operator = test.operator();
    let mut cursors = Vec::new();
    for list in LISTS {
        let data = operator.data(&format!("{{ {list} {{ pageInfo {{ endCursor }} }} }}"), json!({})).await;
        cursors.push(data[list]["pageInfo"]["endCursor"].as_str().unwrap().to_owned());
    }
    for (number, list) in LISTS.into_iter().enumerate() {
        let (own, foreign) = (&cursors[number], &cursors[(number + 1) % 3]);
        for (arguments, argument) in [
            ("first: 0".to_owned(), "first"),
            ("first: -1".to_owned(), "first"),
            ("first: 101".to_owned(), "first"),
            ("first: 1000000".to_owned(), "first"),
            ("first: 3000000000".to_owned(), "first"),
            ("first: -3000000000".to_owned(), "first"),
            ("first: 99999999999999999999".to_owned(), "first"),
            ("first: \"1\"".to_owned(), "first"),
            ("last: 0".to_owned(), "last"),
            ("last: -2147483648".to_owned(), "last"),
            ("first: 5, last: 5".to_owned(), "last"),
            ("after: \"bad\"".to_owned(), "after"),
            ("before: \"\"".to_owned(), "before"),
            (format!("after: \"{foreign}\""), "after"),
            (format!("last: 5, before: \"{foreign}\""), "before"),
            (format!("after: \"{own}\", before: \"{own}\""), "before"),
        ] {
            let query = format!("{{ {list}({arguments}) {{ nodes {{ id }} }} }}");
            let answer = operator.query(&query, json!({})).await;
            assert_eq!(
                (code(&answer), blamed(&answer).as_str()),
                ("BAD_USER_INPUT", argument),
                "{query}: {answer}"
            );
        }
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_wrong_filter_is_bad_user_input_that_names_it() {
    let test = without_workers().await;
    let nul = "a\0b";
    for (list, ty, filter, field) in [
        ("payments", "PaymentFilter", json!({ "status": ["REFUNDED"] }), "filter.status"),
        ("payments", "PaymentFilter", json!({ "status": ["PENDING", "REFUNDED"] }), "filter.status"),
        ("payments", "PaymentFilter", json!({ "userId": "0" }), "filter.userId"),
        ("payments", "PaymentFilter", json!({ "meetingId": "abc" }), "filter.meetingId"),
        ("payments", "PaymentFilter", json!({ "userId": "9223372036854775808" }), "filter.userId"),
        ("payments", "PaymentFilter", json!({ "orderId": nul }), "filter.orderId"),
        ("payments", "PaymentFilter", json!({ "paymentKey": nul }), "filter.paymentKey"),
        ("outboxEvents", "OutboxFilter", json!({ "eventType": ["A", nul] }), "filter.eventType"),
        ("outboxEvents", "OutboxFilter", json!({ "aggregateType": nul }), "filter.aggregateType"),
        ("outboxEvents", "OutboxFilter", json!({ "aggregateId": nul }), "filter.aggregateId"),
        ("outboxEvents", "OutboxFilter", json!({ "correlationId": nul }), "filter.correlationId"),
        ("outboxEvents", "OutboxFilter", json!({ "errorCode": [nul] }), "filter.errorCode"),
        ("failures", "FailureFilter", json!({ "subjectType": nul }), "filter.subjectType"),
        ("failures", "FailureFilter", json!({ "subjectId": nul }), "filter.subjectId"),
        ("failures", "FailureFilter", json!({ "code": [nul] }), "filter.code"),
    ] {
        let query = format!("query ($f: {ty}) {{ {list}(filter: $f) {{ nodes {{ id }} }} }}");
        let answer = test.operator().query(&query, json!({ "f": filter })).await;
        assert_eq!(
            (code(&answer), blamed(&answer).as_str()),
            ("BAD_USER_INPUT", field),
            "{filter}: {answer}"
        );
    }
    for wrong in [
        json!({ "status": "NO_SUCH" }),
        json!({ "createdAt": { "from": "yesterday" } }),
        json!({ "flowId": "1" }),
        json!({ "nosuch": 1 }),
    ] {
        let query = "query ($f: PaymentFilter) { payments(filter: $f) { nodes { id } } }";
        let answer = test.operator().query(query, json!({ "f": wrong })).await;
        assert_eq!(code(&answer), "BAD_USER_INPUT", "{wrong}: {answer}");
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_count_is_exact_up_to_ten_thousand_and_a_lower_bound_beyond() {
    let test = without_workers().await;
    test.db
        .run("INSERT INTO payment (order_id, user_id, meeting_id, order_name, amount, idempotency_key, created_at)
              SELECT 'o-' || n, n, n, 'x', 100, 'i-' || n, timestamptz '2026-01-01' + n * interval '1 second'
              FROM generate_series(1, 10001) n")
        .await;
    let query =
        "query ($f: PaymentFilter) { payments(first: 1, filter: $f) { count { value precision asOf } } }";
    let count = async |filter: Value| {
        let data = test.operator().data(query, json!({ "f": filter })).await;
        let count = &data["payments"]["count"];
        assert!(count["asOf"].as_str().unwrap().ends_with('Z'));
        json!([count["value"], count["precision"]])
    };
    assert_eq!(count(json!({})).await, json!([10_000, "AT_LEAST"]));
    let all_but_the_first = json!({ "createdAt": { "from": "2026-01-01T00:00:02Z" } });
    assert_eq!(count(all_but_the_first).await, json!([10_000, "EXACT"]));
    assert_eq!(count(json!({ "userId": "5" })).await, json!([1, "EXACT"]));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_takes_too_long_is_cut_off_and_told_which_filter_to_add() {
    let test = without_workers().await;
    let locking = test.db.session().await;
    for (list, table, narrow) in [
        ("payments", "payment", "userId"),
        ("outboxEvents", "payment_outbox", "eventId"),
        ("failures", "failure", "subjectId"),
    ] {
        // Waiting for a lock counts against the statement's time as work does.
        locking.batch_execute(&format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")).await.unwrap();
        let answer = test.operator().query(&format!("{{ {list} {{ nodes {{ id }} }} }}"), json!({})).await;
        locking.batch_execute("ROLLBACK").await.unwrap();
        assert_eq!((code(&answer), blamed(&answer).as_str()), ("BAD_USER_INPUT", "filter"), "{answer}");
        assert!(answer["errors"][0]["message"].as_str().unwrap().contains(narrow), "{answer}");
    }
    test.stop().await;
}

const DEEP: &str = "query ($n: Int) { payments(first: $n) { count { value } nodes { id
    outboxEvents { id attempts { number } failures { id } }
    providerCalls { operation }
    failures { id subject { ... on Payment { id } ... on OutboxEvent { id } } } } } }";

#[tokio::test(flavor = "multi_thread")]
async fn a_list_costs_the_same_statements_whatever_the_page_holds() {
    let test = without_workers().await;
    test.db
        .run(&format!(
            "{SIXTY_PAYMENTS};
             INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, published_at)
             SELECT 'TESTED', 'PAYMENT', n::text, 'x', 'x', '1', 'PUBLISHED', now() FROM generate_series(1, 60) n;
             INSERT INTO provider_call (provider, operation, subject_type, subject_id, flow_id, outcome, duration_ms)
             SELECT 'TOSS', 'key-in', 'PAYMENT', n, gen_random_uuid(), 'UNKNOWN', 1 FROM generate_series(1, 60) n;
             INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt)
             SELECT 'PAYMENT_UNKNOWN', 'WARNING', subject, n::text, 'X', 'x', 'f', 1
             FROM generate_series(1, 60) n, unnest(ARRAY['PAYMENT', 'OUTBOX_EVENT']) subject"
        ))
        .await;
    numbered(&test).await;
    let cost = async |rows: usize| {
        let mut costs = Vec::new();
        for _ in 0..8 {
            let before = test.app.db.statements();
            let data = test.operator().data(DEEP, json!({ "n": rows })).await;
            costs.push(test.app.db.statements() - before);
            let nodes = data["payments"]["nodes"].as_array().unwrap();
            assert_eq!(nodes.len(), rows);
            assert!(nodes.iter().all(|node| {
                node["outboxEvents"][0]["failures"][0]["id"].is_string()
                    && node["failures"][0]["subject"]["id"] == node["id"]
                    && node["providerCalls"][0]["operation"] == "key-in"
            }));
        }
        // The feed and the metrics look at the database beside it, now and then.
        costs.into_iter().min().unwrap()
    };
    let few = cost(5).await;
    assert_eq!(cost(50).await, few, "statements for 50 rows, and for 5");
    assert!(
        few <= 8,
        "{few} statements: page, count, events, calls, failures of payments and of events, subjects"
    );
    test.stop().await;
}
