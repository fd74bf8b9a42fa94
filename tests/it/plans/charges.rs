//! The plans of what charges, bonus jobs and their workers send.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Explainer, ROWS, Watched};
use crate::{
    notices::{hecto, noti},
    support::{
        Shop, TestApp,
        db::TestDb,
        eventually,
        shop::{REQUEST, google, order, paid_at_bootpay, request, requested, spring, verify},
    },
};

/// Fills the tables with history: nearly everything bought and granted, some hundreds in each other state.
async fn fill(db: &TestDb) {
    let age = format!("now() - ({ROWS} - n) * interval '1 second'");
    db.run(&format!(
        "INSERT INTO member (nickname) SELECT 'm' || n FROM generate_series(1, {ROWS}) n;
         INSERT INTO wallet (member_id, container, charge_can) SELECT n, 'PG', 0 FROM generate_series(1, {ROWS}) n;
         INSERT INTO charge (member_id, can, container, order_id, sku, title, price, payment_gateway, payment_status, account_token,
                             gateway_transaction_id, next_check_at, consume_due_at, completed_at, created_at)
         SELECT 1 + n % 5000, 100,
                CASE gateway WHEN 'GOOGLE_IAP' THEN 'AOS' WHEN 'APPLE_IAP' THEN 'IOS' ELSE 'PG' END,
                'order-' || n, 'coin_100', 'Can 100', 11000, gateway, status, gen_random_uuid(),
                CASE status WHEN 'COMPLETE' THEN 'transaction-' || n END,
                CASE WHEN status = 'REQUEST' AND n % 1400 = 0 THEN now() + interval '1 day' END,
                CASE WHEN status = 'COMPLETE' AND n % 900 = 3 THEN now() + interval '1 day' END,
                CASE status WHEN 'COMPLETE' THEN {age} END, {age}
         FROM (SELECT n, (ARRAY['PG', 'PAYVERSE', 'HECTO', 'GOOGLE_IAP', 'APPLE_IAP'])[1 + n % 5] AS gateway,
                      CASE WHEN n % 700 = 0 THEN 'REQUEST' ELSE 'COMPLETE' END AS status
               FROM generate_series(1, {ROWS}) n) s;
         INSERT INTO charge_reference (charge_id, reference, digest, outcome, next_check_at, presented_at, created_at)
         SELECT id, 'transaction-' || id, sha256(convert_to('transaction-' || id, 'UTF8')), payment_status,
                CASE WHEN id % 1400 = 700 THEN now() + interval '1 day' END, created_at, created_at FROM charge;
         INSERT INTO ledger_entry (member_id, container, charge_id, kind, can, balance_after, created_at)
         SELECT member_id, 'PG', id, 'CHARGE', can, can, created_at FROM charge WHERE payment_status = 'COMPLETE';
         INSERT INTO charge_event (title, start_at, end_at, add_percent) VALUES ('Spring', '2020-01-01', '2100-01-01', 10);
         INSERT INTO charge (member_id, status, can, container, order_id, title, price, payment_gateway, payment_status, completed_at, created_at)
         SELECT 1 + n % 5000, 'EVENT', 10, 'PG', 'bonus-' || n, 'Spring', 0, 'PG', 'COMPLETE', {age}, {age}
         FROM generate_series(1, {ROWS}) n WHERE n % 50 = 0;
         INSERT INTO charge_event_job (source_charge_id, result_charge_id, member_id, charge_event_id, job_type, idempotency_key,
                                       additional_can, payment_gateway, container, method_snapshot, status, next_retry_at, claim_token,
                                       processing_started_at, processed_at, flow_id, created_at)
         SELECT n, CASE status WHEN 'DONE' THEN n END, 1 + n % 5000, 1, 'ACTIVE_CHARGE_EVENT', 'job-' || n, 10, 'PG', 'PG', 'Spring', status,
                now() + interval '1 day', gen_random_uuid(), now(), CASE status WHEN 'DONE' THEN {age} END, gen_random_uuid(), {age}
         FROM (SELECT n, CASE WHEN n % 900 = 0 THEN 'PENDING' WHEN n % 800 = 0 THEN 'PROCESSING' WHEN n % 700 = 0 THEN 'FAILED'
                              ELSE 'DONE' END AS status
               FROM generate_series(1, {ROWS}) n) s;
         INSERT INTO provider_call (provider, operation, subject_type, subject_id, flow_id, outcome, duration_ms)
         SELECT 'BOOTPAY', 'lookup', 'CHARGE', n, gen_random_uuid(), 'APPROVED', 5 FROM generate_series(1, {ROWS}) n;
         INSERT INTO failure (position, kind, severity, subject_type, subject_id, code, message, fingerprint, flow_id)
         SELECT last + n, 'CHARGE_JOB_RETRY', 'WARNING', 'CHARGE_JOB', n::text, 'X', 'no', 'f', gen_random_uuid()
         FROM generate_series(1, {ROWS}) n, failure_feed;
         UPDATE failure_feed SET last = last + {ROWS}"
    ))
    .await;
    db.run("VACUUM ANALYZE").await;
}

