use secrecy::SecretString;
use serde_json::{Value, json};

use super::{cipher::Cipher, hash};
use crate::{
    config::HectoField,
    gateways::{
        Mismatch, Notice,
        PaymentGateway::Hecto,
        PurchaseOrder, RefusalReason,
        testing::{Bench, Canned, ORDER, class, hostile, order, paid, silences},
    },
};

const NOTI_ORDER: &str = "CHG202601050002";
const NOTI_HASH: &str = "5ebc67ab0c5095d5e58cec780fb07059dcad8411c86abab40e0471d7c634b1cd";
const WINDOW_HASH: &str = "f4f07b03ba1063f8423d2afb75396bd10fa4b6ab3a273e1aa52a9012908c7d79";

/// The documented order.
fn noti_order() -> PurchaseOrder<'static> {
    PurchaseOrder { order_id: NOTI_ORDER, ..order() }
}

fn secret(text: &str) -> SecretString {
    SecretString::from(text.to_owned())
}

#[test]
fn hashes_and_encryption_are_hectos_own() {
    let cancel = "3c141df77f7fbd4081fdf541ba375cd20eb29f2cc8ed1f58d2bb720536bceed3";
    let cases: [(&[&str], &str); 3] = [
        (&["sim_card_il", "card", NOTI_ORDER, "20260105", "120000", "11000"], WINDOW_HASH),
        (&["0021", "20260105", "120113", "sim_card_il", NOTI_ORDER, "11000"], NOTI_HASH),
        (&["20260106", "093000", "sim_card_il", "CHG202601050002C1", "11000"], cancel),
    ];
    for (fields, expected) in cases {
        assert_eq!(hash(&secret("SIMLICENSEKEY0001"), fields), expected, "{fields:?}");
    }
    let cipher = Cipher::new(&secret("simAes256KeySimAes256KeySimAes25")).unwrap();
    assert_eq!(cipher.encrypt("11000"), "E9rBjIofrpxFjTEZcJEXcQ==");
    assert_eq!(cipher.decrypt("E9rBjIofrpxFjTEZcJEXcQ==").unwrap(), "11000");
    for text in ["", "11000", "E9rBjIofrpxFjTEZcJEXcA==", "E9rBjIofrpxFjTEZ", "한글"] {
        assert_eq!(cipher.decrypt(text), None, "{text}");
    }
    for text in ["", "x", "0123456789abcdef", "한글 이름"] {
        assert_eq!(cipher.decrypt(&cipher.encrypt(text)).unwrap(), text);
    }
    assert!(Cipher::new(&secret("too short")).is_none());
}

#[tokio::test]
async fn the_windows_fields_are_hashed_in_plain_and_sent_encrypted() {
    let bench = Bench::new().await;
    let checkout = bench.purchases.checkout(Hecto, &noti_order()).unwrap();
    for field in [
        ("trdAmt", "E9rBjIofrpxFjTEZcJEXcQ=="),
        ("pktHash", WINDOW_HASH),
        ("trdDt", "20260105"),
        ("trdTm", "120000"),
        ("notiUrl", "https://pay.sim.local/webhooks/hecto"),
    ] {
        assert!(checkout.fields.contains(&(field.0, field.1.to_owned())), "{field:?}");
    }
}

/// The documented notice, with some fields changed or left out.
fn noti(changes: &[(&str, &str)]) -> Vec<u8> {
    let documented = [
        ("outStatCd", "0021"),
        ("trdNo", "SIM_PGCA_0001"),
        ("method", "CA"),
        ("bizType", "B0"),
        ("mchtId", "sim_card_il"),
        ("mchtTrdNo", NOTI_ORDER),
        ("trdDtm", "20260105120113"),
        ("trdAmt", "11000"),
        ("cardApprNo", "00000001"),
        ("pktHash", NOTI_HASH),
    ];
    let changed = |name: &str| changes.iter().find(|(changed, _)| *changed == name).map(|(_, value)| *value);
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (name, value) in documented {
        form.append_pair(name, changed(name).unwrap_or(value));
    }
    form.finish().into_bytes()
}

