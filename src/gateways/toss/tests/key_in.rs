use std::{net::TcpListener, time::Duration};

use secrecy::SecretString;
use serde_json::json;

use super::{
    super::{KeyIn, KeyInOutcome, TossClient, answer},
    Bench, CARD, ORDER, SECRET_KEY, card, client, request, unknown,
};
use crate::{
    config::TossConfig,
    gateways::CallOutcome,
    httpclient::{HttpAnswer, HttpClient},
    types::{Won, clock},
};

const SHORT: Duration = Duration::from_millis(500);
/// Far longer than any test: whoever waits for it has failed.
const DELAY_MS: u64 = 120_000;

#[tokio::test]
async fn an_approved_payment_has_its_key_its_method_and_its_time() {
    let bench = Bench::new().await;
    let card = card(CARD);
    let before = clock::now();
    let (outcome, call) = bench.client.key_in(request(&card)).await;
    let KeyInOutcome::Approved(approval) = outcome else { panic!("not approved: {outcome:?}") };
    assert!(approval.payment_key.starts_with("sim"));
    assert_eq!(approval.method.as_deref(), Some("카드"));
    assert!((approval.approved_at - before).num_seconds().abs() <= 60);
    assert_eq!((call.provider, call.operation, call.outcome), ("TOSS", "key-in", CallOutcome::Approved));
    assert_eq!((call.idempotency_key.as_deref(), call.code), (Some("key-1"), None));
    bench.assert_charged_once().await;
    let calls = bench.calls().await;
    assert_eq!(calls[0]["idempotencyKey"], "key-1");
    assert_eq!((&calls[0]["orderId"], &calls[0]["amount"]), (&json!(ORDER), &json!(11_000)));
}

#[tokio::test]
async fn a_declined_card_is_declined_with_the_providers_words() {
    let bench = Bench::new().await;
    let card = card("4000000000000002");
    let (outcome, call) = bench.client.key_in(request(&card)).await;
    let KeyInOutcome::Declined(refusal) = outcome else { panic!("not declined: {outcome:?}") };
    assert_eq!(refusal.code, "REJECT_CARD_PAYMENT");
    assert!(refusal.message.contains("한도초과"));
    assert_eq!((call.outcome, call.code.as_deref()), (CallOutcome::Refused, Some("REJECT_CARD_PAYMENT")));
    bench.assert_nothing_charged().await;
}

#[tokio::test]
async fn a_provider_error_is_unknown_although_its_status_is_400() {
    let bench = Bench::new().await;
    let card = card("4000000000000119");
    let (refusal, class) = unknown(bench.client.key_in(request(&card)).await);
    assert_eq!((refusal.code.as_str(), class), ("PROVIDER_ERROR", CallOutcome::Unknown));
    bench.assert_nothing_charged().await;
}

#[tokio::test]
async fn a_lost_answer_is_unknown_and_the_same_key_finds_the_one_charge() {
    let bench = Bench::new().await;
    let card = card("4000000000000341");
    let (refusal, class) = unknown(bench.client.key_in(request(&card)).await);
    assert_eq!((refusal.code.as_str(), class), ("CONNECTION_BROKEN", CallOutcome::Unknown));
    bench.assert_charged_once().await;
    let (outcome, _) = bench.client.key_in(request(&card)).await;
    assert!(matches!(outcome, KeyInOutcome::Approved(_)), "{outcome:?}");
    bench.assert_charged_once().await;
    assert_eq!(bench.call_outcomes().await, ["DROPPED", "REPLAYED"]);
}

#[tokio::test]
async fn a_connection_that_is_reused_and_cut_is_not_tried_again_behind_our_back() {
    let bench = Bench::new().await;
    let card = card(CARD);
    let warm_up = KeyIn { order_id: "PAY-warm-up", idempotency_key: "key-0", ..request(&card) };
    bench.client.key_in(warm_up).await;
    bench.key_in_behaves(json!({ "drop": true, "effect": false })).await;
    let (refusal, _) = unknown(bench.client.key_in(request(&card)).await);
    assert_eq!(refusal.code, "CONNECTION_BROKEN");
    assert_eq!(bench.call_outcomes().await, ["APPROVED", "DROPPED"]);
    assert_eq!(bench.books().await.len(), 1);
}

#[tokio::test]
async fn an_answer_after_the_timeout_is_unknown_and_the_charge_stands() {
    let bench = Bench::with_timeout(SHORT).await;
    bench.key_in_behaves(json!({ "delayMs": DELAY_MS })).await;
    for number in [CARD, "4000000000000044"] {
        let card = card(number);
        let request = KeyIn { idempotency_key: number, ..request(&card) };
        let (refusal, class) = unknown(bench.client.key_in(request).await);
        assert_eq!((refusal.code.as_str(), class), ("TIMEOUT", CallOutcome::Unknown));
    }
    assert_eq!(bench.books().await.len(), 2);
    bench.simulator.stop().await;
}

#[tokio::test]
async fn an_unreachable_provider_is_unknown() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = client(&format!("http://{address}/toss"), SECRET_KEY, Duration::from_secs(5));
    let card = card(CARD);
    let (refusal, class) = unknown(client.key_in(request(&card)).await);
    assert_eq!((refusal.code.as_str(), class), ("NOT_CONNECTED", CallOutcome::Unknown));
}

