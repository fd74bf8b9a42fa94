//! The simulator, by plain HTTP: what the client does not show, and what only later clients will use.

use serde_json::{Value, json};

use super::{AUTHORIZATION, Bench, ORDER, read, request_body};

const KEY_IN: &str = "/toss/v1/payments/key-in";

/// Charges 11,000 won and gives the payment's own path.
async fn charge(bench: &Bench) -> String {
    let answer = bench.post(KEY_IN, &[], &request_body()).await;
    assert_eq!(answer.status, 200);
    format!("/toss/v1/payments/{}", read(&answer)["paymentKey"].as_str().unwrap())
}

/// Cancels, and gives the status with the payment's state and balance, or with the code.
async fn cancel(bench: &Bench, payment: &str, mut body: Value) -> (u16, String, i64) {
    body["cancelReason"] = json!("duplicate order");
    let answer = bench.post(&format!("{payment}/cancel"), &[], &body).await;
    let json = read(&answer);
    match json["code"].as_str() {
        Some(code) => (answer.status, code.to_owned(), 0),
        None => {
            let state = json["status"].as_str().unwrap().to_owned();
            (answer.status, state, json["balanceAmount"].as_i64().unwrap())
        }
    }
}

fn is(status: u16, word: &str, balance: i64) -> (u16, String, i64) {
    (status, word.to_owned(), balance)
}

#[tokio::test]
async fn a_repeated_key_replays_the_answer_byte_for_byte_and_charges_once() {
    let bench = Bench::new().await;
    let key = [("idempotency-key", "key-1")];
    let first = bench.post(KEY_IN, &key, &request_body()).await;
    let mut other = request_body();
    other["amount"] = json!(5_000);
    let second = bench.post(KEY_IN, &key, &other).await;
    assert_eq!((first.status, &first.body), (second.status, &second.body));
    let refused = bench.post(KEY_IN, &[("idempotency-key", "key-2")], &json!({})).await;
    let corrected = bench.post(KEY_IN, &[("idempotency-key", "key-2")], &request_body()).await;
    assert_eq!(refused.status, 400);
    assert_eq!((refused.status, &refused.body), (corrected.status, &corrected.body));
    bench.assert_charged_once().await;
    assert_eq!(bench.call_outcomes().await, ["APPROVED", "REPLAYED", "INVALID_REQUEST", "REPLAYED"]);
}

#[tokio::test]
async fn a_replay_uses_up_no_behaviour_and_a_conflict_is_not_kept() {
    let bench = Bench::new().await;
    let key = [("idempotency-key", "key-1")];
    let conflict =
        [("idempotency-key", "key-1"), ("tosspayments-test-code", "IDEMPOTENT_REQUEST_PROCESSING")];
    assert_eq!(bench.post(KEY_IN, &conflict, &request_body()).await.status, 409);
    assert_eq!(bench.post(KEY_IN, &key, &request_body()).await.status, 200);
    bench.key_in_behaves(json!({ "status": 500 })).await;
    assert_eq!(bench.post(KEY_IN, &key, &request_body()).await.status, 200);
    assert_eq!(bench.post(KEY_IN, &[], &request_body()).await.status, 500);
    bench.assert_charged_once().await;
}

#[tokio::test]
async fn without_a_key_one_order_is_charged_twice() {
    let bench = Bench::new().await;
    assert_ne!(charge(&bench).await, charge(&bench).await);
    assert_eq!(bench.books().await.len(), 2);
}

#[tokio::test]
async fn a_payment_cancelled_in_parts_ends_with_balance_zero_and_stays_partial() {
    let bench = Bench::new().await;
    let payment = charge(&bench).await;
    assert_eq!(
        cancel(&bench, &payment, json!({ "cancelAmount": 1_000 })).await,
        is(200, "PARTIAL_CANCELED", 10_000)
    );
    assert_eq!(
        cancel(&bench, &payment, json!({ "cancelAmount": 10_001 })).await,
        is(403, "NOT_CANCELABLE_AMOUNT", 0)
    );
    let believed = json!({ "cancelAmount": 1_000, "refundableAmount": 11_000 });
    assert_eq!(cancel(&bench, &payment, believed).await, is(400, "NOT_MATCHES_REFUNDABLE_AMOUNT", 0));
    assert_eq!(cancel(&bench, &payment, json!({})).await, is(200, "PARTIAL_CANCELED", 0));
    assert_eq!(cancel(&bench, &payment, json!({})).await, is(403, "NOT_CANCELABLE_AMOUNT", 0));
    let cancels = read(&bench.get(&payment).await)["cancels"].as_array().unwrap().clone();
    let balances: Vec<i64> = cancels.iter().map(|row| row["refundableAmount"].as_i64().unwrap()).collect();
    assert_eq!(balances, [10_000, 0]);
    assert_eq!(bench.books().await, [(ORDER.to_owned(), "PARTIAL_CANCELED".to_owned(), 11_000, 11_000)]);
}

#[tokio::test]
async fn a_payment_cancelled_at_once_is_cancelled_and_says_so_afterwards() {
    let bench = Bench::new().await;
    let payment = charge(&bench).await;
    assert_eq!(cancel(&bench, &payment, json!({ "refundableAmount": 11_000 })).await, is(200, "CANCELED", 0));
    assert_eq!(cancel(&bench, &payment, json!({})).await, is(400, "ALREADY_CANCELED_PAYMENT", 0));
    assert_eq!(cancel(&bench, "/toss/v1/payments/none", json!({})).await, is(404, "NOT_FOUND_PAYMENT", 0));
    let last = bench.calls().await;
    assert_eq!(last[1]["orderId"], ORDER);
    assert_eq!((&last[1]["amount"], &last[1]["outcome"]), (&json!(11_000), &json!("CANCELED")));
}

