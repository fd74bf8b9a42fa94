//! Every statement is served by an index and costs the same however much history there is, by the plans of what the
//! process really sends; also by generic plans, which a session falls back to after a while.

mod charges;
mod explainer;
mod refunds;

use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use self::explainer::{Explainer, Plan};
use crate::{
    payments::{APPROVED, CREATE, DECLINED, input},
    support::{TestApp, Toss, db::TestDb, eventually},
};

/// The tables that grow for ever.
const GROWING: [&str; 16] = [
    "payment_outbox",
    "payment",
    "failure",
    "idempotency_key",
    "provider_call",
    "audit_entry",
    "member",
    "wallet",
    "charge",
    "charge_reference",
    "ledger_entry",
    "charge_event_job",
    "refund",
    "inbox",
    "inbound_dead_letter",
    "participant_cancel",
];
/// Rows of each at the end.
const ROWS: i64 = 200_000;
/// Rows of each in the beginning.
const FEW_ROWS: i64 = 10_000;
/// The most rows that a statement may read of a growing table: what a count looks at.
const MOST_ROWS: i64 = 10_001;
/// The most that it may read in vain.
const MOST_IN_VAIN: i64 = 500;

/// Fills the tables with history: nearly everything done well, some hundreds in each other state.
async fn fill(db: &TestDb, from: i64, to: i64) {
    let rows = format!("generate_series({from}, {to}) n");
    let age = format!("now() - ({ROWS} - n) * interval '1 second'");
    db.run(&format!(
        "INSERT INTO payment (order_id, user_id, meeting_id, order_name, amount, status, payment_key, idempotency_key, failure_code,
                              completed_at, created_at)
         SELECT 'order-' || n, 1 + n % 5000, 1000000 + n / 40, 'A meeting', 1000, status,
                CASE status WHEN 'COMPLETED' THEN 'key-' || n END, 'key-' || n, CASE status WHEN 'FAILED' THEN 'DECLINED' END, now(), {age}
         FROM (SELECT n, CASE WHEN n % 700 = 0 THEN 'PENDING' WHEN n % 600 = 0 THEN 'FAILED' ELSE 'COMPLETED' END AS status FROM {rows}) s;
         INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, retry_count,
                                     next_retry_at, processing_started_at, last_error_code, published_at, dead_lettered_at, created_at)
         SELECT 'PAYMENT_COMPLETED', 'PAYMENT', n::text, '', 'nobody', '{{\"n\": 1}}', status, 1,
                CASE status WHEN 'FAILED' THEN now() + interval '1 day' END, now(),
                CASE WHEN status IN ('FAILED', 'DEAD_LETTERED') THEN 'UNROUTABLE' END,
                CASE status WHEN 'PUBLISHED' THEN {age} END, CASE status WHEN 'DEAD_LETTERED' THEN {age} END, {age}
         FROM (SELECT n, CASE WHEN n % 900 = 0 THEN 'PENDING' WHEN n % 800 = 0 THEN 'PROCESSING' WHEN n % 700 = 0 THEN 'FAILED'
                              WHEN n % 600 = 0 THEN 'DEAD_LETTERED' ELSE 'PUBLISHED' END AS status FROM {rows}) s;
         INSERT INTO failure (position, kind, severity, subject_type, subject_id, code, message, fingerprint, flow_id, occurred_at)
         SELECT last + n - {from} + 1, CASE WHEN n % 500 = 0 THEN 'PAYMENT_FAILED' ELSE 'OUTBOX_FAILED' END, CASE WHEN n % 400 = 0 THEN 'CRITICAL' ELSE 'WARNING' END,
                'OUTBOX_EVENT', n::text, CASE WHEN n % 300 = 0 THEN 'NACKED' ELSE 'UNROUTABLE' END, 'no', 'f' || n % 7, gen_random_uuid(), {age}
         FROM {rows}, failure_feed;
         UPDATE failure_feed SET last = last + {to} - {from} + 1;
         INSERT INTO idempotency_key (caller, operation, key, input_hash, subject_type, subject_id, lease_until, finished_at)
         SELECT 'service', 'createKeyInPayment', 'k' || n, '\\x00', 'PAYMENT', n, now(), now() FROM {rows};
         INSERT INTO provider_call (provider, operation, subject_type, subject_id, flow_id, outcome, duration_ms)
         SELECT 'TOSS', 'key-in', 'PAYMENT', n, gen_random_uuid(), 'APPROVED', 5 FROM {rows};
         INSERT INTO audit_entry (actor, role, action, target_type, target_id, request_id)
         SELECT 'a' || n % 9, 'ADMIN', 'requeueOutboxEvent', 'OUTBOX_EVENT', n::text, 'r' FROM {rows};"
    ))
    .await;
    db.run("VACUUM ANALYZE").await;
}

