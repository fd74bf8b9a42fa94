use serde_json::{Value, json};

use crate::gateways::{
    PaymentGateway::Pg,
    testing::{Bench, Canned, ORDER, hostile, order, paid, silences},
};

const TOKEN: &str = r#"{"access_token":"t","expire_in":1800}"#;

#[tokio::test]
async fn a_paid_receipt_pays_for_its_order() {
    let bench = Bench::new().await;
    let receipt = bench.bought("bootpay", json!({})).await;
    let asked = bench.ask(Pg, Some(&receipt)).await;
    let operations: Vec<_> = asked.calls.iter().map(|call| (call.provider, call.operation)).collect();
    assert_eq!(operations, [("BOOTPAY", "token"), ("BOOTPAY", "lookup")]);
    let purchase = paid(asked);
    assert_eq!(
        (purchase.transaction_id.as_str(), purchase.order_id.as_deref()),
        (receipt.as_str(), Some(ORDER))
    );
    assert_eq!(purchase.check(&order()), Ok(()));
}

#[tokio::test]
async fn each_state_of_a_receipt_has_its_class() {
    let bench = Bench::new().await;
    let cases = [
        (json!({ "status": "pending" }), ("pending", "STATUS_5")),
        (json!({ "status": "declined" }), ("not paid", "STATUS_-2")),
        (json!({ "status": "cancelled" }), ("cancelled", "STATUS_20")),
        (json!({ "sandbox": true }), ("refused", "SANDBOX_REFUSED")),
        (json!({ "sandbox": true, "status": "unapproved" }), ("refused", "SANDBOX_REFUSED")),
    ];
    for (purchase, (class, code)) in cases {
        let receipt = bench.bought("bootpay", purchase.clone()).await;
        assert_eq!(bench.class(Pg, &receipt).await, (class, code.to_owned()), "{purchase}");
    }
    assert_eq!(bench.class(Pg, "nobody-gave-this-out").await, ("not found", "RC_NOT_FOUND".to_owned()));
    assert_eq!(bench.class(Pg, "no reference").await, ("refused", "CHARGE_NOT_PAID".to_owned()));
    let tolerant = Bench::with(|config| config.accept_test_purchases = true).await;
    let receipt = tolerant.bought("bootpay", json!({ "sandbox": true })).await;
    assert_eq!(tolerant.class(Pg, &receipt).await.0, "paid");
}

#[tokio::test]
async fn asking_moves_no_money_and_what_differs_from_the_order_is_not_approved() {
    let bench = Bench::new().await;
    let wrong = [
        json!({ "status": "unapproved", "amount": 100 }),
        json!({ "status": "unapproved", "currency": "USD" }),
        json!({ "status": "unapproved", "orderId": "CHG-other" }),
    ];
    for purchase in wrong {
        let receipt = bench.bought("bootpay", purchase).await;
        assert_eq!(bench.class(Pg, &receipt).await.0, "awaits approval");
        assert_eq!(bench.approve(&receipt).await.0, "awaits approval");
    }
    let receipt = bench.bought("bootpay", json!({ "status": "unapproved" })).await;
    assert_eq!(bench.class(Pg, &receipt).await.0, "awaits approval");
    assert!(bench.books().await.iter().all(|row| row["paid"] == 0), "nothing was approved");
    assert_eq!(bench.approve(&receipt).await.0, "paid");
    assert_eq!(bench.books().await.last().unwrap()["paid"], 11_000);
    assert_eq!(bench.approve(&receipt).await.0, "paid");
    assert_eq!(bench.approve("nobody-gave-this-out").await.0, "not found");
}

#[tokio::test]
async fn two_who_approve_at_once_find_one_payment() {
    let bench = Bench::new().await;
    let receipt = bench.bought("bootpay", json!({ "status": "unapproved" })).await;
    let (first, second) = tokio::join!(bench.approve(&receipt), bench.approve(&receipt));
    assert_eq!((first.0, second.0), ("paid", "paid"));
    let approved =
        bench.calls("bootpay").await.into_iter().filter(|(_, outcome)| outcome == "APPROVED").count();
    assert_eq!(approved, 1);
}

