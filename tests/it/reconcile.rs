//! What nobody knows is found out: by the reconcilers, by operators, after crashes; and the books agree.

use paydesk::{auth::Role, payments::RefundSource, payments::RefundWanted};
use serde_json::{Value, json};

use crate::{
    payments::{APPROVED, CREATE, input},
    refunds::{ask, cancels, given_back, paid, refund},
    support::{
        TestApp, Toss,
        api::{Actor, token},
        app::TestAppBuilder,
        eventually,
        process::Process,
    },
};

const RECONCILE: &str = "mutation ($input: OperatorActionInput!) { reconcilePayment(input: $input) {
    payment { id status failureCode } userErrors { code } } }";

/// Reconcilers in a hurry; nothing is given up.
pub fn hurried(toss: &Toss) -> TestAppBuilder {
    TestApp::builder()
        .toss(toss)
        .set("payment-reconcile-interval", "50ms")
        .set("payment-reconcile-after", "200ms")
        .set("provider-timeout", "1s")
}

/// Reconcilers that never look by themselves.
fn sleepy(toss: &Toss) -> TestAppBuilder {
    TestApp::builder().toss(toss).set("provider-timeout", "1s")
}

pub async fn behave(toss: &Toss, operation: &str, mut how: Value) {
    how["gateway"] = json!("toss");
    how["operation"] = json!(operation);
    toss.behave(how).await;
}

pub async fn pay(actor: &Actor, meeting: i64, user: i64) -> Value {
    let key = uuid::Uuid::new_v4().to_string();
    actor.data(CREATE, input(&key, meeting, user, APPROVED)).await["createKeyInPayment"]["payment"].take()
}

