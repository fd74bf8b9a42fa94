use serde_json::{Value, json};

use crate::{
    gateways::{
        ConsumeOutcome, Mismatch,
        PaymentGateway::GoogleIap,
        testing::{Bench, Canned, TOKEN, hostile, order, paid, silences},
    },
    httpclient::HttpClient,
};

const ACCESS: &str = r#"{"access_token":"t","expires_in":3599,"token_type":"Bearer"}"#;

#[tokio::test]
async fn a_purchase_at_state_zero_pays_for_its_order() {
    let bench = Bench::new().await;
    let token = bench.bought("google", json!({ "accountToken": TOKEN })).await;
    let asked = bench.ask(GoogleIap, Some(&token)).await;
    let operations: Vec<_> = asked.calls.iter().map(|call| (call.provider, call.operation)).collect();
    assert_eq!(operations, [("GOOGLE", "token"), ("GOOGLE", "lookup")]);
    let purchase = paid(asked);
    assert_eq!((purchase.transaction_id.as_str(), purchase.check(&order())), (token.as_str(), Ok(())));
}

#[tokio::test]
async fn each_other_state_has_its_class() {
    let bench = Bench::new().await;
    let cases = [
        (json!({ "status": "pending" }), ("pending", "PURCHASE_STATE")),
        (json!({ "status": "cancelled" }), ("cancelled", "PURCHASE_STATE")),
        (json!({ "sandbox": true }), ("refused", "SANDBOX_REFUSED")),
        (json!({ "purchaseType": 1 }), ("not paid", "PURCHASE_STATE")),
        (json!({ "purchaseType": 2 }), ("not paid", "PURCHASE_STATE")),
        (json!({ "sku": "coin_1000" }), ("refused", "PRODUCT_MISMATCH")),
        (json!({ "app": "kr.other.app" }), ("unknown", "applicationNotFound")),
    ];
    for (purchase, (class, code)) in cases {
        let token = bench.bought("google", purchase.clone()).await;
        assert_eq!(bench.class(GoogleIap, &token).await, (class, code.to_owned()), "{purchase}");
    }
    assert_eq!(bench.class(GoogleIap, "nobodys").await, ("not found", "purchaseTokenNotFound".to_owned()));
    for (purchase, mismatch) in [
        (json!({ "quantity": 0 }), Mismatch::Product),
        (json!({ "accountToken": "u_8f3a" }), Mismatch::Owner),
        (json!({ "consumed": true }), Mismatch::Consumed),
    ] {
        let token = bench.bought("google", purchase).await;
        assert_eq!(paid(bench.ask(GoogleIap, Some(&token)).await).check(&order()), Err(mismatch));
    }
    let tolerant = Bench::with(|config| config.accept_test_purchases = true).await;
    let token = tolerant.bought("google", json!({ "sandbox": true })).await;
    assert_eq!(tolerant.class(GoogleIap, &token).await.0, "paid");
}

#[tokio::test]
async fn consuming_twice_is_no_error_and_a_lost_answer_is_looked_up() {
    let bench = Bench::new().await;
    let consume = async |token: &str| bench.purchases.consume("coin_100", token).await.unwrap();
    let token = bench.bought("google", json!({})).await;
    for _ in 0..2 {
        let (outcome, calls) = consume(&token).await;
        assert_eq!(outcome, ConsumeOutcome::Consumed);
        assert!(!calls.is_empty());
    }
    assert_eq!(bench.books().await[0]["consumed"], true);
    for behaviour in [json!({ "drop": true }), json!({ "status": 503, "effect": true })] {
        let token = bench.bought("google", json!({})).await;
        bench.behave("google", "consume", behaviour).await;
        assert_eq!(consume(&token).await.0, ConsumeOutcome::Consumed);
    }
    let token = bench.bought("google", json!({})).await;
    bench.behave("google", "consume", json!({ "status": 503 })).await;
    assert!(matches!(consume(&token).await.0, ConsumeOutcome::Unknown(_)));
    bench.behave("google", "consume", json!({ "status": 403 })).await;
    assert!(matches!(consume(&token).await.0, ConsumeOutcome::Misconfigured(_)));
    assert!(matches!(consume("nobodys").await.0, ConsumeOutcome::Refused(_)));
}