#[tokio::test]
async fn a_notice_with_the_right_hash_pays_for_its_order() {
    let bench = Bench::new().await;
    let Some(Notice::Paid(purchase)) = bench.purchases.read_hecto(&noti(&[])) else { panic!("not paid") };
    assert_eq!(purchase.transaction_id, "SIM_PGCA_0001");
    assert_eq!(purchase.check(&noti_order()), Ok(()));
    assert_eq!(purchase.check(&order()), Err(Mismatch::Order));
}

#[tokio::test]
async fn a_forged_foreign_or_unreadable_notice_is_refused() {
    let bench = Bench::new().await;
    let refused = |body: &[u8]| match bench.purchases.read_hecto(body) {
        Some(Notice::Refused(refusal)) => refusal.reason,
        other => panic!("not refused: {other:?}"),
    };
    for change in [
        ("pktHash", "00"),
        ("pktHash", ""),
        ("trdAmt", "1"),
        ("trdAmt", "11000.0"),
        ("mchtTrdNo", "CHG202601050003"),
        ("mchtTrdNo", ""),
        ("trdDtm", "20260105120114"),
        ("trdDtm", "2026010512011"),
        ("outStatCd", "0031"),
        ("outStatCd", "00210"),
        ("trdNo", ""),
    ] {
        assert_eq!(refused(&noti(&[change])), RefusalReason::Signature, "{change:?}");
    }
    // The hash has no separators: a digit that moves from the amount to the order id leaves the text as it is.
    let moved = noti(&[("mchtTrdNo", "CHG2026010500021"), ("trdAmt", "1000")]);
    assert!(
        matches!(bench.purchases.read_hecto(&moved), Some(Notice::Paid(purchase)) if purchase.check(&noti_order()).is_err())
    );
    assert_eq!(refused(&noti(&[("mchtId", "other_il")])), RefusalReason::Foreign);
    for body in [&b""[..], b"null", b"{}", b"<html>", b"outStatCd=0021", b"\xFF\xFE=%ZZ&&&"] {
        assert_eq!(refused(body), RefusalReason::Signature);
    }
}

#[tokio::test]
async fn a_cancel_is_never_taken_for_an_approval() {
    let bench = Bench::new().await;
    let Some(Notice::Reversed(reversal)) = bench.purchases.read_hecto(&noti(&[("bizType", "C0")])) else {
        panic!("not reversed")
    };
    assert_eq!((reversal.order_id.as_str(), reversal.transaction_id.as_str()), (NOTI_ORDER, "SIM_PGCA_0001"));
    for kind in ["", "X1", "b0"] {
        let notice = bench.purchases.read_hecto(&noti(&[("bizType", kind)]));
        assert!(matches!(notice, Some(Notice::Nothing { .. })), "{kind}");
    }
}

#[tokio::test]
async fn the_lookup_goes_by_order_and_by_the_presented_transaction() {
    let bench = Bench::new().await;
    assert_eq!(class(&bench.ask(Hecto, None).await.outcome), ("not found", "CA10".to_owned()));
    let number = bench.bought("hecto", json!({})).await;
    for reference in [Some(number.as_str()), None] {
        let asked = bench.ask(Hecto, reference).await;
        assert_eq!(asked.calls.len(), 1);
        let purchase = paid(asked);
        assert_eq!((purchase.transaction_id.as_str(), purchase.check(&order())), (number.as_str(), Ok(())));
    }
    assert_eq!(bench.class(Hecto, "forged-by-the-browser").await.0, "not found");
    let cases = [
        (json!({ "status": "pending" }), ("pending", "0000")),
        (json!({ "status": "declined" }), ("not paid", "0009")),
        (json!({ "status": "cancelled" }), ("cancelled", "0001")),
    ];
    for (purchase, (kind, code)) in cases {
        let number = bench.bought("hecto", purchase.clone()).await;
        assert_eq!(bench.class(Hecto, &number).await, (kind, code.to_owned()), "{purchase}");
    }
    let odd = bench.bought("hecto", json!({ "amount": 10 })).await;
    assert_eq!(paid(bench.ask(Hecto, Some(&odd)).await).check(&order()), Err(Mismatch::Amount));
}

