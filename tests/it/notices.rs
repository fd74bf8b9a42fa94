//! What Payverse and Hecto tell by themselves: a reason to ask, never enough to credit, and never lost.

use futures_util::future::join_all;
use serde_json::{Value, json};
use sha2::{Digest, Sha256, Sha512};

use crate::{
    charges::{alarms, balances, books_are_true},
    purchases::{is_complete, send},
    support::{
        Shop, TestApp, eventually,
        shop::{ended, member, order, requested, verify},
    },
};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A notice of Hecto's with the right hash, some fields changed afterwards.
pub fn noti(order_id: &str, transaction: &str, changes: &[(&str, &str)]) -> String {
    let hashed = ["0021", "20261130190000", "sim_card_il", order_id, "11000", "SIMLICENSEKEY0001"].concat();
    let hash = hex(&Sha256::digest(hashed));
    let fields = [
        ("outStatCd", "0021"),
        ("trdNo", transaction),
        ("method", "CA"),
        ("bizType", "B0"),
        ("mchtId", "sim_card_il"),
        ("mchtTrdNo", order_id),
        ("trdDtm", "20261130190000"),
        ("trdAmt", "11000"),
        ("pktHash", &hash),
    ];
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        let changed = changes.iter().find(|(changed, _)| *changed == name);
        form.append_pair(name, changed.map_or(value, |(_, value)| value));
    }
    let more = changes.iter().filter(|(name, _)| !fields.iter().any(|(known, _)| known == name));
    form.extend_pairs(more);
    form.finish()
}

pub async fn hecto(test: &TestApp, body: &str) -> (u16, String) {
    send(test, "hecto", "application/x-www-form-urlencoded", body).await
}

/// A signed sale or refund of Payverse's, as its books may or may not have it.
async fn payverse(test: &TestApp, kind: &str, order_id: &str, tid: &str) -> (u16, String) {
    let day = "20261130";
    let sign = hex(&Sha512::digest(format!("||sim_secret_key01||SIM_KRW_01||{order_id}||11000||{day}||")));
    let body = json!({
        "type": kind, "mid": "SIM_KRW_01", "tid": tid, "orderId": order_id, "requestCurrency": "KRW",
        "requestAmount": "11000", "resultStatus": "SUCCESS", "approvalCurrency": "KRW", "approvalAmount": "11000",
        "approvalDay": day, "cancelCurrency": "KRW", "cancelAmount": "11000", "cancelDay": day, "sign": sign,
    });
    send(test, "payverse", "application/json", &body.to_string()).await
}

fn taken_in() -> (u16, String) {
    (200, "OK".to_owned())
}

async fn status(test: &TestApp, charge: &Value) -> String {
    test.db
        .value(&format!(
            "SELECT concat_ws(' ', payment_status, gateway_transaction_id) FROM charge WHERE order_id = '{}'",
            order(charge)
        ))
        .await
}

