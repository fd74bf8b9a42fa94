//! The seven ways to complete a charge, each at its own gateway, and what happens without anybody asking.

use serde_json::{Value, json};

use crate::{
    charges::{alarms, balances, books_are_true},
    support::{
        Shop, TestApp,
        app::TestAppBuilder,
        eventually,
        shop::{apple, ended, google, member, order, requested, verify},
    },
};

/// A server whose reconciler and consumer of purchases look often.
pub fn looking(shop: &Shop) -> TestAppBuilder {
    TestApp::builder()
        .shop(shop)
        .set("charge-reconcile-interval", "200ms")
        .set("charge-reconcile-after", "300ms")
}

/// The address for a purchase's webhook.
fn webhooks(test: &TestApp) -> String {
    format!("http://{}/webhooks", test.base)
}

pub async fn is_complete(test: &TestApp, charge: &Value) {
    let id = charge["id"].as_str().unwrap().to_owned();
    eventually("the charge is complete", async || {
        let complete = format!("charge WHERE id = {id} AND payment_status = 'COMPLETE'");
        (test.db.count(&complete).await == 1).then_some(())
    })
    .await;
}

/// Sends a body to a webhook: HTTP status and answer.
pub async fn send(test: &TestApp, gateway: &str, content_type: &str, body: &str) -> (u16, String) {
    let http = paydesk::httpclient::HttpClient::new(std::time::Duration::from_secs(10), None).unwrap();
    let headers = [("content-type", content_type)];
    let url = format!("{}/{gateway}", webhooks(test));
    let answer = http.post_json(&url, &headers[1..], body.as_bytes().to_vec()).await.unwrap();
    (answer.status, String::from_utf8_lossy(&answer.body).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_completes_a_charge_of_its_gateway() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    for (gateway, way, place) in [
        ("PG", "verify", "bootpay"),
        ("PAYVERSE", "payverseVerify", "payverse"),
        ("HECTO", "verifyHecto", "hecto"),
    ] {
        let charge = requested(&service, &member, gateway).await;
        let id = shop.buy(json!({ "gateway": place, "orderId": order(&charge), "amount": 11_000 })).await;
        let payload = verify(&service, way, order(&charge), &id).await;
        assert_eq!(ended(&payload), (Some("COMPLETE"), false, None), "{way}: {payload:#}");
        let payload = verify(&service, way, order(&charge), &id).await;
        assert_eq!(ended(&payload), (Some("COMPLETE"), true, None), "{way} again");
    }
    let charge = requested(&service, &member, "APPLE_IAP").await;
    let token: String = account_token(&test, &charge).await;
    let signed = shop.buy(json!({ "gateway": "apple", "sku": "coin_100", "accountToken": token })).await;
    let payload = apple(&service, order(&charge), &signed).await;
    assert_eq!(ended(&payload), (Some("COMPLETE"), false, None), "{payload:#}");
    let charge = requested(&service, &member, "GOOGLE_IAP").await;
    let token: String = account_token(&test, &charge).await;
    let bought = shop.buy(json!({ "gateway": "google", "sku": "coin_100", "accountToken": token })).await;
    let payload = google(&service, order(&charge), "coin_100", &bought).await;
    assert_eq!(ended(&payload), (Some("COMPLETE"), false, None), "{payload:#}");
    for (gateway, place) in [("PAYVERSE", "payverse"), ("HECTO", "hecto")] {
        let charge = requested(&service, &member, gateway).await;
        let webhook = json!({
            "gateway": place, "orderId": order(&charge), "amount": 11_000, "webhook": true, "webhookUrl": webhooks(&test),
        });
        shop.buy(webhook).await;
        is_complete(&test, &charge).await;
    }
    assert_eq!(balances(&test, &member, "PG").await, (500, 0));
    assert_eq!(balances(&test, &member, "IOS").await, (100, 0));
    assert_eq!(balances(&test, &member, "AOS").await, (100, 0));
    books_are_true(&test).await;
    test.stop().await;
}

async fn account_token(test: &TestApp, charge: &Value) -> String {
    test.db
        .value(&format!("SELECT account_token::text FROM charge WHERE order_id = '{}'", order(charge)))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_of_an_app_store_is_for_its_owner_and_product_alone() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    let foreign = "7f0c2b1e-1111-4222-8333-9a0b1c2d3e4f";
    for (purchase, code) in [
        (json!({ "accountToken": foreign }), "OWNER_MISMATCH"),
        (json!({ "sku": "coin_10" }), "PRODUCT_MISMATCH"),
        (json!({ "quantity": 0 }), "PRODUCT_MISMATCH"),
        (json!({ "forge": "signature" }), "SIGNATURE_INVALID"),
        (json!({ "environment": "Sandbox" }), "SANDBOX_REFUSED"),
        (json!({ "app": "kr.other.app" }), "PRODUCT_MISMATCH"),
        (json!({ "ownership": "FAMILY_SHARED" }), "OWNER_MISMATCH"),
        (json!({ "status": "cancelled" }), "PURCHASE_CANCELED"),
    ] {
        let charge = requested(&service, &member, "APPLE_IAP").await;
        let mut all = json!({ "gateway": "apple", "sku": "coin_100" });
        all.as_object_mut().unwrap().extend(purchase.as_object().unwrap().clone());
        let signed = shop.buy(all).await;
        let payload = apple(&service, order(&charge), &signed).await;
        assert_eq!(ended(&payload), (Some("REQUEST"), false, Some(code)), "{purchase}: {payload:#}");
    }
    for (purchase, sku, code) in [
        (json!({ "accountToken": foreign }), "coin_100", "OWNER_MISMATCH"),
        // Another product was bought, whatever the client says: somebody must hear of it.
        (json!({ "sku": "coin_10" }), "coin_10", "PRODUCT_MISMATCH"),
        (json!({ "sku": "coin_10" }), "coin_100", "PRODUCT_MISMATCH"),
        (json!({ "app": "kr.other.app" }), "coin_100", "GATEWAY_UNAVAILABLE"),
        (json!({ "status": "pending" }), "coin_100", "PURCHASE_PENDING"),
        (json!({ "status": "cancelled" }), "coin_100", "PURCHASE_CANCELED"),
        (json!({ "sandbox": true }), "coin_100", "SANDBOX_REFUSED"),
        (json!({ "consumed": true }), "coin_100", "TRANSACTION_ALREADY_USED"),
    ] {
        let charge = requested(&service, &member, "GOOGLE_IAP").await;
        let mut all = json!({ "gateway": "google", "sku": "coin_100" });
        all.as_object_mut().unwrap().extend(purchase.as_object().unwrap().clone());
        let token = shop.buy(all).await;
        let payload = google(&service, order(&charge), sku, &token).await;
        assert_eq!(ended(&payload), (Some("REQUEST"), false, Some(code)), "{purchase}: {payload:#}");
    }
    let mismatches: i64 =
        test.db.count("failure WHERE kind = 'CHARGE_MISMATCH' AND severity = 'CRITICAL'").await;
    assert_eq!(mismatches, 7);
    assert_eq!(test.db.count("ledger_entry").await, 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_is_forged_foreign_or_declined_completes_nothing() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    let charge = requested(&service, &member, "PAYVERSE").await;
    for body in ["", "{}", "not json", "{\"mid\":\"SIM_KRW_01\",\"type\":\"Sale\"}"] {
        let (status, answer) = send(&test, "payverse", "application/json", body).await;
        assert_eq!((status, answer.contains("FAIL")), (400, true), "{body}: {answer}");
        let (status, answer) = send(&test, "hecto", "application/x-www-form-urlencoded", body).await;
        assert_eq!((status, answer.as_str()), (400, "FAIL"), "{body}");
    }
    let mut sale = json!({
        "gateway": "payverse", "orderId": order(&charge), "amount": 11_000, "webhook": true, "webhookUrl": webhooks(&test),
    });
    sale["forge"] = json!("signature");
    shop.buy(sale.clone()).await;
    eventually("the forged one is refused", async || {
        let sent = shop.calls("payverse", "webhook").await;
        sent.iter().any(|call| call["outcome"] == "HTTP_400").then_some(())
    })
    .await;
    let declined = json!({
        "gateway": "payverse", "orderId": order(&charge), "amount": 11_000, "webhook": true, "webhookUrl": webhooks(&test),
        "status": "declined",
    });
    shop.buy(declined).await;
    eventually("the declined one is acknowledged", async || {
        let sent = shop.calls("payverse", "webhook").await;
        sent.iter().any(|call| call["outcome"] == "RECEIVED").then_some(())
    })
    .await;
    // An order that nobody knows is to be sent again.
    let unknown = json!({
        "gateway": "hecto", "orderId": "CHGnobody", "amount": 11_000, "webhook": true, "webhookUrl": webhooks(&test),
    });
    shop.buy(unknown).await;
    eventually("the unknown one is refused", async || {
        let sent = shop.calls("hecto", "webhook").await;
        sent.iter().any(|call| call["outcome"] == "HTTP_404").then_some(())
    })
    .await;
    assert_eq!(test.db.count("charge WHERE payment_status = 'COMPLETE'").await, 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reversal_changes_no_balance_is_acknowledged_and_told_once() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    for (gateway, place) in [("PAYVERSE", "payverse"), ("HECTO", "hecto")] {
        let charge = requested(&service, &member, gateway).await;
        let sale = json!({
            "gateway": place, "orderId": order(&charge), "amount": 11_000, "webhook": true, "webhookUrl": webhooks(&test),
        });
        let id = shop.buy(sale).await;
        is_complete(&test, &charge).await;
        for _ in 0..2 {
            shop.buy(
                json!({ "gateway": place, "transactionId": id, "status": "cancelled", "webhook": true }),
            )
            .await;
        }
        eventually("sale and reversals are acknowledged", async || {
            let sent = shop.calls(place, "webhook").await;
            (sent.iter().filter(|call| call["outcome"] == "RECEIVED").count() == 3).then_some(())
        })
        .await;
    }
    assert_eq!(balances(&test, &member, "PG").await, (200, 0));
    assert_eq!(
        alarms(&test).await,
        ["PURCHASE_REVERSED CRITICAL PURCHASE_REVERSED", "PURCHASE_REVERSED CRITICAL PURCHASE_REVERSED"]
    );
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reconciler_completes_what_was_paid_without_anybody_telling_us() {
    let shop = Shop::start().await;
    let test = looking(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    // By our order id, where nothing was ever presented.
    for (gateway, place) in [("PAYVERSE", "payverse"), ("HECTO", "hecto")] {
        let charge = requested(&service, &member, gateway).await;
        shop.buy(json!({ "gateway": place, "orderId": order(&charge), "amount": 11_000 })).await;
        is_complete(&test, &charge).await;
    }
    // By what was presented, where the gateway did not answer then.
    let charge = requested(&service, &member, "PG").await;
    let receipt =
        shop.buy(json!({ "gateway": "bootpay", "orderId": order(&charge), "amount": 11_000 })).await;
    shop.behave(json!({ "gateway": "bootpay", "operation": "lookup", "status": 500 })).await;
    let payload = verify(&service, "verify", order(&charge), &receipt).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("GATEWAY_UNAVAILABLE")));
    is_complete(&test, &charge).await;
    // By what was presented, once it is paid.
    let charge = requested(&service, &member, "GOOGLE_IAP").await;
    let token = shop.buy(json!({ "gateway": "google", "sku": "coin_100", "status": "pending" })).await;
    let payload = google(&service, order(&charge), "coin_100", &token).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("PURCHASE_PENDING")));
    // Something else, which is refused for good, does not take its place.
    let other = shop.buy(json!({ "gateway": "google", "sku": "coin_100", "status": "cancelled" })).await;
    let payload = google(&service, order(&charge), "coin_100", &other).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("PURCHASE_CANCELED")));
    shop.buy(json!({ "gateway": "google", "transactionId": token, "status": "paid" })).await;
    is_complete(&test, &charge).await;
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_google_purchase_is_consumed_after_it_is_credited_until_google_confirms_it() {
    let shop = Shop::start().await;
    let test = looking(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    let charge = requested(&service, &member, "GOOGLE_IAP").await;
    let token = shop.buy(json!({ "gateway": "google", "sku": "coin_100" })).await;
    shop.behave(json!({ "gateway": "google", "operation": "consume", "times": 2, "status": 503 })).await;
    let payload = google(&service, order(&charge), "coin_100", &token).await;
    assert_eq!(ended(&payload), (Some("COMPLETE"), false, None), "{payload:#}");
    eventually("it is consumed", async || {
        let consumed = "charge WHERE consumed_at IS NOT NULL AND consume_due_at IS NULL";
        (test.db.count(consumed).await == 1).then_some(())
    })
    .await;
    assert_eq!(shop.calls("google", "consume").await.len(), 3);
    // Presented again: the same answer, although it is consumed now.
    let payload = google(&service, order(&charge), "coin_100", &token).await;
    assert_eq!(ended(&payload), (Some("COMPLETE"), true, None), "{payload:#}");
    // Who has the token can present it: nobody is shown the whole of it, and by the whole of it the charge is found.
    assert!(!payload.to_string().contains(&token), "{payload:#}");
    let query = "query ($token: String!) { charges(filter: { gatewayTransactionId: $token }) { nodes { orderId gatewayTransactionId } } }";
    let data = test.operator().data(query, json!({ "token": token })).await;
    let shown = format!("…{}", &token[token.len() - 6..]);
    let found = json!([{ "orderId": order(&charge), "gatewayTransactionId": shown }]);
    assert_eq!(data["charges"]["nodes"], found);
    // The next purchase of the same product is another one.
    let charge = requested(&service, &member, "GOOGLE_IAP").await;
    let payload = google(&service, order(&charge), "coin_100", &token).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("TRANSACTION_ALREADY_USED")));
    assert_eq!(balances(&test, &member, "AOS").await, (100, 0));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_payverse_and_hecto_do_not_call_paid_stays_in_request_with_its_own_code() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    let service = test.service();
    let member = member(&service).await;
    let used = {
        let charge = requested(&service, &member, "HECTO").await;
        let id = shop.buy(json!({ "gateway": "hecto", "orderId": order(&charge), "amount": 11_000 })).await;
        assert_eq!(ended(&verify(&service, "verifyHecto", order(&charge), &id).await).0, Some("COMPLETE"));
        id
    };
    for (gateway, way, place, purchase, code) in [
        ("PAYVERSE", "payverseVerify", "payverse", json!({ "status": "pending" }), "PURCHASE_PENDING"),
        ("PAYVERSE", "payverseVerify", "payverse", json!({ "status": "cancelled" }), "PURCHASE_CANCELED"),
        ("PAYVERSE", "payverseVerify", "payverse", json!({ "status": "declined" }), "CHARGE_NOT_PAID"),
        ("PAYVERSE", "payverseVerify", "payverse", json!({ "amount": 100 }), "AMOUNT_MISMATCH"),
        ("PAYVERSE", "payverseVerify", "payverse", json!({ "approvedAmount": 1 }), "AMOUNT_MISMATCH"),
        ("PAYVERSE", "payverseVerify", "payverse", json!({ "currency": "USD" }), "CURRENCY_MISMATCH"),
        (
            "PAYVERSE",
            "payverseVerify",
            "payverse",
            json!({ "merchant": "SIM_KRW_02" }),
            "GATEWAY_UNAVAILABLE",
        ),
        ("PAYVERSE", "payverseVerify", "payverse", json!({ "orderId": "CHGanother" }), "CHARGE_NOT_PAID"),
        ("HECTO", "verifyHecto", "hecto", json!({ "status": "pending" }), "PURCHASE_PENDING"),
        ("HECTO", "verifyHecto", "hecto", json!({ "status": "cancelled" }), "PURCHASE_CANCELED"),
        ("HECTO", "verifyHecto", "hecto", json!({ "status": "declined" }), "CHARGE_NOT_PAID"),
        ("HECTO", "verifyHecto", "hecto", json!({ "amount": 100 }), "AMOUNT_MISMATCH"),
        ("HECTO", "verifyHecto", "hecto", json!({ "orderId": "CHGanother" }), "CHARGE_NOT_PAID"),
    ] {
        let charge = requested(&service, &member, gateway).await;
        let mut all = json!({ "gateway": place, "orderId": order(&charge), "amount": 11_000 });
        all.as_object_mut().unwrap().extend(purchase.as_object().unwrap().clone());
        let id = shop.buy(all).await;
        let payload = verify(&service, way, order(&charge), &id).await;
        assert_eq!(
            ended(&payload),
            (Some("REQUEST"), false, Some(code)),
            "{gateway} {purchase}: {payload:#}"
        );
    }
    // A number that has paid another charge is none of this one's.
    let charge = requested(&service, &member, "HECTO").await;
    let payload = verify(&service, "verifyHecto", order(&charge), &used).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("CHARGE_NOT_PAID")));
    assert_eq!(balances(&test, &member, "PG").await, (100, 0));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_packs_bought_at_once_are_all_credited() {
    let shop = Shop::start().await;
    let test =
        TestApp::builder().shop(&shop).set("workers", false).set("first-charge-percent", 10).start().await;
    let service = test.service();
    let member = member(&service).await;
    let charge = requested(&service, &member, "GOOGLE_IAP").await;
    let token = shop.buy(json!({ "gateway": "google", "sku": "coin_100", "quantity": 3 })).await;
    assert_eq!(ended(&google(&service, order(&charge), "coin_100", &token).await).0, Some("COMPLETE"));
    let query = "query ($id: ID!) { charge(id: $id) { quantity can price jobs { additionalCan } } }";
    let data = test.operator().data(query, json!({ "id": charge["id"] })).await;
    let bought = json!({ "quantity": 3, "can": 300, "price": 33_000, "jobs": [{ "additionalCan": 30 }] });
    assert_eq!(data["charge"], bought);
    let charge = requested(&service, &member, "APPLE_IAP").await;
    let signed = shop.buy(json!({ "gateway": "apple", "sku": "coin_100", "quantity": 2 })).await;
    assert_eq!(ended(&apple(&service, order(&charge), &signed).await).0, Some("COMPLETE"));
    assert_eq!(balances(&test, &member, "AOS").await, (300, 30));
    assert_eq!(balances(&test, &member, "IOS").await, (200, 0));
    books_are_true(&test).await;
    crate::invariants::assert_books_hold(&test.db);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_that_a_store_shows_under_two_names_is_told() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    let service = test.service();
    let member = member(&service).await;
    // Apple's transactions are each credited, and each repetition is told; Google's order pays once.
    let mut tokens = Vec::new();
    for number in 0..3 {
        let charge = requested(&service, &member, "APPLE_IAP").await;
        let purchase = json!({ "gateway": "apple", "sku": "coin_100", "storeOrderId": "2000000900000001" });
        let signed = shop.buy(purchase).await;
        assert_eq!(ended(&apple(&service, order(&charge), &signed).await).0, Some("COMPLETE"));
        let charge = requested(&service, &member, "GOOGLE_IAP").await;
        let purchase = json!({ "gateway": "google", "sku": "coin_100", "storeOrderId": "GPA.1" });
        tokens.push(shop.buy(purchase).await);
        let payload = google(&service, order(&charge), "coin_100", tokens.last().unwrap()).await;
        let expected = if number == 0 {
            (Some("COMPLETE"), None)
        } else {
            (Some("REQUEST"), Some("TRANSACTION_ALREADY_USED"))
        };
        assert_eq!((ended(&payload).0, ended(&payload).2), expected);
    }
    let (apples, google) = (
        "DUPLICATE_PURCHASE CRITICAL ORIGINAL_TRANSACTION_REPEATED",
        "CHARGE_MISMATCH CRITICAL TRANSACTION_ALREADY_USED",
    );
    assert_eq!(alarms(&test).await, [apples, google, apples, google]);
    assert_eq!(balances(&test, &member, "IOS").await, (300, 0));
    assert_eq!(balances(&test, &member, "AOS").await, (100, 0));
    // Of a purchase token only the end is told.
    for token in tokens {
        let told = format!("failure WHERE concat(message, detail) LIKE '%{token}%'");
        assert_eq!(test.db.count(&told).await, 0);
    }
    assert_eq!(
        test.db
            .count("failure WHERE message LIKE '%(transaction …______ of GOOGLE_IAP, its order GPA.1)%'")
            .await,
        2
    );
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credited_google_purchase_is_consumed_although_google_did_not_know_it_for_a_moment() {
    let shop = Shop::start().await;
    let test = looking(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    let charge = requested(&service, &member, "GOOGLE_IAP").await;
    let token = shop.buy(json!({ "gateway": "google", "sku": "coin_100" })).await;
    shop.behave(json!({ "gateway": "google", "operation": "consume", "times": 2, "status": 404 })).await;
    shop.behave(json!({ "gateway": "google", "operation": "lookup", "delayMs": 0 })).await;
    shop.behave(json!({ "gateway": "google", "operation": "lookup", "times": 2, "status": 404 })).await;
    assert_eq!(ended(&google(&service, order(&charge), "coin_100", &token).await).0, Some("COMPLETE"));
    eventually("it is consumed", async || {
        (test.db.count("charge WHERE consumed_at IS NOT NULL AND consume_due_at IS NULL").await == 1)
            .then_some(())
    })
    .await;
    assert_eq!(alarms(&test).await, Vec::<String>::new());
    // Three days later there is nothing left to consume, and somebody must know.
    shop.behave(json!({ "gateway": "google", "operation": "consume", "times": 1000, "status": 404 })).await;
    shop.behave(json!({ "gateway": "google", "operation": "lookup", "delayMs": 0 })).await;
    shop.behave(json!({ "gateway": "google", "operation": "lookup", "times": 1000, "status": 404 })).await;
    let charge = requested(&service, &member, "GOOGLE_IAP").await;
    let token = shop.buy(json!({ "gateway": "google", "sku": "coin_100" })).await;
    assert_eq!(ended(&google(&service, order(&charge), "coin_100", &token).await).0, Some("COMPLETE"));
    eventually("it was tried", async || (shop.calls("google", "consume").await.len() >= 5).then_some(()))
        .await;
    assert_eq!(test.db.count("charge WHERE consume_due_at IS NOT NULL").await, 1);
    let days = "UPDATE charge SET completed_at = now() - interval '73 hours', consume_due_at = now() WHERE consume_due_at IS NOT NULL";
    test.db.run(days).await;
    eventually("it is given up and told", async || {
        let told = alarms(&test).await == ["PURCHASE_REVERSED CRITICAL NOT_CONSUMED"];
        (told && test.db.count("charge WHERE consume_due_at IS NOT NULL").await == 0).then_some(())
    })
    .await;
    let message: String = test.db.value("SELECT message FROM failure").await;
    assert!(message.contains("three days") && !message.contains(&token), "{message}");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_refuses_our_key_is_told_and_asked_again() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("bootpay-private-key", "a wrong key").start().await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "PG").await;
    let receipt =
        shop.buy(json!({ "gateway": "bootpay", "orderId": order(&charge), "amount": 11_000 })).await;
    for _ in 0..2 {
        let payload = verify(&test.service(), "verify", order(&charge), &receipt).await;
        assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("GATEWAY_MISCONFIGURED")), "{payload:#}");
    }
    assert_eq!(
        test.db.count("failure WHERE kind = 'GATEWAY_MISCONFIGURED' AND severity = 'CRITICAL'").await,
        1
    );
    assert_eq!(test.db.count("charge_reference WHERE next_check_at IS NOT NULL").await, 1);
    test.stop().await;
}