#[tokio::test]
async fn a_token_is_kept_and_replaced_once_when_it_is_refused() {
    let bench = Bench::new().await;
    let token = bench.bought("google", json!({})).await;
    bench.ask(GoogleIap, Some(&token)).await;
    bench.ask(GoogleIap, Some(&token)).await;
    bench.behave("google", "lookup", json!({ "status": 401 })).await;
    assert_eq!(bench.class(GoogleIap, &token).await.0, "paid");
    let operations: Vec<_> =
        bench.calls("google").await.into_iter().map(|(operation, _)| operation).collect();
    assert_eq!(operations, ["token", "lookup", "lookup", "lookup", "token", "lookup"]);
    bench.behave("google", "lookup", json!({ "times": 2, "status": 401 })).await;
    assert_eq!(bench.class(GoogleIap, &token).await, ("misconfigured", "UNAUTHORIZED".to_owned()));
}

#[tokio::test]
async fn refused_credentials_are_our_mistake_and_a_busy_google_is_nobodys() {
    let bench = Bench::new().await;
    let token = bench.bought("google", json!({})).await;
    bench.behave("google", "token", json!({ "status": 401, "code": "invalid_grant" })).await;
    assert_eq!(bench.class(GoogleIap, &token).await, ("misconfigured", "invalid_grant".to_owned()));
    let cases = [
        (json!({ "status": 403 }), ("misconfigured", "permissionDenied")),
        (json!({ "status": 403, "code": "quotaExceeded" }), ("unknown", "quotaExceeded")),
        (json!({ "status": 429 }), ("unknown", "rateLimitExceeded")),
        (json!({ "status": 503 }), ("unknown", "backendError")),
        (json!({ "status": 410 }), ("not found", "purchaseTokenNoLongerValid")),
        (json!({ "status": 400 }), ("not found", "invalid")),
    ];
    for (behaviour, (class, code)) in cases {
        bench.behave("google", "lookup", behaviour.clone()).await;
        assert_eq!(bench.class(GoogleIap, &token).await, (class, code.to_owned()), "{behaviour}");
    }
    // A key that this Google does not know.
    let stranger = Bench::new().await;
    let account = crate::gateways::testing::Files::of(&stranger.simulator);
    let mut config = crate::gateways::testing::config(&bench.simulator.base_url(), &account);
    config.google_token_url = Some(format!("{}/google/token", bench.simulator.base_url()));
    let http = HttpClient::new(std::time::Duration::from_secs(20), None).unwrap();
    let purchases = crate::gateways::PurchaseGateways::new(&config, &http).unwrap();
    let asked = purchases.ask(GoogleIap, &order(), Some(&token)).await.unwrap();
    assert_eq!(
        crate::gateways::testing::class(&asked.outcome),
        ("misconfigured", "invalid_grant".to_owned())
    );
}

#[tokio::test]
async fn an_answer_that_says_nothing_decides_nothing() {
    hostile(GoogleIap, "purchase-1", &[Canned::Says(200, ACCESS.to_owned())], silences()).await;
    hostile(GoogleIap, "purchase-1", &[], silences()).await;
    let product = |change: Value| {
        let mut product = json!({ "purchaseState": 0, "consumptionState": 0 });
        product.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        Canned::Says(200, product.to_string())
    };
    let cases = vec![
        (product(json!({})), "paid"),
        (product(json!({ "purchaseToken": "purchase-1", "productId": "coin_100" })), "paid"),
        (product(json!({ "purchaseToken": "purchase-2" })), "unknown"),
        (product(json!({ "purchaseState": 4 })), "unknown"),
        (product(json!({ "purchaseState": "0" })), "unknown"),
        (product(json!({ "purchaseState": null })), "unknown"),
        (product(json!({ "quantity": "many" })), "unknown"),
        (Canned::Says(404, r#"{"error":{"code":404}}"#.to_owned()), "unknown"),
    ];
    hostile(GoogleIap, "purchase-1", &[Canned::Says(200, ACCESS.to_owned())], cases).await;
}

#[tokio::test]
async fn a_key_file_that_cannot_be_used_is_a_clear_error_without_the_key() {
    let simulator = crate::gateways::testing::simulator().await;
    let files = crate::gateways::testing::Files::of(&simulator);
    let http = HttpClient::new(std::time::Duration::from_secs(1), None).unwrap();
    for text in ["", "{}", r#"{"client_email":"a@b","private_key":"SECRET"}"#, r#"{"private_key":"SECRET""#] {
        std::fs::write(&files.google_account, text).unwrap();
        let config = crate::gateways::testing::config("http://127.0.0.1:1", &files);
        let error = crate::gateways::PurchaseGateways::new(&config, &http).unwrap_err();
        assert_eq!(error.variable, "PAYDESK_GOOGLE_SERVICE_ACCOUNT_FILE", "{text}");
        assert!(!error.to_string().contains("SECRET"));
    }
}