#[tokio::test]
async fn lookups_find_a_payment_by_key_and_by_order_and_nothing_else() {
    let bench = Bench::new().await;
    let payment = charge(&bench).await;
    let by_key = bench.get(&payment).await;
    let by_order = bench.get(&format!("/toss/v1/payments/orders/{ORDER}")).await;
    assert_eq!(by_key.body, by_order.body);
    assert_eq!(read(&by_key)["status"], "DONE");
    for path in ["/toss/v1/payments/none", "/toss/v1/payments/orders/PAY-none"] {
        let answer = bench.get(path).await;
        assert_eq!((answer.status, &read(&answer)["code"]), (404, &json!("NOT_FOUND_PAYMENT")));
    }
}

#[tokio::test]
async fn credentials_and_keys_are_checked_before_anything_else() {
    let bench = Bench::new().await;
    let url = bench.url(KEY_IN);
    // `dGVzdF9za19h` is `test_sk_a` without its colon; `77u/…` begins with a byte order mark.
    let cases = [
        ("Bearer x", "INCORRECT_BASIC_AUTH_FORMAT"),
        ("Basic dGVzdF9za19h", "INCORRECT_BASIC_AUTH_FORMAT"),
        ("Basic 77u/dGVzdF9za19hOg==", "UNAUTHORIZED_KEY"),
    ];
    for (authorization, code) in cases {
        let headers = [("authorization", authorization)];
        let answer = bench.http.post_json(&url, &headers, request_body().to_string().into_bytes()).await;
        assert_eq!(read(&answer.unwrap())["code"], code, "{authorization}");
    }
    let none = bench.http.post_json(&url, &[], Vec::new()).await.unwrap();
    assert_eq!((none.status, &read(&none)["code"]), (401, &json!("UNAUTHORIZED_KEY")));
    let long = "k".repeat(301);
    let answer = bench.post(KEY_IN, &[("idempotency-key", &long)], &request_body()).await;
    assert_eq!((answer.status, &read(&answer)["code"]), (400, &json!("INVALID_IDEMPOTENCY_KEY")));
    bench.assert_nothing_charged().await;
}

#[tokio::test]
async fn each_bad_field_is_refused_with_its_code() {
    let bench = Bench::new().await;
    let cases = [
        ("amount", json!("11000"), "INVALID_REQUEST"),
        ("amount", json!(99), "BELOW_MINIMUM_AMOUNT"),
        ("orderId", json!("short"), "INVALID_REQUEST"),
        ("orderId", json!("PAY 20260105"), "INVALID_REQUEST"),
        ("orderName", json!(""), "INVALID_REQUEST"),
        ("cardNumber", json!("9410-0012"), "INVALID_CARD_NUMBER"),
        ("cardExpirationMonth", json!("13"), "INVALID_CARD_EXPIRATION"),
        ("cardPassword", json!("1"), "INVALID_CARD_PASSWORD"),
        ("customerIdentityNumber", json!("9001"), "INVALID_BIRTH_DAY_FORMAT"),
        ("cardInstallmentPlan", json!(1), "INVALID_CARD_INSTALLMENT_PLAN"),
    ];
    for (field, value, code) in cases {
        let mut body = request_body();
        body[field] = value;
        assert_eq!(read(&bench.post(KEY_IN, &[], &body).await)["code"], code, "{field}");
    }
    bench.assert_nothing_charged().await;
}

#[tokio::test]
async fn english_is_spoken_when_asked_for() {
    let bench = Bench::new().await;
    let english = [("accept-language", "en-US")];
    assert_eq!(read(&bench.post(KEY_IN, &english, &request_body()).await)["method"], "Card");
    let refused = read(&bench.post(KEY_IN, &english, &json!({})).await);
    assert_eq!(refused["message"], "The request failed: invalid request.");
}

#[tokio::test]
async fn control_explains_what_it_cannot_do_and_resets_everything() {
    let bench = Bench::new().await;
    let cases = [
        ("/_control/behaviours", json!({ "gateway": "tosh", "operation": "key-in" }), "tosh"),
        (
            "/_control/behaviours",
            json!({ "gateway": "toss", "operation": "refund" }),
            "key-in, cancel, lookup",
        ),
        (
            "/_control/behaviours",
            json!({ "gateway": "toss", "operation": "cancel", "status": 99 }),
            "200 to 599",
        ),
        ("/_control/behaviours", json!([]), "not a request"),
        ("/_control/purchases", json!({ "gateway": "bootpay", "orderId": "x" }), "bootpay"),
        ("/_control/purchases", json!({ "gateway": "toss", "orderId": "x" }), "key-in"),
    ];
    for (path, body, word) in cases {
        let answer = bench.post(path, &[], &body).await;
        assert_eq!(answer.status, 400);
        assert!(read(&answer)["message"].as_str().unwrap().contains(word), "{body}");
    }
    let key = [("idempotency-key", "key-1")];
    bench.post(KEY_IN, &key, &request_body()).await;
    bench.key_in_behaves(json!({ "times": 5, "status": 500 })).await;
    assert_eq!(bench.post("/_control/reset", &[], &json!(null)).await.status, 200);
    bench.assert_nothing_charged().await;
    assert!(bench.calls().await.is_empty());
    bench.post(KEY_IN, &key, &request_body()).await;
    assert_eq!(bench.call_outcomes().await, ["APPROVED"]);
}

#[tokio::test]
async fn a_stopped_simulator_answers_nobody() {
    let bench = Bench::new().await;
    let url = bench.url("/_control/payments");
    bench.http.get(&url, &[("authorization", AUTHORIZATION)]).await.unwrap();
    bench.simulator.stop().await;
    assert!(bench.http.get(&url, &[]).await.is_err());
}