async fn messages(test: &TestApp) -> Vec<String> {
    test.db.values("SELECT message FROM failure WHERE subject_type = 'CHARGE' ORDER BY id").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notice_whose_number_was_altered_credits_the_purchase_that_the_gateway_knows() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "HECTO").await;
    // Nothing is paid yet, whatever the notice says: it is to be sent again.
    assert_eq!(hecto(&test, &noti(order(&charge), "EVIL", &[])).await, (503, "FAIL".to_owned()));
    assert_eq!(status(&test, &charge).await, "REQUEST");
    let paid = shop.buy(json!({ "gateway": "hecto", "orderId": order(&charge), "amount": 11_000 })).await;
    assert_eq!(hecto(&test, &noti(order(&charge), "EVIL", &[])).await, taken_in());
    assert_eq!(status(&test, &charge).await, format!("COMPLETE {paid}"));
    assert_eq!(hecto(&test, &noti(order(&charge), &paid, &[])).await, taken_in());
    let payload = verify(&test.service(), "verifyHecto", order(&charge), &paid).await;
    assert_eq!(ended(&payload), (Some("COMPLETE"), true, None));

    let charge = requested(&test.service(), &member, "PAYVERSE").await;
    assert_eq!(payverse(&test, "Sale", order(&charge), "EVIL").await.0, 503);
    let paid = shop.buy(json!({ "gateway": "payverse", "orderId": order(&charge), "amount": 11_000 })).await;
    assert_eq!(payverse(&test, "Sale", order(&charge), "EVIL").await.0, 200);
    assert_eq!(status(&test, &charge).await, format!("COMPLETE {paid}"));
    assert_eq!(alarms(&test).await, Vec::<String>::new());
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notice_that_cannot_be_confirmed_now_is_to_be_sent_again() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "HECTO").await;
    let paid = shop.buy(json!({ "gateway": "hecto", "orderId": order(&charge), "amount": 11_000 })).await;
    shop.behave(json!({ "gateway": "hecto", "operation": "lookup", "times": 2, "status": 500 })).await;
    assert_eq!(hecto(&test, &noti(order(&charge), &paid, &[])).await, (503, "FAIL".to_owned()));
    assert_eq!(status(&test, &charge).await, "REQUEST");
    let open = format!("charge_reference WHERE reference = '{paid}' AND next_check_at IS NOT NULL");
    assert_eq!(test.db.count(&open).await, 1, "and is asked about by ourselves");
    assert_eq!(hecto(&test, &noti(order(&charge), &paid, &[])).await, taken_in());
    is_complete(&test, &charge).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_went_back_is_not_credited_by_a_late_or_turned_notice() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    let member = member(&test.service()).await;
    // The gateway's books say so.
    let charge = requested(&test.service(), &member, "HECTO").await;
    let sale =
        json!({ "gateway": "hecto", "orderId": order(&charge), "amount": 11_000, "status": "cancelled" });
    let gone = shop.buy(sale).await;
    // C0, with its kind turned into B0, which the hash does not cover.
    assert_eq!(hecto(&test, &noti(order(&charge), &gone, &[])).await, taken_in());
    assert_eq!(status(&test, &charge).await, "REQUEST");
    assert_eq!(alarms(&test).await, Vec::<String>::new());
    // The cancel was told, and the books do not say so yet.
    let charge = requested(&test.service(), &member, "HECTO").await;
    let told = shop.buy(json!({ "gateway": "hecto", "orderId": order(&charge), "amount": 11_000 })).await;
    let cancel = noti(order(&charge), "CANCEL1", &[("bizType", "C0"), ("orgTrdNo", &told)]);
    for _ in 0..2 {
        assert_eq!(hecto(&test, &cancel).await, taken_in());
    }
    assert_eq!(hecto(&test, &noti(order(&charge), &told, &[])).await, taken_in());
    let payload = verify(&test.service(), "verifyHecto", order(&charge), &told).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("PURCHASE_CANCELED")));
    assert_eq!(
        alarms(&test).await,
        ["PURCHASE_REVERSED CRITICAL PURCHASE_REVERSED", "CHARGE_MISMATCH CRITICAL PURCHASE_CANCELED"]
    );
    let messages = messages(&test).await;
    assert!(messages[0].contains("nothing was credited") && !messages[0].contains("stays"), "{messages:?}");
    assert_eq!(balances(&test, &member, "PG").await, (0, 0));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_paid_twice_and_got_one_back_has_paid() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "HECTO").await;
    let sale =
        |status| json!({ "gateway": "hecto", "orderId": order(&charge), "amount": 11_000, "status": status });
    let (gone, paid) = (shop.buy(sale("cancelled")).await, shop.buy(sale("paid")).await);
    let cancel = noti(order(&charge), "CANCEL1", &[("bizType", "C0"), ("orgTrdNo", &gone)]);
    assert_eq!(hecto(&test, &cancel).await, taken_in());
    assert_eq!(hecto(&test, &noti(order(&charge), &paid, &[])).await, taken_in());
    assert_eq!(status(&test, &charge).await, format!("COMPLETE {paid}"));
    assert_eq!(alarms(&test).await, ["PURCHASE_REVERSED CRITICAL PURCHASE_REVERSED"]);
    assert_eq!(balances(&test, &member, "PG").await, (100, 0));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_under_its_own_number_finds_the_charge_by_the_payment() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "HECTO").await;
    let paid = shop.buy(json!({ "gateway": "hecto", "orderId": order(&charge), "amount": 11_000 })).await;
    assert_eq!(hecto(&test, &noti(order(&charge), &paid, &[])).await, taken_in());
    // Two partial cancels, each with a number of its own.
    for number in ["CANCEL1", "CANCEL2", "CANCEL2"] {
        let cancel = noti("CANCELORDER", number, &[("bizType", "C0"), ("orgTrdNo", &paid)]);
        assert_eq!(hecto(&test, &cancel).await, taken_in());
    }
    assert_eq!(alarms(&test).await, ["PURCHASE_REVERSED CRITICAL PURCHASE_REVERSED"; 2]);
    assert!(messages(&test).await[0].contains("the can stays with the member"));
    // Nor is it the word on a charge of another gateway.
    let other = requested(&test.service(), &member, "PAYVERSE").await;
    let cancel = noti(order(&other), "CANCEL3", &[("bizType", "C0"), ("orgTrdNo", "nobodys")]);
    assert_eq!(hecto(&test, &cancel).await, (404, "FAIL".to_owned()));
    assert_eq!(test.db.count("charge_reference WHERE reversed_at IS NOT NULL").await, 1);
    assert_eq!(balances(&test, &member, "PG").await, (100, 0));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_lookup_what_was_told_reversed_is_not_credited_either() {
    let shop = Shop::start().await;
    let test = TestApp::builder()
        .shop(&shop)
        .set("payverse-lookup-path", "none")
        .set("workers", false)
        .start()
        .await;
    let member = member(&test.service()).await;
    let (honest, reversed) = (
        requested(&test.service(), &member, "PAYVERSE").await,
        requested(&test.service(), &member, "PAYVERSE").await,
    );
    assert_eq!(payverse(&test, "Sale", order(&honest), "T1").await.0, 200);
    assert_eq!(status(&test, &honest).await, "COMPLETE T1");
    assert_eq!(payverse(&test, "Refund", order(&reversed), "T2").await.0, 200);
    assert_eq!(payverse(&test, "Sale", order(&reversed), "T2").await.0, 200);
    assert_eq!(status(&test, &reversed).await, "REQUEST");
    assert_eq!(balances(&test, &member, "PG").await, (100, 0));
    // Two numbers for one order: neither is called the false one.
    assert_eq!(payverse(&test, "Sale", order(&honest), "T3").await.0, 200);
    let messages = messages(&test).await;
    assert!(messages.last().unwrap().contains("look both up"), "{messages:?}");
    // What has paid one order pays no other.
    let other = requested(&test.service(), &member, "PAYVERSE").await;
    assert_eq!(payverse(&test, "Sale", order(&other), "T1").await.0, 200);
    assert_eq!(status(&test, &other).await, "REQUEST");
    let told = alarms(&test).await;
    assert_eq!(told.last().unwrap(), "CHARGE_MISMATCH CRITICAL TRANSACTION_ALREADY_USED");
    assert_eq!(balances(&test, &member, "PG").await, (100, 0));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_paid_for_what_we_cannot_credit_is_told() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    let member = member(&test.service()).await;
    // An order of nobody's: to be sent again, and told once, also of many notices at once.
    let unknown = noti("CHGnobody", "T1", &[]);
    for answer in join_all((0..8).map(|_| hecto(&test, &unknown))).await {
        assert_eq!(answer, (404, "FAIL".to_owned()));
    }
    // A charge of another gateway: not believed until Hecto says so.
    let other = requested(&test.service(), &member, "PG").await;
    assert_eq!(hecto(&test, &noti(order(&other), "T2", &[])).await, (503, "FAIL".to_owned()));
    let paid = shop.buy(json!({ "gateway": "hecto", "orderId": order(&other), "amount": 11_000 })).await;
    for _ in 0..2 {
        assert_eq!(hecto(&test, &noti(order(&other), &paid, &[])).await, taken_in());
    }
    // A transaction that has paid another charge.
    let (first, second) = (
        requested(&test.service(), &member, "HECTO").await,
        requested(&test.service(), &member, "HECTO").await,
    );
    let used = shop.buy(json!({ "gateway": "hecto", "orderId": order(&first), "amount": 11_000 })).await;
    assert_eq!(hecto(&test, &noti(order(&first), &used, &[])).await, taken_in());
    shop.buy(json!({ "gateway": "hecto", "transactionId": used, "orderId": order(&second) })).await;
    assert_eq!(hecto(&test, &noti(order(&second), &used, &[])).await, taken_in());
    assert_eq!(
        alarms(&test).await,
        ["UNKNOWN_ORDER", "GATEWAY_MISMATCH", "TRANSACTION_ALREADY_USED"]
            .map(|code| format!("CHARGE_MISMATCH CRITICAL {code}"))
    );
    assert_eq!(test.db.count("charge WHERE payment_status = 'COMPLETE'").await, 1);
    let query = "{ failures(filter: { code: [\"UNKNOWN_ORDER\"] }) { nodes { subjectId message subject { __typename } } } }";
    let data = eventually("the feed has it", async || {
        let data = test.operator().data(query, json!({})).await;
        data["failures"]["nodes"].as_array().is_some_and(|nodes| nodes.len() == 1).then_some(data)
    })
    .await;
    let told = &data["failures"]["nodes"][0];
    assert_eq!((&told["subjectId"], &told["subject"]), (&json!("CHGnobody"), &Value::Null));
    test.stop().await;
}
