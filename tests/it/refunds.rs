//! Refunds: each outcome of the provider, who may, one at a time, and what the API answers.

use serde_json::{Value, json};

use crate::{
    payments::{APPROVED, CREATE, input},
    support::{TestApp, Toss, api::Actor, eventually},
};

pub const REFUND: &str = "mutation ($input: RefundPaymentInput!) { refundPayment(input: $input) {
    refund { id status source requestedBy reason amount failureCode attemptCount providerTransactionKey payment { id status } }
    replayed userErrors { code message field } } }";
const RETRY: &str = "mutation ($input: OperatorActionInput!) { retryRefund(input: $input) {
    refund { id status attemptCount } userErrors { code } } }";

/// A COMPLETED payment of (meeting, user), and its id.
pub async fn paid(actor: &Actor, meeting: i64, user: i64) -> String {
    let key = format!("pay-{meeting}-{user}-{}", uuid::Uuid::new_v4());
    let data = actor.data(CREATE, input(&key, meeting, user, APPROVED)).await;
    let payment = &data["createKeyInPayment"]["payment"];
    assert_eq!(payment["status"], "COMPLETED", "{data:#}");
    payment["id"].as_str().unwrap().to_owned()
}

/// The variables of a refund.
pub fn refund(key: &str, payment: &str) -> Value {
    json!({ "input": { "idempotencyKey": key, "paymentId": payment, "reason": "the participant cancelled" } })
}

/// Asks for a refund and gives the payload.
pub async fn ask(actor: &Actor, variables: Value) -> Value {
    actor.data(REFUND, variables).await["refundPayment"].take()
}

/// The refund's state in words: status, failure code, first user error.
fn words(payload: &Value) -> (Option<&str>, Option<&str>, Option<&str>) {
    (
        payload["refund"]["status"].as_str(),
        payload["refund"]["failureCode"].as_str(),
        payload["userErrors"][0]["code"].as_str(),
    )
}

/// The keys of the cancels that the provider got, and what it answered.
pub async fn cancels(toss: &Toss) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let calls = toss.calls().await;
    let cancels = calls.iter().filter(|call| call["operation"] == "cancel");
    cancels.map(|call| (text(&call["idempotencyKey"]), text(&call["outcome"]))).collect()
}