async fn becomes(test: &TestApp, payment: &Value, status: &str) {
    let sql = format!("payment WHERE id = {} AND status = '{status}'", payment["id"].as_str().unwrap());
    eventually(&format!("the payment becomes {status}"), async || {
        (test.db.count(&sql).await == 1).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_whose_answer_was_lost_is_completed_by_the_reconciler_with_one_event() {
    let toss = Toss::start().await;
    let test = hurried(&toss).start().await;
    let second = hurried(&toss).start_beside(&test).await;
    let inbox = test.inbox(&["payment.#"]).await;
    behave(&toss, "key-in", json!({ "drop": true })).await;
    let payment = pay(&test.service(), 7, 42).await;
    assert_eq!(payment["status"], "PENDING");
    becomes(&test, &payment, "COMPLETED").await;
    eventually("the event arrives", async || (inbox.len() == 1).then_some(())).await;
    inbox.settled().await;
    assert_eq!(inbox.all()[0].event_type, "PAYMENT_COMPLETED");
    assert_eq!(test.db.count("failure WHERE kind = 'PAYMENT_UNKNOWN'").await, 1);
    assert_eq!(test.db.count("provider_call WHERE operation = 'lookup' AND outcome = 'APPROVED'").await, 1);
    test.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_providers_own_not_found_gives_a_payment_up() {
    let toss = Toss::start().await;
    let test = hurried(&toss).set("payment-unknown-give-up", "1s").start().await;
    let inbox = test.inbox(&["payment.#"]).await;
    behave(&toss, "key-in", json!({ "status": 500 })).await;
    behave(&toss, "lookup", json!({ "status": 500, "times": 6 })).await;
    let payment = pay(&test.service(), 7, 42).await;
    let waiting = "query ($id: ID!) { payment(id: $id) { waitingFor { reason until } availableActions { action allowed } } }";
    let data = test.operator().data(waiting, json!({ "id": payment["id"] })).await;
    assert_eq!(data["payment"]["waitingFor"]["reason"], "PROVIDER_UNKNOWN");
    assert!(data["payment"]["waitingFor"]["until"].is_string());
    becomes(&test, &payment, "FAILED").await;
    let looks = "provider_call WHERE operation = 'lookup'";
    assert_eq!(
        test.db.count(&format!("{looks} AND outcome = 'UNKNOWN'")).await,
        6,
        "unreachable is no answer"
    );
    assert_eq!(test.db.value::<String>("SELECT failure_code FROM payment").await, "NOT_APPROVED");
    let message = eventually("the seat is given back", async || inbox.all().pop()).await;
    assert_eq!(
        (message.event_type.as_str(), &message.body["data"]["failureCode"]),
        ("PAYMENT_FAILED", &json!("NOT_APPROVED"))
    );
    // It is looked up again after an hour, and after a day, and then no more.
    for hours in [1, 23] {
        let due = format!(
            "payment WHERE next_check_at BETWEEN now() + interval '{hours} hours' - interval '1 minute' AND now() + interval '{hours} hours'"
        );
        eventually("the next look is planned", async || (test.db.count(&due).await == 1).then_some(())).await;
        test.db.run("UPDATE payment SET next_check_at = now()").await;
    }
    eventually("nothing is planned", async || {
        (test.db.count("payment WHERE next_check_at IS NULL").await == 1).then_some(())
    })
    .await;
    // The user may pay again.
    assert_eq!(pay(&test.service(), 7, 42).await["status"], "COMPLETED");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_after_the_give_up_is_cancelled_at_once_whoever_finds_it() {
    let toss = Toss::start().await;
    let test = hurried(&toss).set("payment-unknown-give-up", "1s").start().await;
    // Found by the direct path: the answer comes after the row was failed.
    behave(&toss, "lookup", json!({ "status": 500, "times": 100 })).await;
    behave(&toss, "key-in", json!({ "delayMs": 700 })).await;
    let slow = tokio::spawn({
        let service = test.service();
        async move { pay(&service, 7, 42).await }
    });
    eventually("the call is under way", async || (toss.calls().await.len() == 1).then_some(())).await;
    test.db.run("UPDATE payment SET status = 'FAILED', failure_code = 'NOT_APPROVED'").await;
    assert_eq!(slow.await.unwrap()["status"], "FAILED");
    let voided =
        "failure WHERE kind = 'PAYMENT_VOIDED' AND severity = 'CRITICAL' AND code = 'APPROVED_TOO_LATE'";
    assert_eq!(test.db.count(voided).await, 1);
    let order: String = test.db.value("SELECT order_id FROM payment").await;
    assert_eq!(cancels(&toss).await, [(format!("void:{order}"), "CANCELED".to_owned())]);

    behave(&toss, "lookup", json!({ "times": 0 })).await;

    // Found by a look back; the first void's answer is lost, and the same key is used again.
    behave(&toss, "key-in", json!({ "drop": true })).await;
    behave(&toss, "lookup", json!({ "code": "NOT_FOUND_PAYMENT", "times": 100 })).await;
    let payment = pay(&test.service(), 8, 42).await;
    becomes(&test, &payment, "FAILED").await;
    behave(&toss, "lookup", json!({ "times": 0 })).await;
    behave(&toss, "cancel", json!({ "drop": true, "effect": false })).await;
    test.db
        .run(
            "UPDATE payment SET next_check_at = now() WHERE failure_code = 'NOT_APPROVED' AND meeting_id = 8",
        )
        .await;
    eventually("it is voided", async || (test.db.count(voided).await == 2).then_some(())).await;
    let keys: Vec<String> = cancels(&toss).await.into_iter().skip(1).map(|(key, _)| key).collect();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
    assert_eq!(given_back(&toss).await, 30_000, "no money stays for payments that we called failed");
    eventually("nothing is planned", async || {
        (test.db.count("payment WHERE next_check_at IS NULL").await == 2).then_some(())
    })
    .await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_answer_and_the_reconciler_have_one_effect_together() {
    let toss = Toss::start().await;
    let test = hurried(&toss).set("provider-timeout", "10s").start().await;
    // The money moves at once, the answers come late: the reconciler finds out first.
    behave(&toss, "key-in", json!({ "delayMs": 1500 })).await;
    let payment = pay(&test.service(), 7, 42).await;
    assert_eq!(payment["status"], "COMPLETED");
    assert!(test.db.count("provider_call WHERE operation = 'lookup'").await >= 1);
    behave(&toss, "cancel", json!({ "delayMs": 1500 })).await;
    let payload = ask(&test.service(), refund("r", payment["id"].as_str().unwrap())).await;
    assert_eq!(payload["refund"]["status"], "COMPLETED");
    assert!(test.db.count("provider_call WHERE operation = 'lookup' AND subject_type = 'REFUND'").await >= 1);
    for event in ["PAYMENT_COMPLETED", "PAYMENT_REFUNDED"] {
        assert_eq!(test.db.count(&format!("payment_outbox WHERE event_type = '{event}'")).await, 1);
    }
    assert_eq!(test.db.count("failure WHERE kind = 'PAYMENT_VOIDED'").await, 0);
    assert_eq!((given_back(&toss).await, cancels(&toss).await.len()), (15_000, 1));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_whose_answer_was_lost_is_completed_and_made_once() {
    let toss = Toss::start().await;
    let test = hurried(&toss).start().await;
    // Carried out, and the socket dropped; then not carried out, and the answer an error.
    for (user, how) in [(41, json!({ "drop": true })), (42, json!({ "status": 500 }))] {
        let payment = paid(&test.service(), 7, user).await;
        behave(&toss, "cancel", how).await;
        let payload = ask(&test.service(), refund(&payment, &payment)).await;
        assert_eq!(payload["refund"]["status"], "REQUESTED");
        assert_eq!(payload["userErrors"], json!([]));
        eventually("the refund completes", async || {
            (test.db.count("refund WHERE status = 'REQUESTED'").await == 0).then_some(())
        })
        .await;
    }
    assert_eq!(test.db.count("refund WHERE status = 'COMPLETED' AND key_no = 1").await, 2);
    let keys: Vec<String> = cancels(&toss).await.into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys.len(), 3, "what was carried out is not asked for again");
    assert_eq!(keys[1], keys[2], "an unknown outcome is asked for again with the same key");
    assert_eq!(given_back(&toss).await, 30_000);
    assert_eq!(test.db.count("payment").await, 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_unknown_for_long_is_told_once_and_still_ends() {
    let toss = Toss::start().await;
    let test = hurried(&toss).set("payment-unknown-give-up", "600ms").start().await;
    let payment = paid(&test.service(), 7, 42).await;
    behave(&toss, "cancel", json!({ "status": 500 })).await;
    behave(&toss, "lookup", json!({ "drop": true, "times": 1000 })).await;
    ask(&test.service(), refund("r", &payment)).await;
    let told = "failure WHERE kind = 'REFUND_UNKNOWN' AND subject_type = 'REFUND'";
    eventually("it is told", async || (test.db.count(told).await == 1).then_some(())).await;
    let looks = "provider_call WHERE operation = 'lookup'";
    let before = test.db.count(looks).await;
    eventually("it is looked at twice more", async || {
        (test.db.count(looks).await >= before + 2).then_some(())
    })
    .await;
    assert_eq!(test.db.count(told).await, 1);
    behave(&toss, "lookup", json!({ "times": 0 })).await;
    eventually("the refund completes", async || {
        (test.db.count("refund WHERE status = 'COMPLETED'").await == 1).then_some(())
    })
    .await;
    assert_eq!(given_back(&toss).await, 15_000);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_killed_after_the_provider_gave_back_goes_on_with_the_same_key() {
    let toss = Toss::start().await;
    let test = sleepy(&toss).start().await;
    let url = toss.url();
    let settings = [
        ("toss-url", url.as_str()),
        ("toss-secret-key", "test_sk_sim0000000000000000"),
        ("provider-timeout", "1s"),
        ("payment-reconcile-interval", "50ms"),
        ("payment-reconcile-after", "10s"),
        ("log", "error"),
    ];
    let mut victim = Process::start(&test, &settings).await;
    // Once the money has moved at the provider, once not.
    for (user, effect) in [(41, true), (42, false)] {
        let payment = paid(&test.service(), 7, user).await;
        behave(
            &toss,
            "cancel",
            json!({ "delayMs": 800, "effect": effect, "status": if effect { 200 } else { 500 } }),
        )
        .await;
        let before = cancels(&toss).await.len();
        let service = Actor::new(victim.base.clone(), Some(token(&[Role::Service], "service")));
        let asked = tokio::spawn(async move {
            service.try_query(crate::refunds::REFUND, refund(&payment, &payment)).await
        });
        eventually("the cancel is under way", async || {
            (toss.calls().await.iter().filter(|call| call["operation"] == "cancel").count() > before)
                .then_some(())
        })
        .await;
        victim.kill();
        assert!(asked.await.unwrap().is_err());
        victim = Process::start(&test, &settings).await;
        test.db.run("UPDATE refund SET next_check_at = now() WHERE status = 'REQUESTED'").await;
        eventually("the refund completes", async || {
            (test.db.count("refund WHERE status = 'REQUESTED'").await == 0).then_some(())
        })
        .await;
    }
    assert_eq!(test.db.count("refund WHERE status = 'COMPLETED' AND key_no = 1").await, 2);
    let keys: std::collections::BTreeSet<_> = cancels(&toss).await.into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys.len(), 2, "one key for each refund");
    assert_eq!(given_back(&toss).await, 30_000);
    victim.kill();
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_wanted_while_the_payment_is_pending_follows_its_completion() {
    let toss = Toss::start().await;
    let test = hurried(&toss).start().await;
    let wanted = RefundWanted {
        reason: "cancelled before it was paid".to_owned(),
        requested_by: "42".to_owned(),
        source: RefundSource::ParticipantCancel,
        source_event_id: Some(uuid::Uuid::now_v7()),
    };
    behave(&toss, "key-in", json!({ "drop": true })).await;
    behave(&toss, "lookup", json!({ "status": 500, "times": 3 })).await;
    let payment = pay(&test.service(), 7, 42).await;
    let mut tx = test.app.db.begin().await.unwrap();
    let locked = test.app.payments.lock_active_in_tx(&mut tx, 7, 42).await.unwrap().unwrap();
    assert_eq!(locked.id.to_string(), payment["id"].as_str().unwrap());
    assert!(test.app.payments.want_refund_in_tx(&mut tx, locked.id, &wanted).await.unwrap());
    tx.commit().await.unwrap();
    eventually("the payment completes and goes back", async || {
        (test.db.count("refund WHERE status = 'COMPLETED' AND source = 'PARTICIPANT_CANCEL'").await == 1)
            .then_some(())
    })
    .await;
    let events: Vec<String> = test.db.values("SELECT event_type FROM payment_outbox ORDER BY id").await;
    assert_eq!(events, ["PAYMENT_COMPLETED", "PAYMENT_REFUNDED"]);
    assert_eq!((given_back(&toss).await, test.db.count("payment").await), (15_000, 0));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_comes_again_gets_the_refund_that_it_made() {
    let toss = Toss::start().await;
    let test = sleepy(&toss).start().await;
    paid(&test.service(), 7, 42).await;
    let wanted = RefundWanted {
        reason: "the meeting was deleted".to_owned(),
        requested_by: "meeting-service".to_owned(),
        source: RefundSource::MeetingDeleted,
        source_event_id: Some(uuid::Uuid::now_v7()),
    };
    behave(&toss, "cancel", json!({ "code": "REFUND_REJECTED" })).await;
    let mut ids = Vec::new();
    for _delivery in 0..2 {
        let mut tx = test.app.db.begin().await.unwrap();
        let payment = test.app.payments.lock_active_in_tx(&mut tx, 7, 42).await.unwrap().unwrap();
        let requested =
            test.app.payments.request_refund_in_tx(&mut tx, &payment, wanted.clone()).await.unwrap();
        tx.commit().await.unwrap();
        let refund = test.app.payments.carry_out_refund(requested).await.unwrap();
        assert_eq!(refund.status, "FAILED", "it is recorded, and not tried again");
        ids.push(refund.id);
    }
    assert_eq!(ids[0], ids[1]);
    assert_eq!((cancels(&toss).await.len(), test.db.count("refund").await), (1, 1));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_reconciles_at_once_and_it_is_audited() {
    let toss = Toss::start().await;
    let test = sleepy(&toss).start().await;
    behave(&toss, "key-in", json!({ "drop": true })).await;
    let payment = pay(&test.service(), 7, 42).await;
    let variables = json!({ "input": { "id": payment["id"], "reason": "the user is on the phone" } });
    assert_eq!(test.operator().refused(RECONCILE, variables.clone()).await, "FORBIDDEN");
    let data = test.admin().data(RECONCILE, variables.clone()).await;
    assert_eq!(data["reconcilePayment"]["payment"]["status"], "COMPLETED");
    assert_eq!(test.db.count("audit_entry WHERE action = 'reconcilePayment'").await, 1);
    let again = test.admin().data(RECONCILE, variables).await;
    assert_eq!(again["reconcilePayment"]["userErrors"][0]["code"], "INVALID_STATE");
    assert_eq!(test.db.count("payment_outbox").await, 1);
    test.stop().await;
}