/// What is wrong with a plan, if anything is.
fn offence(plan: &Plan) -> Option<String> {
    let nodes = plan.nodes();
    let wrong = nodes.iter().find(|node| {
        let growing = node.relation().is_some_and(|relation| GROWING.contains(&relation));
        // Of a table that is empty in this test any plan is as good.
        let scans = node.kind() == "Seq Scan" && node.rows() + node.in_vain() > 0;
        growing && (scans || node.rows() > MOST_ROWS || node.in_vain() > MOST_IN_VAIN)
    })?;
    let table = wrong.relation().unwrap_or_default();
    Some(format!("{} of {table}\n    in {}\n    of {}", wrong.kind(), plan.outline(), plan.query))
}

/// A process under watch, and what was found.
struct Watched<'a> {
    app: TestApp,
    explainer: &'a Explainer,
    offences: Vec<String>,
}

impl Watched<'_> {
    /// Judges all that was sent since the last time; `tables` must have been read.
    fn judge(&mut self, what: &str, tables: &[&str]) {
        let plans = self.explainer.take();
        for table in tables {
            let all = || plans.iter().map(|plan| plan.query.as_str()).collect::<Vec<_>>().join("\n");
            assert!(
                plans.iter().any(|plan| plan.reads(table)),
                "{what}: no statement read {table}: {}",
                all()
            );
        }
        self.offences.extend(plans.iter().filter_map(offence).map(|offence| format!("{what}: {offence}")));
    }

    /// A page of a list with its count, with all that hangs on its rows; then the next page and the last one.
    async fn list(&mut self, field: &str, table: &str, fields: &str, filter: Value) {
        let query = format!(
            "query ($filter: {}Filter, $first: Int, $after: String, $last: Int) {{
                 {field}(filter: $filter, first: $first, after: $after, last: $last) {{
                     nodes {{ {fields} }} pageInfo {{ endCursor }} count {{ value }} }} }}",
            match field {
                "outboxEvents" => "Outbox",
                "payments" => "Payment",
                "refunds" => "Refund",
                _ => "Failure",
            }
        );
        let operator = self.app.operator();
        let data = operator.data(&query, json!({ "filter": filter, "first": 20 })).await;
        let rows = data[field]["nodes"].as_array().unwrap().len();
        assert!(rows > 0, "{field} {filter}: nothing is found, which shows nothing");
        let after = &data[field]["pageInfo"]["endCursor"];
        operator.data(&query, json!({ "filter": filter, "first": 20, "after": after })).await;
        operator.data(&query, json!({ "filter": filter, "last": 20 })).await;
        self.judge(&format!("{field} {filter}"), &[table]);
    }

    async fn lists(&mut self) {
        let row = |table: &str, column: &str| format!("SELECT {column}::text FROM {table} WHERE id = 12345");
        let event_id: String = self.app.db.value(&row("payment_outbox", "event_id")).await;
        let flow_of_event: String = self.app.db.value(&row("payment_outbox", "flow_id")).await;
        let flow_of_payment: String = self.app.db.value(&row("payment", "flow_id")).await;
        let hour: String = self
            .app
            .db
            .value("SELECT to_char(now() - interval '10 hours', 'YYYY-MM-DD\"T\"HH24:MI:SSOF:00')")
            .await;
        let now: String = self
            .app
            .db
            .value("SELECT to_char(now() - interval '9 hours', 'YYYY-MM-DD\"T\"HH24:MI:SSOF:00')")
            .await;
        let within = json!({ "from": hour, "to": now });

        let event = "id attempts { number } waitingFor { reason } failures { id }";
        let mut filters = vec![
            json!({}),
            json!({ "createdAt": within }),
            json!({ "status": ["FAILED", "DEAD_LETTERED"] }),
            json!({ "status": ["FAILED", "DEAD_LETTERED"], "errorCode": ["UNROUTABLE"] }),
            json!({ "status": ["FAILED"], "errorCode": ["UNROUTABLE"] }),
            json!({ "status": ["DEAD_LETTERED"], "errorCode": ["UNROUTABLE"] }),
            json!({ "aggregateType": "PAYMENT", "aggregateId": "12345" }),
            json!({ "eventId": event_id }),
            json!({ "correlationId": event_id }),
            json!({ "flowId": flow_of_event }),
        ];
        for status in ["PENDING", "PROCESSING", "PUBLISHED", "FAILED", "DEAD_LETTERED"] {
            filters.push(json!({ "status": [status] }));
            filters.push(json!({ "status": [status], "createdAt": within }));
        }
        for filter in filters {
            self.list("outboxEvents", "payment_outbox", event, filter).await;
        }

        let payment = "id outboxEvents { id } providerCalls { code } failures { id }";
        let mut filters = vec![
            json!({}),
            json!({ "createdAt": within }),
            json!({ "userId": "42" }),
            json!({ "meetingId": "1000100" }),
            json!({ "orderId": "order-12345" }),
            json!({ "paymentKey": "key-12345" }),
            json!({ "flowId": flow_of_payment }),
        ];
        for status in ["PENDING", "COMPLETED", "FAILED"] {
            filters.push(json!({ "status": [status] }));
            filters.push(json!({ "status": [status], "createdAt": within }));
        }
        for filter in filters {
            self.list("payments", "payment", payment, filter).await;
        }

        let failure = "id subject { __typename }";
        for filter in [
            json!({}),
            json!({ "kind": ["PAYMENT_FAILED"] }),
            json!({ "kind": ["OUTBOX_FAILED"] }),
            json!({ "severity": ["CRITICAL"] }),
            json!({ "code": ["NACKED"] }),
            json!({ "code": ["UNROUTABLE"] }),
            json!({ "subjectType": "OUTBOX_EVENT", "subjectId": "12345" }),
        ] {
            self.list("failures", "failure", failure, filter).await;
        }
    }

    /// Single rows, by query and by subscription.
    async fn single_rows(&mut self) {
        let query =
            "{ payment(id: \"12345\") { id outboxEvents { id } providerCalls { code } failures { id } }
                       outboxEvent(id: \"12345\") { id failures { id } } }";
        self.app.operator().data(query, json!({})).await;
        self.judge("single rows", &["payment", "payment_outbox", "provider_call", "failure"]);
        let mut socket = self.app.operator().socket().await;
        for subscription in
            ["paymentChanged(id: \"12345\") { id }", "outboxEventChanged(id: \"12345\") { id }"]
        {
            let query = format!("subscription {{ {subscription} }}");
            socket.subscribe(&Uuid::new_v4().to_string(), &query, json!({})).await;
            socket.data().await;
        }
        self.judge("watched rows", &["payment", "payment_outbox"]);
    }

    /// A replay from the middle of the feed, then what is new.
    /// The look that is shared by everybody who asks how everything stands.
    async fn overview(&mut self) {
        let query =
            "{ overview { payments { status } publishedPerMinute { value } failuresPerMinute { value } } }";
        let data = self.app.operator().data(query, json!({})).await;
        assert_eq!(data["overview"]["failuresPerMinute"].as_array().unwrap().len(), 60);
        self.judge("the overview", &["payment", "payment_outbox", "failure", "refund"]);
        self.app.operator().data("{ invariants { name } }", json!({})).await;
        self.judge("the books", &["payment", "payment_outbox", "refund"]);
    }

    async fn feed(&mut self) {
        let query = "{ failures(first: 1, filter: { subjectType: \"OUTBOX_EVENT\", subjectId: \"199000\" }) { nodes { cursor } } }";
        let found = self.app.operator().data(query, json!({})).await;
        let cursor = &found["failures"]["nodes"][0]["cursor"];
        let mut socket = self.app.operator().socket().await;
        let query = "subscription ($after: String) { failures(after: $after) { failure { subjectId } } }";
        socket.subscribe("feed", query, json!({ "after": cursor })).await;
        self.app
            .db
            .run("INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt)
                  VALUES ('PAYMENT_FAILED', 'INFO', 'PAYMENT', 'new', 'X', 'no', 'new', 1)")
            .await;
        while socket.data().await["failures"]["failure"]["subjectId"] != "new" {}
        self.judge("the feed", &["failure"]);
    }

    /// Payments with every outcome, the same key again included, until their events are out.
    async fn payments(&mut self, mode: &str) {
        let service = self.app.service();
        for (key, user, card) in [
            ("approved", 1, APPROVED),
            ("approved", 1, APPROVED),
            ("declined", 2, DECLINED),
            ("paid", 1, APPROVED),
        ] {
            let meeting = if mode == "auto" { 1 } else { 2 };
            service.query(CREATE, input(&format!("{key} {mode}"), meeting, user, card)).await;
        }
        let exchange = self.app.exchange();
        eventually("the payments' events are published", async || {
            let sql = format!("payment_outbox WHERE exchange = '{exchange}' AND status = 'PUBLISHED'");
            (self.app.db.count(&sql).await == 2).then_some(())
        })
        .await;
        self.judge("payments", &["payment", "idempotency_key", "payment_outbox"]);
    }

    /// Everything that the outbox's workers do: looks, claims, marks of each kind, recovery, requeue.
    async fn outbox(&mut self) {
        let db = Arc::clone(&self.app.db);
        for _ in 0..50 {
            self.app.insert_event("bound").await;
        }
        let unroutable = self.app.insert_event("nobody").await;
        let killed = self.app.insert_event_to("no.such.exchange", "x").await;
        db.run(
            "UPDATE payment_outbox SET processing_started_at = now() - interval '1 day' WHERE id = 8000;
                UPDATE payment_outbox SET next_retry_at = NULL WHERE id = 700;
                UPDATE payment_outbox SET suspect = true, next_retry_at = now() WHERE id = 1400",
        )
        .await;
        let exchange = self.app.exchange();
        eventually("the events are published", async || {
            let sql = format!("payment_outbox WHERE exchange = '{exchange}' AND status = 'PUBLISHED' AND routing_key = 'bound'");
            (db.count(&sql).await == 50).then_some(())
        })
        .await;
        for id in [unroutable, killed, 8000, 700, 1400] {
            let what = format!("event {id} was tried");
            eventually(&what, async || {
                let failed = format!("failure WHERE subject_type = 'OUTBOX_EVENT' AND subject_id = '{id}' AND occurred_at > now() - interval '1 minute'");
                (db.count(&failed).await > 0).then_some(())
            })
            .await;
        }
        let requeue = "mutation { requeueOutboxEvent(input: { id: \"600\", reason: \"again\" }) { userErrors { code } } }";
        let answer = self.app.admin().data(requeue, json!({})).await;
        assert_eq!(answer["requeueOutboxEvent"]["userErrors"], json!([]));
        for statement in [
            "WITH due AS",
            "WITH pending AS",
            "SET status = 'PUBLISHED'",
            "SET status = mark.status",
            "interval '1 millisecond'\n         ORDER BY coalesce",
            "UPDATE payment_outbox SET next_retry_at = now()",
            "WHERE status = 'PENDING' AND NOT suspect",
            "WHERE status = 'FAILED' AND NOT suspect",
        ] {
            let seen = async || self.explainer.seen(|plan| plan.query.contains(statement)).pop();
            eventually(&format!("`{statement}` was sent"), seen).await;
        }
        self.judge("the outbox", &["payment_outbox"]);
    }

    async fn stop(self, mode: &str) {
        self.app.stop().await;
        assert!(self.offences.is_empty(), "{mode} plans:\n{}", self.offences.join("\n"));
    }
}

/// Pages of 100 claims and of a list's page, by what the process sends.
async fn costs(db: &Arc<TestDb>, explainer: &Explainer) -> [(&'static str, i64); 2] {
    let app = TestApp::builder()
        .set("outbox-pending-batch", 100)
        .set("outbox-publishers", 1)
        // What failed in the history is tried once, at the start, and not again among the claims that are counted.
        .set("outbox-retry-interval", "10m")
        .start_on(Arc::clone(db))
        .await;
    let _inbox = app.inbox(&["bound"]).await;
    // What the history has left to do is done first, the retries that were due at the start among it.
    let started: String = db.value("SELECT now()::text").await;
    let at_work = format!(
        "payment_outbox WHERE status = 'PENDING' OR (status = 'PROCESSING' AND claimed_by IS NOT NULL)
             OR (status = 'FAILED' AND next_retry_at <= '{started}')"
    );
    eventually("the workers have nothing to do", async || (db.count(&at_work).await == 0).then_some(()))
        .await;
    explainer.take();
    db.run(&format!(
        "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
         SELECT 'TESTED', 'TEST', n::text, '{}', 'bound', '1' FROM generate_series(1, 100) n",
        app.exchange()
    ))
    .await;
    let is_claim = |plan: &Plan| plan.query.starts_with("WITH due AS") && plan.rows() > 0;
    let claims = eventually("all are claimed", async || {
        let claims = explainer.seen(is_claim);
        (claims.iter().map(Plan::rows).sum::<i64>() == 100).then_some(claims)
    })
    .await;
    app.operator().data("{ outboxEvents(first: 100) { nodes { id } } }", json!({})).await;
    let is_list =
        |plan: &Plan| plan.query.starts_with("SELECT") && plan.rows() >= 100 && plan.reads("payment_outbox");
    let lists = explainer
        .seen(|plan| is_list(plan) && plan.query.contains("ORDER BY \"payment_outbox\".\"created_at\" DESC"));
    assert_eq!(lists.len(), 1);
    app.stop().await;
    [("claim", claims.iter().map(Plan::pages).sum()), ("list", lists.iter().map(Plan::pages).sum())]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_is_served_by_an_index_whatever_the_history_heavy() {
    let mut db = TestDb::new().await;
    let explainer = Explainer::before(&mut db).await;
    let db = Arc::new(db);
    fill(&db, 1, FEW_ROWS).await;
    let few = costs(&db, &explainer).await;
    fill(&db, FEW_ROWS + 1, ROWS).await;
    let many = costs(&db, &explainer).await;
    for ((what, before), (_, after)) in few.into_iter().zip(many) {
        // Between the two sizes each index grows by one level, and a claim writes into seven of them.
        assert!(
            after <= before * 2,
            "a {what} looked at {before} pages at {FEW_ROWS} rows, at {after} at {ROWS}"
        );
    }

    let toss = Toss::start().await;
    let name = db.url.rsplit_once('/').unwrap().1.to_owned();
    for mode in ["auto", "force_generic_plan"] {
        db.run(&format!("ALTER DATABASE {name} SET plan_cache_mode = {mode}")).await;
        // As `fill` left them, whatever has been done to them since.
        db.run("UPDATE payment_outbox SET status = 'PENDING', next_retry_at = NULL WHERE id % 900 = 0; ANALYZE payment_outbox").await;
        let builder = || {
            TestApp::builder()
                .toss(&toss)
                .set("rate-limit-operator", 100_000)
                .set("outbox-backoff-base", "1d")
                .set("outbox-backoff-cap", "1d")
        };
        let app = builder().set("workers", false).start_on(Arc::clone(&db)).await;
        let mut watched = Watched { app, explainer: &explainer, offences: Vec::new() };
        watched.lists().await;
        watched.single_rows().await;
        watched.feed().await;
        watched.overview().await;
        watched.stop(mode).await;
        let app = builder().set("outbox-recovery-interval", "200ms").start_on(Arc::clone(&db)).await;
        let mut watched = Watched { app, explainer: &explainer, offences: Vec::new() };
        let _inbox = watched.app.inbox(&["payment.#", "bound"]).await;
        watched.payments(mode).await;
        watched.outbox().await;
        watched.stop(mode).await;
    }
}
