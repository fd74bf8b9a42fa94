use secrecy::SecretString;
use serde_json::{Value, json};

use super::sign;
use crate::gateways::{
    Mismatch, Notice,
    PaymentGateway::Payverse,
    PurchaseOrder, RefusalReason,
    testing::{Bench, Canned, ORDER, class, hostile, order, paid, silences},
};

const SALE_DAY: &str = "eea54fb36d8c7cf3b3055a9d48287bc5ac352c5d084b7bcc989716799740c51bf51ba3b171266ec111f70d2136b690796cad0689ebd95d602d0f46ec5836c18f";
const REFUND_DAY: &str = "56c74751a2d82526d3d4f56bc587f686cbf7fac1986d6cedff7f536793d65719fc485823f53f65323d71af5f986fe500f8852ab7acd671044c453d85a88229ca";
const REQUEST: &str = "51b75c463cdf063ad2f38814c8dc69190db0a33d2d84f6ce122e0bfa61f9f44823a83e6ea8fc6cbe8de6a1acb19221e33fa2a0452cd8ca5c1d9605054454704c";

#[test]
fn signatures_are_payverses_own() {
    let published = "b56c0324ce84dfce6fffa2c3b2b83cc28e3d0111b2629b6be29eb541b7545947afd81f0aabe762fb06fcdb47101a58f5cc9462a9f15ba3383372d8006708bd0c";
    let cancel = "e7e7903e8a3ad2861712ae2f6eb1dd00cbb8cd8cd1b313e1fe69e1e88dbb90b6ba8c1b41327079efbe2c583c894cf8902519d9372667f180b7822fda99be0fed";
    let ours = "sim_secret_key01";
    let cases: [(&str, &[&str], &str); 5] = [
        ("0123456789123456", &["t_KRW_Test", "TEST_OrderID", "100", "20241018160512"], published),
        (ours, &["SIM_KRW_01", ORDER, "11000", "20260105120000"], REQUEST),
        (ours, &["SIM_KRW_01", ORDER, "11000", "20260105"], SALE_DAY),
        (ours, &["SIM_KRW_01", ORDER, "11000", "20260106"], REFUND_DAY),
        (ours, &["SIM_KRW_01", "11000", "20260106093000"], cancel),
    ];
    for (key, fields, expected) in cases {
        assert_eq!(sign(&SecretString::from(key.to_owned()), fields), expected, "{fields:?}");
    }
}

#[tokio::test]
async fn the_windows_fields_are_signed_and_always_the_same() {
    let bench = Bench::new().await;
    let checkout = bench.purchases.checkout(Payverse, &order()).unwrap();
    assert_eq!(checkout, bench.purchases.checkout(Payverse, &order()).unwrap());
    for field in [
        ("sign", REQUEST),
        ("reqDate", "20260105120000"),
        ("requestAmount", "11000"),
        ("webhookUrl", "https://pay.sim.local/webhooks/payverse"),
    ] {
        assert!(checkout.fields.contains(&(field.0, field.1.to_owned())), "{field:?}");
    }
}

/// The documented sale, changed.
fn sale(change: Value) -> Vec<u8> {
    let mut body = json!({
        "type": "Sale", "mid": "SIM_KRW_01", "tid": "SIMTID20260105000001", "schemeGroup": "CARD",
        "orderId": ORDER, "requestCurrency": "KRW", "requestAmount": "11000", "resultStatus": "SUCCESS",
        "resultCode": "0000", "resultMessage": "OK", "approvalCurrency": "KRW", "approvalAmount": "11000",
        "approvalDay": "20260105", "approvalTime": "120113", "sign": SALE_DAY,
    });
    body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    body.to_string().into_bytes()
}

#[tokio::test]
async fn a_signed_sale_pays_for_its_order() {
    let bench = Bench::new().await;
    for change in [json!({}), json!({ "sign": SALE_DAY.to_uppercase() })] {
        let Some(Notice::Paid(purchase)) = bench.purchases.read_payverse(&sale(change)) else {
            panic!("not paid")
        };
        assert_eq!(purchase.transaction_id, "SIMTID20260105000001");
        assert_eq!(purchase.check(&order()), Ok(()));
    }
}

#[tokio::test]
async fn what_the_signature_leaves_out_is_compared() {
    let bench = Bench::new().await;
    for (change, mismatch) in [
        (json!({ "approvalAmount": "1" }), Mismatch::Amount),
        (json!({ "approvalAmount": 1 }), Mismatch::Amount),
        (json!({ "approvalAmount": null }), Mismatch::Amount),
        (json!({ "approvalCurrency": "USD" }), Mismatch::Currency),
        (json!({ "requestCurrency": "USD" }), Mismatch::Currency),
        (json!({ "requestCurrency": null, "approvalCurrency": null }), Mismatch::Currency),
    ] {
        let Some(Notice::Paid(purchase)) = bench.purchases.read_payverse(&sale(change.clone())) else {
            panic!("not read: {change}")
        };
        assert_eq!(purchase.check(&order()), Err(mismatch), "{change}");
    }
    let cheap = PurchaseOrder { amount: crate::types::Won::new(1).unwrap(), ..order() };
    let Some(Notice::Paid(purchase)) = bench.purchases.read_payverse(&sale(json!({ "approvalAmount": "1" })))
    else {
        panic!("not read")
    };
    assert_eq!(purchase.check(&cheap), Err(Mismatch::Amount), "11000 were asked for");
}

