//! What is presented for a charge: each reference is asked about until its gateway has said its last word, and one payment
//! of a charge is approved, however many await it.

use serde_json::{Value, json};

use crate::{
    charges::{alarms, balances, books_are_true},
    purchases::looking,
    support::{
        Shop, TestApp,
        app::TestAppBuilder,
        eventually,
        shop::{apple, ended, google, member, order, paid_at_bootpay, requested, verify},
    },
};

/// A server whose workers rest.
fn resting(shop: &Shop) -> TestAppBuilder {
    TestApp::builder().shop(shop).set("workers", false)
}

/// A receipt that awaits our approval.
async fn unapproved(shop: &Shop, charge: &Value) -> String {
    let purchase =
        json!({ "gateway": "bootpay", "orderId": order(charge), "amount": 11_000, "status": "unapproved" });
    shop.buy(purchase).await
}

/// How much was taken for a charge.
async fn taken(shop: &Shop, charge: &Value) -> i64 {
    let books = shop.books().await;
    books.iter().filter(|row| row["orderId"] == order(charge)).map(|row| row["paid"].as_i64().unwrap()).sum()
}

async fn is_complete(test: &TestApp, charge: &Value) {
    let complete = format!("charge WHERE order_id = '{}' AND payment_status = 'COMPLETE'", order(charge));
    eventually("the charge is complete", async || (test.db.count(&complete).await == 1).then_some(())).await;
}