#[tokio::test]
async fn an_approval_whose_answer_is_lost_is_found_on_the_receipt() {
    let bench = Bench::new().await;
    for behaviour in [json!({ "drop": true }), json!({ "status": 500, "effect": true })] {
        let receipt = bench.bought("bootpay", json!({ "status": "unapproved" })).await;
        bench.behave("bootpay", "confirm", behaviour).await;
        assert_eq!(bench.approve(&receipt).await.0, "paid");
    }
    let receipt = bench.bought("bootpay", json!({ "status": "unapproved" })).await;
    bench.behave("bootpay", "confirm", json!({ "status": 500 })).await;
    assert_eq!(bench.approve(&receipt).await, ("pending", "APPROVING".to_owned()));
}

#[tokio::test]
async fn a_token_is_kept_and_replaced_once_when_it_is_refused() {
    let bench = Bench::new().await;
    let receipt = bench.bought("bootpay", json!({})).await;
    bench.ask(Pg, Some(&receipt)).await;
    bench.ask(Pg, Some(&receipt)).await;
    bench.behave("bootpay", "lookup", json!({ "status": 401 })).await;
    assert_eq!(bench.class(Pg, &receipt).await.0, "paid");
    let operations: Vec<_> =
        bench.calls("bootpay").await.into_iter().map(|(operation, _)| operation).collect();
    assert_eq!(operations, ["token", "lookup", "lookup", "lookup", "token", "lookup"]);
    bench.behave("bootpay", "lookup", json!({ "times": 2, "status": 401 })).await;
    assert_eq!(bench.class(Pg, &receipt).await, ("misconfigured", "TOKEN_INVALID".to_owned()));
}

#[tokio::test]
async fn refused_keys_are_our_mistake_and_not_the_payers() {
    let bench = Bench::with(|config| config.bootpay_application_id = Some("another".to_owned())).await;
    let receipt = bench.bought("bootpay", json!({})).await;
    assert_eq!(bench.class(Pg, &receipt).await, ("misconfigured", "APP_KEY_NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn amounts_are_read_in_their_own_digits() {
    let bench = Bench::new().await;
    for (amount, agrees) in [
        (json!("11000"), true),
        (json!(11_000.0), true),
        (json!("11000.00"), true),
        (json!(11_000.5), false),
        (json!("1.1e4"), false),
        (json!(99_999_999_999_999_999_u64), false),
        (json!(-11_000), false),
    ] {
        let receipt = bench.bought("bootpay", json!({ "amount": amount })).await;
        let purchase = paid(bench.ask(Pg, Some(&receipt)).await);
        assert_eq!(purchase.check(&order()).is_ok(), agrees, "{amount}");
    }
}

#[tokio::test]
async fn an_answer_that_says_nothing_decides_nothing() {
    let token = Canned::Says(200, TOKEN.to_owned());
    hostile(Pg, "receipt-1", &[token], silences()).await;
    hostile(Pg, "receipt-1", &[], silences()).await;
    let receipt = |change: Value| {
        let mut receipt =
            json!({ "receipt_id": "receipt-1", "order_id": ORDER, "price": 11_000, "status": 1 });
        receipt.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        Canned::Says(200, receipt.to_string())
    };
    let cases = vec![
        (receipt(json!({})), "paid"),
        (receipt(json!({ "receipt_id": "receipt-2" })), "unknown"),
        (receipt(json!({ "price": null })), "unknown"),
        (receipt(json!({ "price": [11_000] })), "unknown"),
        (receipt(json!({ "order_id": null })), "unknown"),
        (receipt(json!({ "status": "1" })), "unknown"),
        (receipt(json!({ "status": 77 })), "unknown"),
        (receipt(json!({ "status": -20 })), "unknown"),
        (receipt(json!({ "cancelled_price": 1 })), "cancelled"),
        (receipt(json!({ "cancelled_price": 0.0 })), "paid"),
    ];
    hostile(Pg, "receipt-1", &[Canned::Says(200, TOKEN.to_owned())], cases).await;
}

#[tokio::test]
async fn the_checkout_names_order_and_price() {
    let checkout = Bench::new().await.purchases.checkout(Pg, &order()).unwrap();
    assert!(checkout.fields.contains(&("order_id", ORDER.to_owned())));
    assert!(checkout.fields.contains(&("price", "11000".to_owned())));
}