#[tokio::test]
async fn a_server_error_is_unknown_whether_the_money_moved_or_not() {
    let bench = Bench::new().await;
    let card = card(CARD);
    bench.key_in_behaves(json!({ "status": 503, "code": "REJECT_CARD_PAYMENT" })).await;
    let (refusal, class) = unknown(bench.client.key_in(request(&card)).await);
    assert_eq!((refusal.code.as_str(), class), ("REJECT_CARD_PAYMENT", CallOutcome::Unknown));
    bench.assert_nothing_charged().await;
    bench.key_in_behaves(json!({ "status": 500, "effect": true })).await;
    unknown(bench.client.key_in(request(&card)).await);
    bench.assert_charged_once().await;
    let (outcome, _) = bench.client.key_in(request(&card)).await;
    assert!(matches!(outcome, KeyInOutcome::Approved(_)), "{outcome:?}");
    bench.assert_charged_once().await;
}

#[tokio::test]
async fn the_same_key_while_the_first_call_runs_is_unknown_and_in_progress() {
    let bench = Bench::new().await;
    bench.key_in_behaves(json!({ "delayMs": DELAY_MS })).await;
    let card = card(CARD);
    let second = async {
        tokio::time::timeout(Duration::from_secs(20), async {
            while bench.call_outcomes().await != ["RUNNING"] {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .unwrap();
        bench.client.key_in(request(&card)).await
    };
    let (refusal, class) = tokio::select! {
        first = bench.client.key_in(request(&card)) => panic!("the first call has ended: {first:?}"),
        second = second => unknown(second),
    };
    assert_eq!(refusal.code, "IDEMPOTENT_REQUEST_PROCESSING");
    assert_eq!(class, CallOutcome::InProgress);
    // The first call's client is gone by now; its charge stands all the same, once.
    bench.assert_charged_once().await;
    bench.simulator.stop().await;
}

#[tokio::test]
async fn an_order_that_was_already_processed_is_unknown_and_already_done() {
    let bench = Bench::new().await;
    bench.key_in_behaves(json!({ "code": "ALREADY_PROCESSED_PAYMENT" })).await;
    let card = card(CARD);
    let (refusal, class) = unknown(bench.client.key_in(request(&card)).await);
    assert_eq!((refusal.code.as_str(), class), ("ALREADY_PROCESSED_PAYMENT", CallOutcome::AlreadyDone));
}

#[tokio::test]
async fn a_key_that_toss_does_not_know_is_our_misconfiguration() {
    let bench = Bench::new().await;
    let base_url = format!("{}/toss/", bench.simulator.base_url());
    let client = client(&base_url, "sk_of_somebody_else", Duration::from_secs(30));
    let card = card(CARD);
    let (outcome, call) = client.key_in(request(&card)).await;
    let KeyInOutcome::Misconfigured(refusal) = outcome else { panic!("{outcome:?}") };
    assert_eq!((refusal.code.as_str(), call.outcome), ("UNAUTHORIZED_KEY", CallOutcome::Misconfigured));
    bench.assert_nothing_charged().await;
}

#[tokio::test]
async fn the_answer_of_another_payment_is_no_approval() {
    let bench = Bench::new().await;
    let card = card(CARD);
    bench.client.key_in(request(&card)).await;
    // The key is all that Toss compares: these get the first payment's answer.
    let another_amount = KeyIn { amount: Won::new(12_000).unwrap(), ..request(&card) };
    let another_order = KeyIn { order_id: "PAY-20260105-0002", ..request(&card) };
    for (request, field) in [(another_amount, "totalAmount"), (another_order, "orderId")] {
        let (refusal, class) = unknown(bench.client.key_in(request).await);
        assert_eq!((refusal.code.as_str(), class), ("ANSWER_MISMATCH", CallOutcome::Unknown));
        assert!(refusal.message.ends_with(&format!(": {field}")), "{}", refusal.message);
    }
    bench.assert_charged_once().await;
}

#[test]
fn a_200_is_an_approval_only_with_everything_as_asked_for() {
    let card = card(CARD);
    let request = request(&card);
    let good = json!({
        "status": "DONE", "orderId": ORDER, "totalAmount": 11_000, "currency": "KRW", "paymentKey": "k",
    });
    let read = |body: String| answer::key_in(&request, Ok(HttpAnswer { status: 200, body: body.into() }));
    assert_eq!(read(good.to_string()).outcome, CallOutcome::Approved);
    let changes = [
        ("status", json!("ABORTED")),
        ("orderId", json!(null)),
        ("totalAmount", json!(11_001)),
        ("currency", json!("USD")),
        ("paymentKey", json!("")),
        ("paymentKey", json!("k\u{0}")),
        ("paymentKey", json!("k".repeat(201))),
    ];
    for (field, value) in changes {
        let mut body = good.clone();
        body[field] = value;
        let reading = read(body.to_string());
        assert_eq!(reading.code.as_deref(), Some("ANSWER_MISMATCH"), "{body}");
        assert_eq!(reading.outcome, CallOutcome::Unknown);
    }
    for body in ["", "<html>", "[]", r#"{"totalAmount":11000.5}"#] {
        assert_eq!(read(body.to_owned()).code.as_deref(), Some("UNREADABLE_ANSWER"), "{body}");
    }
}

#[test]
fn a_gateway_without_url_or_key_is_off() {
    let made = |url: Option<&str>, key: Option<&str>| {
        let config = TossConfig {
            toss_url: url.map(str::to_owned),
            toss_secret_key: key.map(|key| SecretString::from(key.to_owned())),
            toss_test_card: None,
            provider_timeout: SHORT,
        };
        TossClient::new(&config, HttpClient::new(SHORT, None).unwrap()).is_some()
    };
    assert!(made(Some("https://toss.example"), Some(SECRET_KEY)));
    assert!(!made(None, Some(SECRET_KEY)));
    assert!(!made(Some("https://toss.example"), None));
    assert!(!made(Some(""), Some(SECRET_KEY)));
}
