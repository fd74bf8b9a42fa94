//! Refunds, reconcilers, consumers and the books beside a long history of them.

use super::*;
use crate::{
    consumers::done,
    refunds::{REFUND, ask, paid, refund},
    support::messages::{cancel, deleted, register},
};

/// Refunds of payments that are gone, messages that were carried out, dead letters that are closed; and some hundreds of
/// each that are not.
async fn fill_refunds(db: &TestDb) {
    let rows = format!("generate_series(1, {ROWS}) n");
    let age = format!("now() - interval '1 day' - ({ROWS} - n) * interval '1 second'");
    db.run(&format!(
        "INSERT INTO refund (payment_id, payment_snapshot, order_id, payment_key, user_id, meeting_id, amount, reason, requested_by, source,
                             status, idempotency_key, flow_id, failure_code, next_check_at, created_at, completed_at)
         SELECT 5000000 + n, (to_jsonb(payment) || jsonb_build_object('id', 5000000 + n, 'status', 'REFUNDED'))::json, 'refunded-' || n, 'refunded-key-' || n, 1 + n % 5000, 2000000 + n / 40, 1000,
                'why', 'alice', 'OPERATOR', s.status, 'refund-' || n, gen_random_uuid(), CASE s.status WHEN 'FAILED' THEN 'REFUSED' END,
                CASE s.status WHEN 'REQUESTED' THEN now() + interval '1 day' END, {age}, CASE s.status WHEN 'COMPLETED' THEN now() END
         FROM (SELECT n, CASE WHEN n % 700 = 0 THEN 'REQUESTED' WHEN n % 600 = 0 THEN 'FAILED' ELSE 'COMPLETED' END AS status FROM {rows}) s JOIN payment ON payment.id = n;
         INSERT INTO inbox (event_id, consumer, subject_type, subject_id, state, created_at)
         SELECT gen_random_uuid(), 'payment.participant.register', 'PAYMENT', n, 'DONE', {age} FROM {rows};
         INSERT INTO inbound_dead_letter (queue, body, error_class, error_code, error, status, received_at)
         SELECT 'payment.meeting.deleted', '{{}}', 'DATA', 'NOT_JSON', 'no', CASE WHEN n % 900 = 0 THEN 'OPEN' ELSE 'DISCARDED' END, {age} FROM {rows};
         INSERT INTO participant_cancel (meeting_id, user_id, canceled_at, event_id, created_at)
         SELECT 3000000 + n, 1, now(), gen_random_uuid(), {age} FROM {rows};"
    ))
    .await;
    db.run("VACUUM ANALYZE").await;
}