/// Whole won that the provider gave back.
pub async fn given_back(toss: &Toss) -> i64 {
    toss.payments().await.iter().map(|row| row["cancelled"].as_i64().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_completes_tells_its_event_and_lets_the_user_pay_again() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let inbox = test.inbox(&["payment.refunded"]).await;
    let payment = paid(&test.service(), 7, 42).await;
    let mut changes = test.operator().socket().await;
    let watch = "subscription ($id: ID!) { paymentChanged(id: $id) { id status } }";
    changes.subscribe("1", watch, json!({ "id": payment })).await;
    assert_eq!(changes.data().await["paymentChanged"]["status"], "COMPLETED");

    let payload = ask(&test.service(), refund("r", &payment)).await;
    assert_eq!(words(&payload), (Some("COMPLETED"), None, None), "{payload:#}");
    assert_eq!(payload["refund"]["payment"], json!({ "id": payment, "status": "REFUNDED" }));
    assert_eq!(payload["refund"]["requestedBy"], "service");
    assert_eq!((&payload["refund"]["source"], &payload["refund"]["amount"]), (&json!("API"), &json!(15_000)));
    let message = eventually("the event arrives", async || inbox.all().pop()).await;
    assert_eq!(message.event_type, "PAYMENT_REFUNDED");
    assert_eq!(message.body["data"]["refundId"].to_string(), payload["refund"]["id"].as_str().unwrap());
    assert_eq!(message.body["data"]["paymentId"].to_string(), payment);
    assert_eq!(
        (&message.body["data"]["amount"], &message.body["data"]["source"]),
        (&json!(15_000), &json!("API"))
    );
    assert_eq!(changes.data().await["paymentChanged"]["status"], "REFUNDED");
    assert_eq!(changes.next().await.unwrap()["type"], "complete", "nothing comes after a refund");

    // Gone from the payments, found through its refund.
    assert_eq!(test.db.count("payment").await, 0);
    let found = "query ($id: ID!) { payment(id: $id) { id orderId status refunds { id status
        outboxEvents { eventType } providerCalls { operation outcome } } outboxEvents { eventType }
        availableActions { action allowed } } }";
    let data = test.operator().data(found, json!({ "id": payment })).await;
    assert_eq!(data["payment"]["status"], "REFUNDED");
    assert_eq!(data["payment"]["refunds"][0]["outboxEvents"], json!([{ "eventType": "PAYMENT_REFUNDED" }]));
    assert_eq!(
        data["payment"]["refunds"][0]["providerCalls"],
        json!([{ "operation": "cancel", "outcome": "APPROVED" }])
    );
    let again = paid(&test.service(), 7, 42).await;
    assert_ne!(again, payment);
    assert_eq!(given_back(&toss).await, 15_000);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_parallel_refunds_over_two_processes_move_the_money_once() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let second = TestApp::builder().toss(&toss).start_beside(&test).await;
    let payment = paid(&test.service(), 7, 42).await;
    toss.behave(json!({ "gateway": "toss", "operation": "cancel", "delayMs": 3000 })).await;
    let mut under_way = tokio::task::JoinSet::new();
    for number in 0..20 {
        let actor = if number % 2 == 0 { test.service() } else { second.service() };
        let variables = refund(&format!("r{number}"), &payment);
        under_way.spawn(async move { ask(&actor, variables).await });
    }
    let answers = under_way.join_all().await;
    let ids: std::collections::BTreeSet<_> =
        answers.iter().map(|answer| answer["refund"]["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 1, "everybody gets the winner's refund");
    assert!(answers.iter().all(|answer| answer["userErrors"] == json!([])), "{answers:#?}");
    assert_eq!(cancels(&toss).await.len(), 1, "one call that moves money");
    assert_eq!(given_back(&toss).await, 15_000);
    assert_eq!(test.db.count("payment_outbox WHERE event_type = 'PAYMENT_REFUNDED'").await, 1);
    // The losers' keys answer with the winner's refund from now on.
    let again = ask(&test.service(), refund("r7", &payment)).await;
    assert_eq!(words(&again), (Some("COMPLETED"), None, None));
    assert_eq!(again["replayed"], true);
    // A newcomer is told that there is nothing to refund any more.
    let late = ask(&test.service(), refund("late", &payment)).await;
    assert_eq!(words(&late), (Some("COMPLETED"), None, Some("REFUND_NOT_ALLOWED")));
    test.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_parallel_calls_with_one_key_have_one_effect_and_another_input_is_refused() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let payment = paid(&test.service(), 7, 42).await;
    let mut under_way = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let (actor, variables) = (test.service(), refund("r", &payment));
        under_way.spawn(async move {
            loop {
                let answer = ask(&actor, variables.clone()).await;
                if words(&answer).2 != Some("IDEMPOTENT_REQUEST_IN_PROGRESS") {
                    return answer;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        });
    }
    let answers = under_way.join_all().await;
    assert!(answers.iter().all(|answer| words(answer) == (Some("COMPLETED"), None, None)), "{answers:#?}");
    assert_eq!(answers.iter().filter(|answer| answer["replayed"] == false).count(), 1);
    assert_eq!((cancels(&toss).await.len(), test.db.count("refund").await), (1, 1));
    let mut other = refund("r", &payment);
    other["input"]["reason"] = json!("another reason");
    assert_eq!(words(&ask(&test.service(), other).await), (None, None, Some("IDEMPOTENCY_KEY_REUSED")));
    // The payment's own key is answered from the snapshot.
    let pay = input("k", 8, 42, APPROVED);
    let id = test.service().data(CREATE, pay.clone()).await["createKeyInPayment"]["payment"]["id"].clone();
    ask(&test.service(), refund("r2", id.as_str().unwrap())).await;
    let replayed = test.service().data(CREATE, pay).await;
    assert_eq!(replayed["createKeyInPayment"]["payment"]["id"], id);
    assert_eq!(replayed["createKeyInPayment"]["payment"]["status"], "REFUNDED");
    assert_eq!(replayed["createKeyInPayment"]["replayed"], true);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_is_not_the_callers_or_not_possible_is_refused_without_a_row_or_a_call() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let payment = paid(&test.service(), 7, 42).await;
    let mut foreign = refund("r", &payment);
    foreign["input"]["onBehalfOfUserId"] = json!("43");
    assert_eq!(words(&ask(&test.service(), foreign).await), (None, None, Some("UNAUTHORIZED_REFUND")));
    assert_eq!(test.operator().refused(REFUND, refund("r", &payment)).await, "FORBIDDEN");
    assert_eq!(words(&ask(&test.service(), refund("r", "999")).await), (None, None, Some("NOT_FOUND")));
    let mut empty = refund("r", &payment);
    empty["input"]["reason"] = json!(" ");
    assert_eq!(words(&ask(&test.service(), empty).await), (None, None, Some("INVALID_INPUT")));
    let declined = test.service().data(CREATE, input("d", 8, 42, crate::payments::DECLINED)).await;
    let declined = declined["createKeyInPayment"]["payment"]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        words(&ask(&test.service(), refund("r", &declined)).await),
        (None, None, Some("REFUND_NOT_ALLOWED"))
    );
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "status": 500 })).await;
    let pending = test.service().data(CREATE, input("p", 9, 42, APPROVED)).await;
    assert_eq!(pending["createKeyInPayment"]["payment"]["status"], "PENDING");
    let pending = pending["createKeyInPayment"]["payment"]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        words(&ask(&test.service(), refund("r", &pending)).await),
        (None, None, Some("REFUND_NOT_ALLOWED"))
    );
    assert_eq!((cancels(&toss).await.len(), test.db.count("refund").await), (0, 0));
    // The same key, never used up by refusals, now works; for the payer, and by an operator for anyone.
    let mut own = refund("r", &payment);
    own["input"]["onBehalfOfUserId"] = json!("42");
    let payload = ask(&test.service(), own).await;
    assert_eq!(
        (&payload["refund"]["status"], &payload["refund"]["requestedBy"]),
        (&json!("COMPLETED"), &json!("42"))
    );
    let payment = paid(&test.service(), 7, 42).await;
    let payload = ask(&test.admin(), refund("op", &payment)).await;
    assert_eq!(
        (&payload["refund"]["source"], &payload["refund"]["requestedBy"]),
        (&json!("OPERATOR"), &json!("admin"))
    );
    assert_eq!(test.db.count("audit_entry WHERE action = 'refundPayment' AND actor = 'admin'").await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_cancelled_at_the_provider_before_is_completed_by_its_balance() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    for parts in [vec![15_000], vec![5_000, 10_000]] {
        let payment = paid(&test.service(), 7, 42).await;
        let key: String = test.db.value("SELECT payment_key FROM payment").await;
        for part in &parts {
            toss.cancel_by_hand(&key, *part).await;
        }
        let payload = ask(&test.service(), refund(&payment, &payment)).await;
        assert_eq!(words(&payload), (Some("COMPLETED"), None, None), "cancelled in {parts:?}");
        assert!(payload["refund"]["providerTransactionKey"].is_string());
    }
    assert_eq!(given_back(&toss).await, 30_000);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_refund_fails_and_a_retry_has_a_new_key() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let payment = paid(&test.service(), 7, 42).await;
    toss.behave(json!({ "gateway": "toss", "operation": "cancel", "code": "EXCEED_MAX_REFUND_DUE" })).await;
    let payload = ask(&test.service(), refund("r", &payment)).await;
    assert_eq!(
        words(&payload),
        (Some("FAILED"), Some("EXCEED_MAX_REFUND_DUE"), Some("REFUND_REFUSED")),
        "{payload:#}"
    );
    let id = payload["refund"]["id"].as_str().unwrap().to_owned();
    assert_eq!(payload["refund"]["payment"]["status"], "COMPLETED");
    assert_eq!(test.db.count("payment WHERE status = 'COMPLETED'").await, 1);
    let failures =
        "failure WHERE kind = 'REFUND_FAILED' AND severity = 'CRITICAL' AND subject_type = 'REFUND'";
    assert_eq!(test.db.count(failures).await, 1);

    let retry = json!({ "input": { "id": id, "reason": "the bank says yes" } });
    assert_eq!(test.service().refused(RETRY, retry.clone()).await, "FORBIDDEN");
    assert_eq!(test.operator().refused(RETRY, retry.clone()).await, "FORBIDDEN");
    // Refused again: FAILED again, and told so.
    toss.behave(json!({ "gateway": "toss", "operation": "cancel", "code": "REFUND_REJECTED" })).await;
    let refused = test.admin().data(RETRY, retry.clone()).await;
    assert_eq!(refused["retryRefund"]["refund"]["status"], "FAILED");
    assert_eq!(refused["retryRefund"]["userErrors"][0]["code"], "REFUND_REFUSED");
    let done = test.admin().data(RETRY, retry.clone()).await;
    assert_eq!(
        done["retryRefund"],
        json!({ "refund": { "id": id, "status": "COMPLETED", "attemptCount": 3 }, "userErrors": [] })
    );
    let keys: std::collections::BTreeSet<_> = cancels(&toss).await.into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys.len(), 3, "the provider replays a refusal: each retry has a key of its own");
    assert_eq!(test.db.value::<i32>("SELECT key_no FROM refund").await, 3);
    assert_eq!(
        test.db.count("audit_entry WHERE action = 'retryRefund' AND reason = 'the bank says yes'").await,
        2
    );
    let again = test.admin().data(RETRY, retry).await;
    assert_eq!(again["retryRefund"]["userErrors"][0]["code"], "INVALID_STATE");
    assert_eq!((given_back(&toss).await, test.db.count("payment").await), (15_000, 0));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_of_what_the_provider_gave_back_meanwhile_completes_without_a_cancel() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let payment = paid(&test.service(), 7, 42).await;
    toss.behave(json!({ "gateway": "toss", "operation": "cancel", "code": "REFUND_REJECTED" })).await;
    let payload = ask(&test.service(), refund("r", &payment)).await;
    let key: String = test.db.value("SELECT payment_key FROM payment").await;
    toss.cancel_by_hand(&key, 15_000).await;
    let retry = json!({ "input": { "id": payload["refund"]["id"], "reason": "given back by hand" } });
    // While the provider cannot say how the payment stands, nothing is changed.
    toss.behave(json!({ "gateway": "toss", "operation": "lookup", "status": 500 })).await;
    let unknown = test.admin().data(RETRY, retry.clone()).await;
    assert_eq!(unknown["retryRefund"]["userErrors"][0]["code"], "GATEWAY_UNAVAILABLE");
    let before = cancels(&toss).await.len();
    let done = test.admin().data(RETRY, retry).await;
    assert_eq!(done["retryRefund"]["refund"]["status"], "COMPLETED");
    assert_eq!(cancels(&toss).await.len(), before);
    assert_eq!(test.db.value::<i32>("SELECT key_no FROM refund").await, 1);
    assert_eq!(test.db.count("payment_outbox WHERE event_type = 'PAYMENT_REFUNDED'").await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_of_ours_fails_the_refund_as_misconfigured() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let payment = paid(&test.service(), 7, 42).await;
    toss.behave(json!({ "gateway": "toss", "operation": "cancel", "status": 401 })).await;
    let payload = ask(&test.service(), refund("r", &payment)).await;
    assert_eq!(
        words(&payload),
        (Some("FAILED"), Some("GATEWAY_MISCONFIGURED"), Some("GATEWAY_MISCONFIGURED"))
    );
    let failures =
        "failure WHERE kind = 'GATEWAY_MISCONFIGURED' AND severity = 'CRITICAL' AND subject_type = 'REFUND'";
    assert_eq!(test.db.count(failures).await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refunds_are_listed_by_every_filter_and_named_by_failures() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    for (meeting, user) in [(7, 41), (7, 42), (8, 41)] {
        let payment = paid(&test.service(), meeting, user).await;
        if user == 42 {
            let refusal = json!({ "gateway": "toss", "operation": "cancel", "code": "REFUND_REJECTED" });
            toss.behave(refusal).await;
        }
        ask(&test.service(), refund(&payment, &payment)).await;
    }
    let list = "query ($filter: RefundFilter) { refunds(filter: $filter) { nodes { id userId meetingId status
        waitingFor { reason } availableActions { action allowed reason } } count { value } } }";
    let count = async |filter: Value| {
        test.operator().data(list, json!({ "filter": filter })).await["refunds"]["count"]["value"]
            .as_i64()
            .unwrap()
    };
    let failed = json!({ "status": ["FAILED"] });
    assert_eq!(count(json!(null)).await, 3);
    assert_eq!(count(failed.clone()).await, 1);
    assert_eq!(count(json!({ "status": ["COMPLETED"], "source": ["API"] })).await, 2);
    assert_eq!(count(json!({ "source": ["OPERATOR"] })).await, 0);
    assert_eq!(count(json!({ "userId": "41" })).await, 2);
    assert_eq!(count(json!({ "meetingId": "7" })).await, 2);
    assert_eq!(count(json!({ "paymentId": "2", "failureCode": ["REFUND_REJECTED"] })).await, 1);
    let data = test.operator().data(list, json!({ "filter": failed })).await;
    assert_eq!(data["refunds"]["nodes"][0]["waitingFor"]["reason"], "NEEDS_OPERATOR");
    assert_eq!(
        data["refunds"]["nodes"][0]["availableActions"][0]["allowed"], false,
        "an OPERATOR may only read"
    );
    assert_eq!(test.service().refused(list, json!({})).await, "FORBIDDEN");
    let one = "query ($id: ID!) { refund(id: $id) { status payment { status } } }";
    let id = &data["refunds"]["nodes"][0]["id"];
    assert_eq!(
        test.service().data(one, json!({ "id": id })).await["refund"]["payment"]["status"],
        "COMPLETED"
    );
    let feed = "{ failures(filter: { kind: [REFUND_FAILED] }) { nodes { subject { __typename ... on Refund { id } } } } }";
    eventually("the failure is numbered", async || {
        let data = test.operator().data(feed, json!({})).await;
        let subject = data["failures"]["nodes"][0]["subject"].clone();
        (subject == json!({ "__typename": "Refund", "id": id })).then_some(())
    })
    .await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_refund_whose_place_another_one_took_waits_for_nobody() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let payment = paid(&test.service(), 7, 42).await;
    toss.behave(json!({ "gateway": "toss", "operation": "cancel", "code": "REFUND_REJECTED" })).await;
    ask(&test.service(), refund("refused", &payment)).await;
    let list = "query ($filter: RefundFilter) { refunds(filter: $filter) { nodes {
        waitingFor { reason } availableActions { action allowed reason } } } }";
    let failed = async || {
        let data = test.admin().data(list, json!({ "filter": { "status": ["FAILED"] } })).await;
        data["refunds"]["nodes"][0].clone()
    };
    assert_eq!(failed().await["availableActions"][0]["allowed"], true);
    let payload = ask(&test.service(), refund("anew", &payment)).await;
    assert_eq!(words(&payload), (Some("COMPLETED"), None, None), "{payload:#}");
    let reason =
        format!("refund {} of the same payment is COMPLETED", payload["refund"]["id"].as_str().unwrap());
    let action = json!({ "action": "retryRefund", "allowed": false, "reason": reason });
    assert_eq!(failed().await, json!({ "waitingFor": null, "availableActions": [action] }));
    test.stop().await;
}