#[tokio::test]
async fn path_version_and_hash_of_the_lookup_are_settings() {
    let bench = Bench::with(|config| {
        config.hecto_lookup_path = "spay/APITrdcheck.do".to_owned();
        config.hecto_lookup_version = "0A19".to_owned();
        config.hecto_lookup_hash.insert(4, HectoField::Method);
    })
    .await;
    let number = bench.bought("hecto", json!({})).await;
    assert_eq!(bench.class(Hecto, &number).await.0, "paid");
}

#[tokio::test]
async fn a_wrong_key_or_field_is_our_mistake_and_not_the_payers() {
    let cases = [("1901", "misconfigured"), ("1902", "misconfigured"), ("1007", "misconfigured")];
    let later = [
        ("CA01", "unknown"),
        ("CA02", "unknown"),
        ("CA04", "unknown"),
        ("9999", "unknown"),
        ("1013", "unknown"),
    ];
    let bench = Bench::new().await;
    let number = bench.bought("hecto", json!({})).await;
    for (code, expected) in cases.into_iter().chain(later) {
        bench.behave("hecto", "lookup", json!({ "code": code })).await;
        assert_eq!(bench.class(Hecto, &number).await, (expected, code.to_owned()));
    }
    let wrong = Bench::with(|config| config.hecto_license_key = Some(secret("another"))).await;
    let number = wrong.bought("hecto", json!({})).await;
    assert_eq!(wrong.class(Hecto, &number).await, ("misconfigured", "1901".to_owned()));
    let wrong = Bench::with(|config| {
        config.hecto_aes_key = Some(secret("anotherKey_anotherKey_anotherKey"));
    })
    .await;
    let number = wrong.bought("hecto", json!({})).await;
    assert_eq!(wrong.class(Hecto, &number).await, ("misconfigured", "1902".to_owned()));
}

#[tokio::test]
async fn an_answer_that_says_nothing_decides_nothing() {
    hostile(Hecto, "T-1", &[], silences()).await;
    let answer = |params: Value, data: Value| {
        let mut all = json!({ "outStatCd": "0021", "outRsltCd": "0000", "mchtId": "sim_card_il" });
        all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
        let mut told = json!({ "trdNo": "T-1", "trdAmt": "E9rBjIofrpxFjTEZcJEXcQ==", "cnclAmt": "0" });
        told.as_object_mut().unwrap().extend(data.as_object().unwrap().clone());
        Canned::Says(200, json!({ "params": all, "data": told }).to_string())
    };
    let none = || json!({});
    let cases = vec![
        (answer(none(), none()), "paid"),
        (answer(none(), json!({ "trdAmt": 11_000 })), "paid"),
        // A rest was paid, which is not what was asked for.
        (answer(none(), json!({ "cnclAmt": "1000" })), "paid"),
        (answer(none(), json!({ "cnclAmt": "11000" })), "cancelled"),
        (answer(none(), json!({ "cnclAmt": "0.00" })), "paid"),
        (answer(none(), json!({ "cnclAmt": " " })), "paid"),
        (answer(none(), json!({ "trdNo": "T-2" })), "not paid"),
        (answer(none(), json!({ "trdNo": null })), "unknown"),
        (answer(none(), json!({ "trdAmt": null })), "unknown"),
        (answer(none(), json!({ "trdAmt": [] })), "unknown"),
        (answer(none(), json!({ "orgMchtTrdNo": "CHG-other" })), "unknown"),
        (answer(json!({ "mchtId": "other_il" }), none()), "unknown"),
        (answer(json!({ "outStatCd": "0031" }), none()), "unknown"),
        (answer(json!({ "outRsltCd": "0007" }), none()), "unknown"),
        (answer(json!({ "outStatCd": null }), none()), "unknown"),
    ];
    hostile(Hecto, "T-1", &[], cases).await;
    assert_eq!(ORDER, order().order_id);
}