#[tokio::test]
async fn a_forged_foreign_or_unreadable_notice_is_refused() {
    let bench = Bench::new().await;
    let refused = |body: &[u8]| match bench.purchases.read_payverse(body) {
        Some(Notice::Refused(refusal)) => refusal.reason,
        other => panic!("not refused: {other:?}"),
    };
    for change in [
        json!({ "sign": "00" }),
        json!({ "sign": null }),
        json!({ "requestAmount": "11000.0" }),
        json!({ "requestAmount": "1" }),
        json!({ "orderId": "CHG-20260105-0002" }),
        json!({ "approvalDay": "20260106" }),
        json!({ "approvalDay": null }),
        json!({ "tid": null }),
        json!({ "tid": "a b" }),
    ] {
        assert_eq!(refused(&sale(change.clone())), RefusalReason::Signature, "{change}");
    }
    assert_eq!(refused(&sale(json!({ "mid": "SIM_KRW_02" }))), RefusalReason::Foreign);
    for body in [&b""[..], b"null", b"[]", b"{}", b"<html>", b"{\"mid\":\"SIM_KRW_01\"}", b"\xFF\xFE"] {
        assert_eq!(refused(body), RefusalReason::Signature);
    }
}

#[tokio::test]
async fn a_declined_sale_asks_for_nothing_and_a_refund_is_a_reversal() {
    let bench = Bench::new().await;
    let declined = sale(json!({ "resultStatus": "DECLINE", "approvalDay": null, "sign": "x" }));
    assert!(matches!(bench.purchases.read_payverse(&declined), Some(Notice::Nothing { .. })));
    let other = sale(json!({ "type": "Chargeback" }));
    assert!(matches!(bench.purchases.read_payverse(&other), Some(Notice::Nothing { .. })));
    let refund = sale(json!({
        "type": "Refund", "cancelDay": "20260106", "cancelAmount": "5000", "cancelCurrency": "KRW", "sign": REFUND_DAY,
    }));
    let Some(Notice::Reversed(reversal)) = bench.purchases.read_payverse(&refund) else { panic!("none") };
    assert_eq!((reversal.order_id.as_str(), reversal.price.amount.as_str()), (ORDER, "5000"));
    // A sale and a refund of one day have the same signature: the type alone is not believed (see the lookup).
    let turned = sale(json!({ "type": "Refund", "cancelDay": "20260105" }));
    assert!(matches!(bench.purchases.read_payverse(&turned), Some(Notice::Reversed(_))));
}

#[tokio::test]
async fn without_a_lookup_it_cannot_be_asked() {
    let without = Bench::with(|config| config.payverse_lookup_path = "none".to_owned()).await;
    assert!(!without.purchases.knows_order_ids(Payverse));
    assert_eq!(without.class(Payverse, "SIMTID").await, ("pending", "NO_LOOKUP".to_owned()));
}

#[tokio::test]
async fn the_lookup_goes_by_order_and_by_the_presented_transaction() {
    let bench = Bench::new().await;
    let none = bench.ask(Payverse, None).await;
    assert_eq!(class(&none.outcome), ("not found", "9404".to_owned()));
    let tid = bench.bought("payverse", json!({})).await;
    for reference in [Some(tid.as_str()), None] {
        let asked = bench.ask(Payverse, reference).await;
        assert_eq!(asked.calls.len(), 1);
        let purchase = paid(asked);
        assert_eq!((purchase.transaction_id.as_str(), purchase.check(&order())), (tid.as_str(), Ok(())));
    }
    let cases = [
        (json!({ "status": "pending" }), ("pending", "9000")),
        (json!({ "status": "declined" }), ("not paid", "9000")),
        (json!({ "status": "cancelled" }), ("cancelled", "0000")),
        (json!({ "merchant": "SIM_KRW_02" }), ("unknown", "ANSWER_MISMATCH")),
    ];
    for (purchase, (kind, code)) in cases {
        let tid = bench.bought("payverse", purchase.clone()).await;
        assert_eq!(bench.class(Payverse, &tid).await, (kind, code.to_owned()), "{purchase}");
    }
    let other = bench.bought("payverse", json!({ "orderId": "CHG-other" })).await;
    assert_eq!(bench.class(Payverse, &other).await.0, "not found");
    let odd = bench.bought("payverse", json!({ "approvedAmount": "10" })).await;
    assert_eq!(paid(bench.ask(Payverse, Some(&odd)).await).check(&order()), Err(Mismatch::Amount));
}

#[tokio::test]
async fn refused_keys_are_our_mistake_and_not_the_payers() {
    let bench =
        Bench::with(|config| config.payverse_secret_key = Some(SecretString::from("another".to_owned())))
            .await;
    let tid = bench.bought("payverse", json!({})).await;
    assert_eq!(bench.class(Payverse, &tid).await, ("misconfigured", "UNAUTHORIZED".to_owned()));
}

#[tokio::test]
async fn an_answer_that_says_nothing_decides_nothing() {
    hostile(Payverse, "TID-1", &[], silences()).await;
    let record = |change: Value| {
        let mut record: Value = serde_json::from_slice(&sale(json!({ "tid": "TID-1" }))).unwrap();
        record.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        Canned::Says(200, record.to_string())
    };
    let cases = vec![
        (record(json!({})), "paid"),
        (record(json!({ "orderId": "CHG-other" })), "unknown"),
        (record(json!({ "mid": "other" })), "unknown"),
        (record(json!({ "tid": "TID-2" })), "not paid"),
        (record(json!({ "tid": null })), "unknown"),
        (record(json!({ "type": "Other" })), "unknown"),
        (record(json!({ "resultStatus": "HM" })), "unknown"),
        (record(json!({ "requestAmount": { "value": 11_000 } })), "unknown"),
        (Canned::Says(404, r#"{"resultCode":"9404"}"#.to_owned()), "not found"),
        (Canned::Says(401, String::new()), "misconfigured"),
    ];
    hostile(Payverse, "TID-1", &[], cases).await;
}