impl Watched<'_> {
    async fn refund_lists(&mut self) {
        let flow: String = self.app.db.value("SELECT flow_id::text FROM refund WHERE id = 12345").await;
        let fields = "id payment { id } outboxEvents { id } providerCalls { code } failures { id } availableActions { allowed }";
        let mut filters = vec![
            json!({}),
            json!({ "userId": "42" }),
            json!({ "meetingId": "2000100" }),
            json!({ "paymentId": "5012345" }),
            json!({ "flowId": flow }),
            json!({ "status": ["FAILED"], "failureCode": ["REFUSED"] }),
        ];
        filters.extend(["REQUESTED", "COMPLETED", "FAILED"].map(|status| json!({ "status": [status] })));
        for filter in filters {
            self.list("refunds", "refund", fields, filter).await;
        }
        for status in ["[OPEN]", "[DISCARDED]", "null"] {
            let letters = format!(
                "{{ inboundDeadLetters(first: 20, status: {status}) {{ nodes {{ id failures {{ id }} }} count {{ value }} }} }}"
            );
            let data = self.app.operator().data(&letters, json!({})).await;
            assert_eq!(data["inboundDeadLetters"]["nodes"].as_array().unwrap().len(), 20);
            self.judge(&format!("dead letters {status}"), &["inbound_dead_letter"]);
        }
        let gone = "{ payment(id: \"5012345\") { status refunds { id } } refund(id: \"12345\") { id } }";
        assert_eq!(self.app.operator().data(gone, json!({})).await["payment"]["status"], "REFUNDED");
        self.judge("a refunded payment", &["refund"]);
        self.app.operator().data("{ invariants { holds } }", json!({})).await;
        self.judge("the books", &["refund", "payment", "inbox", "idempotency_key"]);
    }

    /// A refund, one that is refused and retried, and one whose answer is lost.
    async fn refunds(&mut self, toss: &Toss, mode: &str) {
        let (service, meeting) = (self.app.service(), if mode == "auto" { 11 } else { 12 });
        let id = paid(&service, meeting, 1).await;
        ask(&service, refund(&format!("a {mode}"), &id)).await;
        let behave = async |how: Value| toss.behave(how).await;
        behave(json!({ "gateway": "toss", "operation": "cancel", "times": 1, "status": 403, "code": "NOT_CANCELABLE_PAYMENT", "effect": false })).await;
        let id = paid(&service, meeting, 2).await;
        let refused = service.data(REFUND, refund(&format!("b {mode}"), &id)).await;
        let retry = "mutation ($id: ID!) { retryRefund(input: { id: $id, reason: \"again\" }) { refund { status } userErrors { code } } }";
        let retried =
            self.app.admin().data(retry, json!({ "id": refused["refundPayment"]["refund"]["id"] })).await;
        assert_eq!(retried["retryRefund"]["refund"]["status"], "COMPLETED", "{retried}");
        behave(json!({ "gateway": "toss", "operation": "cancel", "times": 1, "drop": true })).await;
        behave(json!({ "gateway": "toss", "operation": "key-in", "times": 1, "drop": true })).await;
        self.app.service().query(CREATE, input(&format!("lost {mode}"), meeting, 3, APPROVED)).await;
        eventually("the reconcilers have ended all", async || {
            let open = self
                .app
                .db
                .count(&format!("payment WHERE meeting_id = {meeting} AND status = 'PENDING'"))
                .await
                + self
                    .app
                    .db
                    .count(&format!("refund WHERE meeting_id = {meeting} AND status = 'REQUESTED'"))
                    .await;
            (open == 0).then_some(())
        })
        .await;
        self.judge("refunds", &["refund", "payment", "payment_outbox"]);
    }

    /// Each message once, again, and in vain.
    async fn messages(&mut self, mode: &str) {
        let meeting = if mode == "auto" { 21 } else { 22 };
        let first = register(meeting, 1);
        self.app.send("participant.register", &first).await;
        for (key, message) in [
            ("participant.register", first),
            ("participant.register", register(meeting, 2)),
            ("participant.cancel", cancel(meeting, 1, true)),
            ("participant.cancel", cancel(meeting, 9, true)),
            ("meeting.deleted", deleted(meeting)),
        ] {
            self.app.send(key, &message).await;
            done(&self.app, &message).await;
        }
        let open = self.app.db.count("inbound_dead_letter WHERE status = 'OPEN'").await;
        self.app.send_bytes("meeting.deleted", b"no JSON").await;
        eventually("the bad message is kept", async || {
            (self.app.db.count("inbound_dead_letter WHERE status = 'OPEN'").await > open).then_some(())
        })
        .await;
        let refunded = format!("refund WHERE meeting_id = {meeting} AND status = 'COMPLETED'");
        eventually("both are refunded", async || (self.app.db.count(&refunded).await == 2).then_some(()))
            .await;
        let letters =
            self.app.operator().data("{ inboundDeadLetters(first: 1) { nodes { id } } }", json!({})).await;
        let id = &letters["inboundDeadLetters"]["nodes"][0]["id"];
        for action in ["replayInboundDeadLetter", "discardInboundDeadLetter"] {
            let query = format!(
                "mutation ($id: ID!) {{ {action}(input: {{ id: $id, reason: \"why\" }}) {{ userErrors {{ code }} }} }}"
            );
            self.app.admin().data(&query, json!({ "id": id })).await;
        }
        self.judge("messages", &["inbox", "refund", "payment", "participant_cancel", "inbound_dead_letter"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refunds_messages_and_books_are_served_by_indexes_whatever_the_history_heavy() {
    let mut db = TestDb::new().await;
    let explainer = Explainer::before(&mut db).await;
    let db = Arc::new(db);
    fill(&db, 1, ROWS).await;
    fill_refunds(&db).await;
    let toss = Toss::start().await;
    let name = db.url.rsplit_once('/').unwrap().1.to_owned();
    for mode in ["auto", "force_generic_plan"] {
        db.run(&format!("ALTER DATABASE {name} SET plan_cache_mode = {mode}")).await;
        let builder = || TestApp::builder().toss(&toss).test_card(APPROVED).set("outbox-backoff-base", "1d");
        let app = builder().set("workers", false).start_on(Arc::clone(&db)).await;
        let mut watched = Watched { app, explainer: &explainer, offences: Vec::new() };
        watched.refund_lists().await;
        watched.stop(mode).await;
        // The history's own PENDING payments are not to be asked about here.
        db.run("UPDATE payment SET next_check_at = now() + interval '1 day' WHERE status = 'PENDING'; ANALYZE payment").await;
        let app = builder()
            .set("payment-reconcile-interval", "100ms")
            .set("payment-reconcile-after", "200ms")
            .start_on(Arc::clone(&db))
            .await;
        app.consuming().await;
        let mut watched = Watched { app, explainer: &explainer, offences: Vec::new() };
        let _inbox = watched.app.inbox(&["payment.#"]).await;
        watched.refunds(&toss, mode).await;
        watched.messages(mode).await;
        watched.stop(mode).await;
    }
}
