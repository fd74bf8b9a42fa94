//! Cancels and deletions, and how they race with registrations, driven by messages alone.

use serde_json::{Value, json};

use crate::{
    consumers::{REGISTER, all_acknowledged, done},
    payments::APPROVED,
    support::{
        TestApp, Toss, eventually,
        messages::{at, cancel, deleted, register},
        process::Process,
    },
};

const CANCEL: &str = "participant.cancel";
const DELETED: &str = "meeting.deleted";
const KEY: &str = "test_sk_sim0000000000000000";

async fn start(toss: &Toss) -> TestApp {
    let test = TestApp::builder().toss(toss).test_card(APPROVED).set("provider-timeout", "2s").start().await;
    test.consuming().await;
    test
}

async fn carried_out(test: &TestApp, routing_key: &str, message: &Value) {
    test.send(routing_key, message).await;
    done(test, message).await;
}

/// What the provider gave back in all.
async fn given_back(toss: &Toss) -> usize {
    toss.payments().await.iter().filter(|payment| payment["cancelled"] == payment["paid"]).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_refunds_once_also_when_it_comes_again_and_the_user_may_pay_anew() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    let inbox = test.inbox(&["payment.#"]).await;
    let message = register(7, 42);
    carried_out(&test, REGISTER, &message).await;
    let cancelled = cancel(7, 42, true);
    carried_out(&test, CANCEL, &cancelled).await;
    let refund = test.db.client.query_one("SELECT status, source, reason FROM refund", &[]).await.unwrap();
    let refund: (String, String, String) = (refund.get(0), refund.get(1), refund.get(2));
    assert_eq!(refund, ("COMPLETED".into(), "PARTICIPANT_CANCEL".into(), "ill".into()));
    // Everything again, now that the payment is gone.
    test.send(REGISTER, &message).await;
    test.send(CANCEL, &cancelled).await;
    let anew = at(register(7, 42), "2026-11-30T11:00:00Z");
    carried_out(&test, REGISTER, &anew).await;
    carried_out(&test, CANCEL, &cancel(7, 43, false)).await;
    eventually("the events arrive", async || (inbox.len() == 3).then_some(())).await;
    inbox.settled().await;
    let types: Vec<String> = inbox.all().into_iter().map(|event| event.event_type).collect();
    assert_eq!(types, ["PAYMENT_COMPLETED", "PAYMENT_REFUNDED", "PAYMENT_COMPLETED"]);
    assert_eq!((toss.payments().await.len(), given_back(&toss).await), (2, 1));
    assert_eq!(test.db.count("payment WHERE status = 'COMPLETED'").await, 1);
    all_acknowledged(&test, "payment.participant.cancel").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_without_refund_keeps_the_payment() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    carried_out(&test, REGISTER, &register(7, 42)).await;
    carried_out(&test, CANCEL, &cancel(7, 42, false)).await;
    assert_eq!(test.db.count("refund").await, 0);
    assert_eq!(test.db.count("payment WHERE status = 'COMPLETED'").await, 1);
    all_acknowledged(&test, "payment.participant.cancel").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_that_comes_after_its_cancel_is_not_paid() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    carried_out(&test, CANCEL, &at(cancel(7, 42, true), "2026-11-30T10:05:00Z")).await;
    carried_out(&test, REGISTER, &at(register(7, 42), "2026-11-30T10:00:00Z")).await;
    assert_eq!(test.db.count("payment").await, 0);
    let told = "failure WHERE severity = 'WARNING' AND code = 'CANCELED_BEFORE_REGISTRATION'";
    assert_eq!(test.db.count(told).await, 1);
    carried_out(&test, REGISTER, &at(register(7, 42), "2026-11-30T10:10:00Z")).await;
    assert_eq!(test.db.count("payment WHERE status = 'COMPLETED'").await, 1, "a later registration is news");
    assert_eq!(toss.payments().await.len(), 1);
    all_acknowledged(&test, "payment.participant.register").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_that_the_provider_refuses_is_acknowledged_as_a_failed_refund() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    carried_out(&test, REGISTER, &register(7, 42)).await;
    toss.behave(json!({ "gateway": "toss", "operation": "cancel", "code": "NOT_CANCELABLE_PAYMENT", "effect": false })).await;
    carried_out(&test, CANCEL, &cancel(7, 42, true)).await;
    assert_eq!(test.db.count("refund WHERE status = 'FAILED'").await, 1);
    assert_eq!(test.db.count("payment WHERE status = 'COMPLETED'").await, 1);
    all_acknowledged(&test, "payment.participant.cancel").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_refunds_everybody_and_records_who_cannot_be_refunded() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    let inbox = test.inbox(&["payment.refunded", "payment.failed"]).await;
    for user in 1..=10 {
        carried_out(&test, REGISTER, &register(7, user)).await;
    }
    carried_out(&test, REGISTER, &register(8, 1)).await;
    toss.behave(json!({ "gateway": "toss", "operation": "cancel", "times": 2, "code": "NOT_CANCELABLE_PAYMENT", "effect": false })).await;
    let message = deleted(7);
    carried_out(&test, DELETED, &message).await;
    assert_eq!(test.db.count("refund WHERE status = 'COMPLETED' AND source = 'MEETING_DELETED'").await, 8);
    assert_eq!(
        test.db.count("refund WHERE status = 'FAILED' AND failure_code = 'NOT_CANCELABLE_PAYMENT'").await,
        2
    );
    assert_eq!(test.db.count("payment WHERE meeting_id = 7").await, 2);
    assert_eq!(test.db.count("payment WHERE meeting_id = 8").await, 1);
    assert_eq!(given_back(&toss).await, 8);
    let calls = toss.calls().await.len();
    test.send(DELETED, &message).await;
    // A registration after the deletion is refused, with its event.
    carried_out(&test, REGISTER, &register(7, 99)).await;
    let event = eventually("the seat is given back", async || {
        inbox.all().into_iter().find(|event| event.event_type == "PAYMENT_FAILED")
    })
    .await;
    assert_eq!(event.body["data"]["failureCode"], "MEETING_CLOSED");
    assert_eq!(event.body["aggregateId"], "7:99");
    inbox.settled().await;
    assert_eq!(inbox.len(), 9, "eight refunds and one refusal");
    assert_eq!(toss.calls().await.len(), calls, "the repetition asked for nothing");
    all_acknowledged(&test, "payment.meeting.deleted").await;
}

