use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::{
    config::AppleEnvironment,
    gateways::{
        Mismatch,
        PaymentGateway::AppleIap,
        testing::{Bench, TOKEN, order, paid, simulator},
    },
};

async fn signed(bench: &Bench, purchase: Value) -> String {
    bench.buy("apple", purchase).await["signedTransaction"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_transaction_that_apple_signed_pays_for_its_order() {
    let bench = Bench::new().await;
    let transaction =
        signed(&bench, json!({ "accountToken": TOKEN, "transactionId": "2000000900000001" })).await;
    let asked = bench.ask(AppleIap, Some(&format!(" {transaction}\n"))).await;
    assert!(asked.calls.is_empty(), "nobody is asked");
    let purchase = paid(asked);
    assert_eq!(purchase.transaction_id, "2000000900000001");
    assert_eq!(purchase.check(&order()), Ok(()));
}

#[tokio::test]
async fn whatever_is_forged_about_it_is_found() {
    let bench = Bench::new().await;
    let forgeries = [
        ("root", "its certificates do not lead to the trusted root"),
        ("swapped-root", "its certificates do not lead to the trusted root"),
        ("no-intermediate", "its leaf was not issued by its intermediate"),
        ("leaf-marker", "its leaf is not marked as one that signs transactions"),
        ("intermediate-marker", "its intermediate is not marked as Apple's"),
        ("expired", "its certificates were not valid when it was signed"),
        ("algorithm", "it is not signed with ES256"),
        ("none", "it is not signed with ES256"),
        ("short-chain", "it does not come with exactly three certificates"),
        ("long-chain", "it does not come with exactly three certificates"),
        ("payload", "its signature is wrong"),
        ("signature", "its signature is wrong"),
    ];
    for (forge, reason) in forgeries {
        let transaction = signed(&bench, json!({ "forge": forge })).await;
        assert_eq!(
            bench.class(AppleIap, &transaction).await,
            ("refused", "SIGNATURE_INVALID".to_owned()),
            "{forge}"
        );
        let outcome = format!("{:?}", bench.ask(AppleIap, Some(&transaction)).await.outcome);
        assert!(outcome.contains(reason), "{forge}: {outcome}");
    }
}

#[tokio::test]
async fn the_simulators_own_root_is_not_apples() {
    let theirs = Bench::new().await;
    let ours = Bench::new().await;
    let transaction = signed(&theirs, json!({})).await;
    assert_eq!(theirs.class(AppleIap, &transaction).await.0, "paid");
    assert_eq!(ours.class(AppleIap, &transaction).await.0, "refused");
}

#[tokio::test]
async fn a_genuine_transaction_must_also_be_ours_bought_and_kept() {
    let bench = Bench::new().await;
    let cases = [
        (json!({ "app": "kr.other.app" }), ("refused", "PRODUCT_MISMATCH")),
        (json!({ "environment": "Xcode" }), ("refused", "SANDBOX_REFUSED")),
        (json!({ "environment": "LocalTesting" }), ("refused", "SANDBOX_REFUSED")),
        (json!({ "sandbox": true }), ("refused", "SANDBOX_REFUSED")),
        (json!({ "type": "Auto-Renewable Subscription" }), ("refused", "PRODUCT_MISMATCH")),
        (json!({ "ownership": "FAMILY_SHARED" }), ("refused", "OWNER_MISMATCH")),
        (json!({ "status": "cancelled" }), ("cancelled", "REVOKED")),
    ];
    for (purchase, (class, code)) in cases {
        let transaction = signed(&bench, purchase.clone()).await;
        assert_eq!(bench.class(AppleIap, &transaction).await, (class, code.to_owned()), "{purchase}");
    }
    for (purchase, mismatch) in [
        (json!({ "sku": "coin_1000" }), Mismatch::Product),
        (json!({ "quantity": 0 }), Mismatch::Product),
        (json!({ "accountToken": "00000000-0000-4000-8000-000000000000" }), Mismatch::Owner),
    ] {
        let transaction = signed(&bench, purchase.clone()).await;
        let purchase = paid(bench.ask(AppleIap, Some(&transaction)).await);
        assert_eq!(purchase.check(&order()), Err(mismatch));
    }
}

#[tokio::test]
async fn the_sandbox_is_accepted_by_explicit_policy_and_local_tests_never() {
    let bench = Bench::with(|config| {
        config.apple_environments = vec![AppleEnvironment::Production, AppleEnvironment::Sandbox];
    })
    .await;
    for (environment, class) in [("Sandbox", "paid"), ("Production", "paid"), ("Xcode", "refused")] {
        let transaction = signed(&bench, json!({ "environment": environment })).await;
        assert_eq!(bench.class(AppleIap, &transaction).await.0, class, "{environment}");
    }
}

#[tokio::test]
async fn what_is_no_signed_transaction_is_refused_without_a_panic() {
    let bench = Bench::new().await;
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let header = encode(r#"{"alg":"ES256","x5c":["AAAA","AAAA","AAAA"]}"#);
    let honest = signed(&bench, json!({})).await;
    let parts: Vec<&str> = honest.split('.').collect();
    let cases = [
        String::new(),
        "..".to_owned(),
        "a.b.c".to_owned(),
        "a.b.c.d".to_owned(),
        "x".repeat(1024 * 1024),
        format!("{header}.{}.AAAA", encode("{}")),
        format!("{header}.{}.AAAA", encode(r#"{"signedDate":-1}"#)),
        format!("{header}.{}.AAAA", encode(r#"{"signedDate":1767582005000}"#)),
        format!("{header}.{}.AAAA", encode(r#"{"signedDate":1e300}"#)),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}.{}AA", parts[0], parts[1], parts[2]),
        honest.replace('.', " ."),
    ];
    for text in cases {
        assert_eq!(bench.class(AppleIap, &text).await.0, "refused", "{:.60}", text);
    }
}

#[tokio::test]
async fn a_file_without_a_root_is_a_clear_error() {
    let simulator = simulator().await;
    let files = crate::gateways::testing::Files::of(&simulator);
    let http = crate::httpclient::HttpClient::new(std::time::Duration::from_secs(1), None).unwrap();
    for text in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        std::fs::write(&files.apple_root, text).unwrap();
        let config = crate::gateways::testing::config("http://127.0.0.1:1", &files);
        let error = crate::gateways::PurchaseGateways::new(&config, &http).unwrap_err();
        assert_eq!(error.variable, "PAYDESK_APPLE_ROOT_CERT_FILE", "{text}");
    }
}