impl Watched<'_> {
    /// A page of a list with its count, with all that hangs on its rows; then the next page and the last one.
    async fn pages(&mut self, field: &str, filter_type: &str, table: &str, fields: &str, filter: Value) {
        let query = format!(
            "query ($filter: {filter_type}, $first: Int, $after: String, $last: Int) {{
                 {field}(filter: $filter, first: $first, after: $after, last: $last) {{
                     nodes {{ {fields} }} pageInfo {{ endCursor }} count {{ value }} }} }}"
        );
        let operator = self.app.operator();
        let data = operator.data(&query, json!({ "filter": filter, "first": 20 })).await;
        assert!(
            !data[field]["nodes"].as_array().unwrap().is_empty(),
            "{field} {filter}: nothing is found, which shows nothing"
        );
        let after = &data[field]["pageInfo"]["endCursor"];
        operator.data(&query, json!({ "filter": filter, "first": 20, "after": after })).await;
        operator.data(&query, json!({ "filter": filter, "last": 20 })).await;
        self.judge(&format!("{field} {filter}"), &[table]);
    }

    async fn charge_lists(&mut self) {
        let charge =
            "id member { id wallets { chargeCan } } jobs { id } providerCalls { code } failures { id }";
        let mut filters = vec![
            json!({}),
            json!({ "memberId": "42" }),
            json!({ "orderId": "order-12345" }),
            json!({ "gatewayTransactionId": "transaction-12345" }),
            json!({ "status": ["EVENT"] }),
            json!({ "paymentStatus": ["REQUEST"] }),
            json!({ "paymentStatus": ["COMPLETE"] }),
        ];
        filters.extend(["PG", "GOOGLE_IAP"].map(|gateway| json!({ "paymentGateway": [gateway] })));
        for filter in filters {
            self.pages("charges", "ChargeFilter", "charge", charge, filter).await;
        }
        let job = "id sourceCharge { id } resultCharge { id } member { id } chargeEvent { id } waitingFor { reason }
                   failures { id } availableActions { action }";
        let mut filters = vec![
            json!({}),
            json!({ "memberId": "42", "status": ["DONE"] }),
            json!({ "sourceChargeId": "900" }),
            json!({ "chargeEventId": "1" }),
        ];
        filters
            .extend(["PENDING", "PROCESSING", "DONE", "FAILED"].map(|status| json!({ "status": [status] })));
        for filter in filters {
            self.pages("chargeJobs", "ChargeJobFilter", "charge_event_job", job, filter).await;
        }
        let member = "{ member(id: 42) { wallets { chargeCan } ledger(first: 20) { nodes { charge { id } } count { value } } }
                        charge(id: 12345) { id } chargeJob(id: 12345) { id } chargeEvents { nodes { id } count { value } } canProducts { sku } }";
        self.app.operator().data(member, json!({})).await;
        self.judge("single rows", &["member", "ledger_entry", "charge", "charge_event_job"]);
        let mut socket = self.app.operator().socket().await;
        socket.subscribe("1", "subscription { chargeJobChanged(id: 12345) { id } }", json!({})).await;
        socket.data().await;
        self.judge("a watched job", &["charge_event_job"]);
        self.app.operator().data("{ invariants { holds } }", json!({})).await;
        self.judge("the books", &["wallet", "ledger_entry", "charge", "charge_event_job"]);
    }

    /// The other tables are empty here, and an index is of no use to them.
    async fn stop_charges(mut self, mode: &str) {
        let ours = [
            "member",
            "wallet",
            "charge",
            "charge_reference",
            "ledger_entry",
            "charge_event_job",
            "provider_call",
            "failure",
        ];
        self.offences.retain(|offence| ours.iter().any(|table| offence.contains(&format!(" of {table}\n"))));
        self.stop(mode).await;
    }

    /// Purchases of each outcome, a promotion with counted uses, and every worker.
    async fn charges(&mut self, shop: &Shop) {
        let (service, admin) = (self.app.service(), self.app.admin());
        let create = "mutation ($input: ChargeEventInput!) { createChargeEvent(input: $input) { userErrors { code } } }";
        admin.data(create, json!({ "input": spring(10, 1000) })).await;
        let key = uuid::Uuid::new_v4().to_string();
        for _ in 0..2 {
            service.data(REQUEST, request(&key, "42", "PG", "coin_100")).await;
        }
        let charge = requested(&service, "42", "PG").await;
        let receipt = paid_at_bootpay(shop, order(&charge)).await;
        for _ in 0..2 {
            let payload = verify(&service, "verify", order(&charge), &receipt).await;
            assert_eq!(payload["charge"]["paymentStatus"], "COMPLETE", "{payload:#}");
        }
        let wrong = shop.buy(json!({ "gateway": "bootpay", "orderId": order(&charge), "amount": 1 })).await;
        verify(&service, "verify", order(&charge), &wrong).await;
        let charge = requested(&service, "42", "GOOGLE_IAP").await;
        let token = shop.buy(json!({ "gateway": "google", "sku": "coin_100" })).await;
        google(&service, order(&charge), "coin_100", &token).await;
        let cancel = noti("CANCELORDER", "CANCEL1", &[("bizType", "C0"), ("orgTrdNo", "transaction-2")]);
        assert_eq!(hecto(&self.app, &cancel).await.0, 200);
        // What the history has for the workers.
        let db = Arc::clone(&self.app.db);
        db.run(
            "UPDATE charge_event_job SET next_retry_at = now() WHERE id = 900;
             UPDATE charge_event_job SET processing_started_at = now() - interval '1 day' WHERE id = 800;
             UPDATE charge SET next_check_at = now() WHERE id = 1400;
             UPDATE charge_reference SET next_check_at = now() WHERE charge_id = 700",
        )
        .await;
        for (what, done) in [
            ("the job that was due is granted", "charge_event_job WHERE id = 900 AND status = 'DONE'"),
            ("the stuck job is granted", "charge_event_job WHERE id = 800 AND status = 'DONE'"),
            ("the purchase is consumed", "charge WHERE consumed_at IS NOT NULL"),
            ("the charge was asked about", "charge WHERE id = 1400 AND next_check_at IS DISTINCT FROM now()"),
            (
                "what was presented was asked about",
                "charge_reference WHERE charge_id = 700 AND next_check_at > now()",
            ),
        ] {
            eventually(what, async || (db.count(done).await > 0).then_some(())).await;
        }
        for statement in ["WITH due AS MATERIALIZED", "WITH stuck AS", "few) AS failed", "WITH credited AS"] {
            let seen = async || self.explainer.seen(|plan| plan.query.contains(statement)).pop();
            eventually(&format!("`{statement}` was sent"), seen).await;
        }
        let retry =
            "mutation { retryChargeJob(input: { id: 700, reason: \"again\" }) { userErrors { code } } }";
        assert_eq!(admin.data(retry, json!({})).await["retryChargeJob"]["userErrors"], json!([]));
        admin.data("mutation { runChargeJobs(force: true) { claimed } }", json!({})).await;
        self.judge(
            "charges",
            &["charge", "charge_reference", "charge_event_job", "charge_event", "wallet", "member"],
        );
        db.run("UPDATE charge_event_job SET status = 'FAILED' WHERE id = 700 AND status <> 'DONE'").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_about_charges_is_served_by_an_index_whatever_the_history_heavy() {
    let mut db = TestDb::new().await;
    let explainer = Explainer::before(&mut db).await;
    let db = Arc::new(db);
    fill(&db).await;
    let shop = Shop::start().await;
    let name = db.url.rsplit_once('/').unwrap().1.to_owned();
    for mode in ["auto", "force_generic_plan"] {
        db.run(&format!("ALTER DATABASE {name} SET plan_cache_mode = {mode}")).await;
        db.run(
            "UPDATE charge_event_job SET status = CASE id WHEN 900 THEN 'PENDING' WHEN 800 THEN 'PROCESSING' ELSE 'FAILED' END,
                 idempotency_key = gen_random_uuid()::text
             WHERE id IN (700, 800, 900)",
        )
        .await;
        let builder = || TestApp::builder().shop(&shop).set("rate-limit-operator", 100_000);
        let app = builder().set("workers", false).start_on(Arc::clone(&db)).await;
        let mut watched = Watched { app, explainer: &explainer, offences: Vec::new() };
        watched.charge_lists().await;
        watched.stop_charges(mode).await;
        let app = builder()
            .set("charge-job-interval", "200ms")
            .set("charge-job-recovery-interval", "200ms")
            .set("charge-reconcile-interval", "200ms")
            .set("first-charge-percent", 10)
            .start_on(Arc::clone(&db))
            .await;
        let mut watched = Watched { app, explainer: &explainer, offences: Vec::new() };
        watched.charges(&shop).await;
        watched.stop_charges(mode).await;
    }
}