/// The provider answers the registration's first call so late that other messages meet the PENDING payment.
async fn pending(toss: &Toss, test: &TestApp) -> Value {
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "delayMs": 1_000 })).await;
    let message = register(7, 42);
    test.send(REGISTER, &message).await;
    eventually("the payment is PENDING", async || {
        (test.db.count("payment WHERE status = 'PENDING'").await == 1).then_some(())
    })
    .await;
    message
}

async fn refunded_after_all(test: &TestApp, toss: &Toss, source: &str) {
    let refunded = format!("refund WHERE status = 'COMPLETED' AND source = '{source}'");
    eventually("it is refunded", async || (test.db.count(&refunded).await == 1).then_some(())).await;
    assert_eq!((toss.payments().await.len(), given_back(toss).await), (1, 1));
    assert_eq!(test.db.count("payment").await, 0);
    assert_eq!(test.db.count("payment_outbox WHERE event_type = 'PAYMENT_COMPLETED'").await, 1);
    assert_eq!(test.db.count("payment_outbox WHERE event_type = 'PAYMENT_REFUNDED'").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_that_meets_a_pending_payment_refunds_it_once_it_completes() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    let registration = pending(&toss, &test).await;
    carried_out(&test, CANCEL, &cancel(7, 42, true)).await;
    assert_eq!(test.db.count("payment WHERE status = 'PENDING' AND refund_wanted IS NOT NULL").await, 1);
    done(&test, &registration).await;
    refunded_after_all(&test, &toss, "PARTICIPANT_CANCEL").await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_meets_a_pending_payment_refunds_it_once_it_completes() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    let registration = pending(&toss, &test).await;
    carried_out(&test, DELETED, &deleted(7)).await;
    done(&test, &registration).await;
    refunded_after_all(&test, &toss, "MEETING_DELETED").await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn registrations_and_the_deletion_at_once_leave_nobody_charged() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    let registrations: Vec<Value> = (1..=30).map(|user| register(7, user)).collect();
    let deletion = deleted(7);
    for (number, message) in registrations.iter().enumerate() {
        test.send(REGISTER, message).await;
        if number == 15 {
            test.send(DELETED, &deletion).await;
        }
    }
    for message in registrations.iter().chain([&deletion]) {
        done(&test, message).await;
    }
    eventually("nobody has paid", async || {
        let charged = test.db.count("payment WHERE status IN ('PENDING', 'COMPLETED')").await;
        (charged == 0).then_some(())
    })
    .await;
    assert_eq!(given_back(&toss).await, toss.payments().await.len());
    let answered = "payment_outbox WHERE event_type IN ('PAYMENT_COMPLETED', 'PAYMENT_FAILED')";
    assert_eq!(test.db.count(answered).await, 30, "each registration was answered once");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_of_a_deletion_of_fifty_all_are_refunded_once() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    for user in 1..=50 {
        test.send(REGISTER, &register(7, user)).await;
    }
    eventually("all have paid", async || {
        (test.db.count("payment WHERE status = 'COMPLETED'").await == 50).then_some(())
    })
    .await;
    test.stop().await;
    let url = toss.url();
    let settings = [("toss-url", url.as_str()), ("toss-secret-key", KEY), ("log", "error")];
    toss.behave(json!({ "gateway": "toss", "operation": "cancel", "times": 25, "delayMs": 30 })).await;
    let mut process = Process::start(&test, &settings).await;
    process.consuming().await;
    let message = deleted(7);
    test.send(DELETED, &message).await;
    eventually("some are refunded", async || (given_back(&toss).await >= 15).then_some(())).await;
    process.kill();
    let before = test.db.count("refund WHERE status = 'COMPLETED'").await;
    assert!((1..50).contains(&before), "killed in the middle, not after {before}");
    let process = Process::start(&test, &settings).await;
    done(&test, &message).await;
    assert_eq!(test.db.count("refund WHERE status = 'COMPLETED'").await, 50);
    assert_eq!(test.db.count("refund").await, 50);
    assert_eq!(test.db.count("payment").await, 0);
    assert_eq!(given_back(&toss).await, 50);
    assert_eq!(test.db.count("payment_outbox WHERE event_type = 'PAYMENT_REFUNDED'").await, 50);
    drop(process);
}