/// What the charge's references came to, the oldest first, and whether they are asked about.
async fn references(test: &TestApp, charge: &Value) -> Vec<String> {
    let sql = format!(
        "SELECT concat_ws(' ', r.outcome, r.next_check_at IS NOT NULL) FROM charge_reference r JOIN charge c ON c.id = r.charge_id
         WHERE c.order_id = '{}' ORDER BY r.id",
        order(charge)
    );
    test.db.values(&sql).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_awaits_approval_is_approved_and_credited() {
    let shop = Shop::start().await;
    let test = resting(&shop).start().await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "PG").await;
    let receipt = unapproved(&shop, &charge).await;
    for replayed in [false, true] {
        let payload = verify(&test.service(), "verify", order(&charge), &receipt).await;
        assert_eq!(ended(&payload), (Some("COMPLETE"), replayed, None), "{payload:#}");
    }
    assert_eq!((taken(&shop, &charge).await, shop.calls("bootpay", "confirm").await.len()), (11_000, 1));
    // One that is not what the charge asks for is never approved.
    for (difference, code) in [
        (json!({ "amount": 100 }), "AMOUNT_MISMATCH"),
        (json!({ "currency": "USD" }), "CURRENCY_MISMATCH"),
        (json!({ "orderId": "CHGanother" }), "OWNER_MISMATCH"),
        (json!({ "sandbox": true }), "SANDBOX_REFUSED"),
    ] {
        let charge = requested(&test.service(), &member, "PG").await;
        let mut purchase = json!({ "gateway": "bootpay", "orderId": order(&charge), "amount": 11_000, "status": "unapproved" });
        purchase.as_object_mut().unwrap().extend(difference.as_object().unwrap().clone());
        let receipt = shop.buy(purchase).await;
        let payload = verify(&test.service(), "verify", order(&charge), &receipt).await;
        assert_eq!(ended(&payload), (Some("REQUEST"), false, Some(code)), "{payload:#}");
        assert_eq!(references(&test, &charge).await, [format!("{code} f")]);
    }
    assert_eq!(shop.calls("bootpay", "confirm").await.len(), 1);
    assert_eq!(alarms(&test).await, Vec::<String>::new(), "nothing was taken");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paid_charge_approves_no_second_payment() {
    let shop = Shop::start().await;
    let test = resting(&shop).start().await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "PG").await;
    let receipt = paid_at_bootpay(&shop, order(&charge)).await;
    assert_eq!(ended(&verify(&test.service(), "verify", order(&charge), &receipt).await).0, Some("COMPLETE"));
    let second = unapproved(&shop, &charge).await;
    for _ in 0..2 {
        let payload = verify(&test.service(), "verify", order(&charge), &second).await;
        assert_eq!(ended(&payload), (Some("COMPLETE"), false, Some("ORDER_ALREADY_PAID")), "{payload:#}");
    }
    assert_eq!(taken(&shop, &charge).await, 11_000);
    assert_eq!(references(&test, &charge).await, ["COMPLETE f", "ORDER_ALREADY_PAID f"]);
    assert_eq!(alarms(&test).await, Vec::<String>::new(), "nobody paid twice");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_payments_that_await_approval_at_once_one_is_approved() {
    let shop = Shop::start().await;
    let test = looking(&shop).start().await;
    let second = looking(&shop).start_beside(&test).await;
    let member = member(&test.service()).await;
    for _ in 0..5 {
        let charge = requested(&test.service(), &member, "PG").await;
        let mut under_way = tokio::task::JoinSet::new();
        for number in 0..4 {
            let receipt = unapproved(&shop, &charge).await;
            let actor = if number % 2 == 0 { test.service() } else { second.service() };
            let order_id = order(&charge).to_owned();
            under_way.spawn(async move { verify(&actor, "verify", &order_id, &receipt).await });
        }
        let answers = under_way.join_all().await;
        let codes: Vec<_> = answers.iter().map(|answer| ended(answer).2).collect();
        assert_eq!(codes.iter().filter(|code| code.is_none()).count(), 1, "{codes:?}");
        let told = [None, Some("PAYMENT_IN_PROGRESS"), Some("ORDER_ALREADY_PAID")];
        assert!(codes.iter().all(|code| told.contains(code)), "{codes:?}");
        // Nor does anybody approve another one later.
        eventually("all references are final", async || {
            references(&test, &charge).await.iter().all(|row| row.ends_with(" f")).then_some(())
        })
        .await;
        assert_eq!(taken(&shop, &charge).await, 11_000);
    }
    assert_eq!(balances(&test, &member, "PG").await, (500, 0));
    assert_eq!(alarms(&test).await, Vec::<String>::new());
    books_are_true(&test).await;
    test.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_it_is_unknown_whether_a_payment_was_approved_no_other_one_is() {
    let shop = Shop::start().await;
    let test = resting(&shop).start().await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "PG").await;
    let first = unapproved(&shop, &charge).await;
    // The money moves, and nobody hears of it.
    shop.behave(json!({ "gateway": "bootpay", "operation": "confirm", "drop": true })).await;
    shop.behave(json!({ "gateway": "bootpay", "operation": "lookup", "effect": true })).await;
    shop.behave(json!({ "gateway": "bootpay", "operation": "lookup", "effect": true })).await;
    shop.behave(json!({ "gateway": "bootpay", "operation": "lookup", "status": 500 })).await;
    let payload = verify(&test.service(), "verify", order(&charge), &first).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("GATEWAY_UNAVAILABLE")), "{payload:#}");
    let second = unapproved(&shop, &charge).await;
    let payload = verify(&test.service(), "verify", order(&charge), &second).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("PAYMENT_IN_PROGRESS")), "{payload:#}");
    assert_eq!(taken(&shop, &charge).await, 11_000);
    let reconciler = looking(&shop).start_beside(&test).await;
    test.db.run("UPDATE charge_reference SET next_check_at = now()").await;
    is_complete(&test, &charge).await;
    eventually("the second one is refused", async || {
        (references(&test, &charge).await == ["COMPLETE f", "ORDER_ALREADY_PAID f"]).then_some(())
    })
    .await;
    assert_eq!(taken(&shop, &charge).await, 11_000);
    test.stop().await;
    reconciler.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_goes_on_after_the_process_died_and_makes_room_when_it_was_refused() {
    let shop = Shop::start().await;
    let test = resting(&shop).start().await;
    let member = member(&test.service()).await;
    // As the process leaves it that dies after it has claimed the charge, before it calls.
    let claimed = async || {
        let charge = requested(&test.service(), &member, "PG").await;
        let receipt = unapproved(&shop, &charge).await;
        test.db
            .run(&format!(
                "UPDATE charge SET approving_reference = '{receipt}' WHERE order_id = '{order}';
                 INSERT INTO charge_reference (charge_id, reference, digest, next_check_at)
                 SELECT id, '{receipt}', sha256('{receipt}'), now() FROM charge WHERE order_id = '{order}'",
                order = order(&charge)
            ))
            .await;
        (charge, receipt)
    };
    let (going_on, _) = claimed().await;
    let (refused, receipt) = claimed().await;
    shop.buy(json!({ "gateway": "bootpay", "transactionId": receipt, "status": "declined" })).await;
    let reconciler = looking(&shop).start_beside(&test).await;
    is_complete(&test, &going_on).await;
    let held = format!("charge WHERE order_id = '{}' AND approving_reference IS NULL", order(&refused));
    eventually("the refused one gives way", async || (test.db.count(&held).await == 1).then_some(())).await;
    let another = unapproved(&shop, &refused).await;
    let payload = verify(&test.service(), "verify", order(&refused), &another).await;
    assert_eq!(ended(&payload), (Some("COMPLETE"), false, None), "{payload:#}");
    assert_eq!((taken(&shop, &going_on).await, taken(&shop, &refused).await), (11_000, 11_000));
    test.stop().await;
    reconciler.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_paid_during_an_outage_is_found_whatever_is_presented_after_it() {
    let shop = Shop::start().await;
    let test = looking(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    // Mistyped, cancelled, and another one that awaits its payment.
    let charge = requested(&service, &member, "PG").await;
    let paid = paid_at_bootpay(&shop, order(&charge)).await;
    shop.behave(json!({ "gateway": "bootpay", "operation": "lookup", "status": 500 })).await;
    let payload = verify(&service, "verify", order(&charge), &paid).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("GATEWAY_UNAVAILABLE")));
    let other = |status: &str| json!({ "gateway": "bootpay", "orderId": order(&charge), "amount": 11_000, "status": status });
    let (pending, cancelled) = (shop.buy(other("pending")).await, shop.buy(other("cancelled")).await);
    for (reference, code) in [
        ("mistyped", "CHARGE_NOT_PAID"),
        ("한글", "CHARGE_NOT_PAID"),
        (cancelled.as_str(), "PURCHASE_CANCELED"),
        (pending.as_str(), "PURCHASE_PENDING"),
    ] {
        let code = Some(code);
        let payload = verify(&service, "verify", order(&charge), reference).await;
        // The reconciler may have been faster.
        assert!(
            ended(&payload) == (Some("REQUEST"), false, code) || ended(&payload).0 == Some("COMPLETE"),
            "{payload:#}"
        );
    }
    is_complete(&test, &charge).await;
    // A second token of a store, presented while the first one is pending.
    let charge = requested(&service, &member, "GOOGLE_IAP").await;
    let pending = json!({ "gateway": "google", "sku": "coin_100", "status": "pending" });
    let (first, second) = (shop.buy(pending.clone()).await, shop.buy(pending).await);
    for token in [&first, &second] {
        let payload = google(&service, order(&charge), "coin_100", token).await;
        assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("PURCHASE_PENDING")));
    }
    shop.buy(json!({ "gateway": "google", "transactionId": first, "status": "paid" })).await;
    is_complete(&test, &charge).await;
    // And the second one, when it is paid as well, is not passed over in silence.
    shop.buy(json!({ "gateway": "google", "transactionId": second, "status": "paid" })).await;
    eventually("who paid twice is told", async || {
        (alarms(&test).await == ["DUPLICATE_PURCHASE CRITICAL ORDER_ALREADY_PAID"]).then_some(())
    })
    .await;
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_unknown_for_a_week_is_told_once_and_asked_about_all_the_same() {
    let shop = Shop::start().await;
    let test = looking(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    let charge = requested(&service, &member, "PG").await;
    let sale =
        json!({ "gateway": "bootpay", "orderId": order(&charge), "amount": 11_000, "status": "pending" });
    let pending = shop.buy(sale).await;
    for (reference, code) in [("mistyped", "CHARGE_NOT_PAID"), (pending.as_str(), "PURCHASE_PENDING")] {
        let payload = verify(&service, "verify", order(&charge), reference).await;
        assert_eq!(ended(&payload), (Some("REQUEST"), false, Some(code)));
    }
    let a_week_later =
        "UPDATE charge_reference SET presented_at = now() - interval '8 days', next_check_at = now()";
    let told = ["CHARGE_MISMATCH CRITICAL OUTCOME_UNKNOWN"];
    for _ in 0..2 {
        test.db.run(a_week_later).await;
        eventually("what nobody knows is not asked about any more, the other one tomorrow", async || {
            let tomorrow = "charge_reference WHERE next_check_at > now() + interval '1 hour'";
            (references(&test, &charge).await == ["CHARGE_NOT_PAID f", "PURCHASE_PENDING t"]
                && test.db.count(tomorrow).await == 1)
                .then_some(())
        })
        .await;
        eventually("it is told", async || (alarms(&test).await == told).then_some(())).await;
    }
    shop.buy(json!({ "gateway": "bootpay", "transactionId": pending, "status": "paid" })).await;
    test.db.run(a_week_later).await;
    is_complete(&test, &charge).await;
    assert_eq!(alarms(&test).await, told);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_references_presented_at_once_are_both_kept() {
    let shop = Shop::start().await;
    let test = resting(&shop).start().await;
    let second = resting(&shop).start_beside(&test).await;
    let member = member(&test.service()).await;
    for _ in 0..6 {
        let charge = requested(&test.service(), &member, "PG").await;
        let paid = paid_at_bootpay(&shop, order(&charge)).await;
        let cancelled = json!({ "gateway": "bootpay", "orderId": order(&charge), "amount": 11_000, "status": "cancelled" });
        let cancelled = shop.buy(cancelled).await;
        shop.behave(json!({ "gateway": "bootpay", "operation": "lookup", "times": 2, "status": 500 })).await;
        let (one, other) = (test.service(), second.service());
        tokio::join!(
            verify(&one, "verify", order(&charge), &paid),
            verify(&other, "verify", order(&charge), &cancelled)
        );
        let open = format!(
            "charge_reference WHERE reference IN ('{paid}', '{cancelled}') AND next_check_at IS NOT NULL"
        );
        assert_eq!(test.db.count(&open).await, 2, "{:?}", references(&test, &charge).await);
    }
    let reconciler = looking(&shop).start_beside(&test).await;
    test.db.run("UPDATE charge_reference SET next_check_at = now()").await;
    eventually("all are complete", async || {
        (test.db.count("charge WHERE payment_status = 'COMPLETE'").await == 6).then_some(())
    })
    .await;
    for app in [test, second, reconciler] {
        app.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_knows_our_orders_is_asked_by_what_was_presented_too() {
    let shop = Shop::start().await;
    let test = looking(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    for (gateway, way, place) in
        [("PAYVERSE", "payverseVerify", "payverse"), ("HECTO", "verifyHecto", "hecto")]
    {
        // By our order id it tells the newest attempt, which was declined; the one that was paid is presented.
        let charge = requested(&service, &member, gateway).await;
        let sale = json!({ "gateway": place, "orderId": order(&charge), "amount": 11_000 });
        let paid = shop.buy(sale.clone()).await;
        let mut declined = sale;
        declined["status"] = json!("declined");
        shop.buy(declined).await;
        shop.behave(json!({ "gateway": place, "operation": "lookup", "status": 500 })).await;
        verify(&service, way, order(&charge), &paid).await;
        is_complete(&test, &charge).await;
        // A wrong number, presented again and again, keeps nobody from asking by the order id.
        let charge = requested(&service, &member, gateway).await;
        shop.buy(json!({ "gateway": place, "orderId": order(&charge), "amount": 11_000 })).await;
        let complete =
            format!("charge WHERE order_id = '{}' AND payment_status = 'COMPLETE'", order(&charge));
        eventually("it is complete under the polling", async || {
            verify(&service, way, order(&charge), "wrong").await;
            (test.db.count(&complete).await == 1).then_some(())
        })
        .await;
    }
    books_are_true(&test).await;
    test.stop().await;
}

/// Presents what no gateway knows, until the charge has its fill; the last answer's message.
async fn filled_with_junk(test: &TestApp, charge: &Value) -> String {
    let mut message = String::new();
    for number in 0..45 {
        let payload = verify(&test.service(), "verify", order(charge), &format!("guess-{number}")).await;
        assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("CHARGE_NOT_PAID")), "{payload:#}");
        message = payload["userErrors"][0]["message"].as_str().unwrap().to_owned();
    }
    message
}

const NOT_KEPT: &str = "present it again";

#[tokio::test(flavor = "multi_thread")]
async fn references_that_nobody_knows_displace_none_and_are_kept_in_bounds() {
    let shop = Shop::start().await;
    let test = resting(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    let charge = requested(&service, &member, "PG").await;
    // Paid, and the gateway does not know it yet.
    let early = paid_at_bootpay(&shop, order(&charge)).await;
    shop.behave(json!({ "gateway": "bootpay", "operation": "lookup", "status": 404 })).await;
    let payload = verify(&service, "verify", order(&charge), &early).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("CHARGE_NOT_PAID")));
    assert!(!payload.to_string().contains(NOT_KEPT), "{payload:#}");
    let message = filled_with_junk(&test, &charge).await;
    assert!(message.contains(NOT_KEPT), "{message}");
    assert_eq!(references(&test, &charge).await, ["CHARGE_NOT_PAID t"; 20]);
    // An honest client's retry of what is kept is as good as before.
    let payload = verify(&service, "verify", order(&charge), "guess-0").await;
    assert!(!payload.to_string().contains(NOT_KEPT), "{payload:#}");
    let reconciler = looking(&shop).start_beside(&test).await;
    test.db.run("UPDATE charge_reference SET next_check_at = now()").await;
    is_complete(&test, &charge).await;
    assert_eq!(taken(&shop, &charge).await, 11_000);
    reconciler.stop().await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_gateway_knows_is_completed_or_kept_although_the_charge_has_its_fill() {
    let shop = Shop::start().await;
    let test = resting(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    let full = async || {
        let charge = requested(&service, &member, "PG").await;
        filled_with_junk(&test, &charge).await;
        charge
    };
    let sale = |charge: &Value, status: &str| json!({ "gateway": "bootpay", "orderId": order(charge), "amount": 11_000, "status": status });
    // Paid, or to be approved: at once.
    for status in ["paid", "unapproved"] {
        let charge = full().await;
        let receipt = shop.buy(sale(&charge, status)).await;
        for replayed in [false, true] {
            let payload = verify(&service, "verify", order(&charge), &receipt).await;
            assert_eq!(ended(&payload), (Some("COMPLETE"), replayed, None), "{status}: {payload:#}");
        }
    }
    // Pending: kept.
    let charge = full().await;
    let pending = shop.buy(sale(&charge, "pending")).await;
    let payload = verify(&service, "verify", order(&charge), &pending).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("PURCHASE_PENDING")));
    assert_eq!(references(&test, &charge).await.last().unwrap(), "PURCHASE_PENDING t");
    // Approved, and nobody hears of it: kept before the money moves.
    let charge = full().await;
    let approved = shop.buy(sale(&charge, "unapproved")).await;
    shop.behave(json!({ "gateway": "bootpay", "operation": "confirm", "drop": true })).await;
    for effect in [json!({ "effect": true }), json!({ "effect": true }), json!({ "status": 500 })] {
        let mut behaviour = json!({ "gateway": "bootpay", "operation": "lookup" });
        behaviour.as_object_mut().unwrap().extend(effect.as_object().unwrap().clone());
        shop.behave(behaviour).await;
    }
    let payload = verify(&service, "verify", order(&charge), &approved).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("GATEWAY_UNAVAILABLE")), "{payload:#}");
    assert!(!payload.to_string().contains(NOT_KEPT), "{payload:#}");
    assert_eq!(references(&test, &charge).await.last().unwrap(), "GATEWAY_UNAVAILABLE t");
    // Written down before its gateway is asked, should nobody be left to hear the answer.
    let charge = full().await;
    let receipt = shop.buy(sale(&charge, "paid")).await;
    shop.behave(json!({ "gateway": "bootpay", "operation": "lookup", "delayMs": 2000 })).await;
    let (actor, order_id, presented) = (test.service(), order(&charge).to_owned(), receipt.clone());
    let verifying = tokio::spawn(async move { verify(&actor, "verify", &order_id, &presented).await });
    let stored = format!("charge_reference WHERE reference = '{receipt}' AND next_check_at IS NOT NULL");
    eventually("it is stored", async || (test.db.count(&stored).await == 1).then_some(())).await;
    assert_eq!(ended(&verifying.await.unwrap()).0, Some("COMPLETE"));
    // No answer: nobody can tell it from junk, and the client is told what to do.
    let charge = full().await;
    let receipt = shop.buy(sale(&charge, "paid")).await;
    shop.behave(json!({ "gateway": "bootpay", "operation": "lookup", "status": 500 })).await;
    let payload = verify(&service, "verify", order(&charge), &receipt).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("GATEWAY_UNAVAILABLE")));
    assert!(payload.to_string().contains(NOT_KEPT), "{payload:#}");
    let payload = verify(&service, "verify", order(&charge), &receipt).await;
    assert_eq!(ended(&payload), (Some("COMPLETE"), false, None));
    // Nor do final answers pile up.
    let charge = requested(&service, &member, "APPLE_IAP").await;
    for number in 0..45 {
        let payload = apple(&service, order(&charge), &format!("a.b.{number}")).await;
        assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("SIGNATURE_INVALID")));
    }
    assert!(references(&test, &charge).await.len() <= 21);
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_presented_many_times_at_once_is_approved_once() {
    let shop = Shop::start().await;
    let test = resting(&shop).start().await;
    let second = resting(&shop).start_beside(&test).await;
    let member = member(&test.service()).await;
    let rounds = 4;
    for _ in 0..rounds {
        let charge = requested(&test.service(), &member, "PG").await;
        let receipt = unapproved(&shop, &charge).await;
        // So that all of them see it unapproved.
        shop.behave(json!({ "gateway": "bootpay", "operation": "lookup", "times": 4, "delayMs": 100 })).await;
        shop.behave(json!({ "gateway": "bootpay", "operation": "confirm", "delayMs": 300 })).await;
        let mut under_way = tokio::task::JoinSet::new();
        for number in 0..4 {
            let actor = if number % 2 == 0 { test.service() } else { second.service() };
            let (order_id, receipt) = (order(&charge).to_owned(), receipt.clone());
            under_way.spawn(async move { verify(&actor, "verify", &order_id, &receipt).await });
        }
        let answers = under_way.join_all().await;
        let codes: Vec<_> = answers.iter().map(|answer| ended(answer).2).collect();
        assert!(codes.contains(&None), "{codes:?}");
        assert!(codes.iter().all(|code| matches!(code, None | Some("PURCHASE_PENDING"))), "{codes:?}");
        let payload = verify(&second.service(), "verify", order(&charge), &receipt).await;
        assert_eq!(ended(&payload), (Some("COMPLETE"), true, None), "{payload:#}");
        assert_eq!(references(&test, &charge).await, ["COMPLETE f"]);
    }
    assert_eq!(shop.calls("bootpay", "confirm").await.len(), rounds);
    // Whoever died meanwhile has it until the lease is over.
    let charge = requested(&test.service(), &member, "PG").await;
    let receipt = unapproved(&shop, &charge).await;
    let lease = |until: &str| {
        format!(
            "UPDATE charge SET approving_reference = '{receipt}', approving_until = now() {until} WHERE order_id = '{}'",
            order(&charge)
        )
    };
    test.db.run(&lease("+ interval '1 minute'")).await;
    let payload = verify(&test.service(), "verify", order(&charge), &receipt).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("PURCHASE_PENDING")), "{payload:#}");
    assert_eq!(shop.calls("bootpay", "confirm").await.len(), rounds);
    test.db.run(&lease("- interval '1 second'")).await;
    let payload = verify(&second.service(), "verify", order(&charge), &receipt).await;
    assert_eq!(ended(&payload), (Some("COMPLETE"), false, None), "{payload:#}");
    assert_eq!(shop.calls("bootpay", "confirm").await.len(), rounds + 1);
    // An approval that came to nothing may be tried again at once.
    let charge = requested(&test.service(), &member, "PG").await;
    let receipt = unapproved(&shop, &charge).await;
    shop.behave(json!({ "gateway": "bootpay", "operation": "confirm", "status": 500 })).await;
    let payload = verify(&test.service(), "verify", order(&charge), &receipt).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("PURCHASE_PENDING")), "{payload:#}");
    let payload = verify(&test.service(), "verify", order(&charge), &receipt).await;
    assert_eq!(ended(&payload), (Some("COMPLETE"), false, None), "{payload:#}");
    books_are_true(&test).await;
    test.stop().await;
    second.stop().await;
}
