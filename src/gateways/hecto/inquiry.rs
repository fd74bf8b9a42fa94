//! Hecto's lookup. Its documents name two paths, versions and orders of the hash, so these are settings.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{DATE, Hecto, noti::SUCCESS};
use crate::{
    config::HectoField,
    gateways::{
        CallOutcome, Price, Purchase, PurchaseOrder, PurchaseOutcome, Refusal,
        dialogue::{Failed, Scalar, is_reference, json as body_of, seoul},
    },
    httpclient::HttpAnswer,
};

/// The lookup's name for cards.
const CARD: &str = "CA";
/// Our hash, encryption or fields are wrong; no order is to blame.
const MISCONFIGURED: [&str; 2] = ["1901", "1902"];
/// The gateway's own word that it has no such transaction.
const NOT_FOUND: &str = "CA10";

#[derive(Deserialize)]
struct Answer {
    params: Params,
    #[serde(default)]
    data: Data,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    out_stat_cd: String,
    out_rslt_cd: String,
    #[serde(default)]
    out_rslt_msg: String,
    mcht_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    org_mcht_trd_no: Option<String>,
    trd_no: Option<String>,
    trd_amt: Option<Scalar>,
    cncl_amt: Option<Scalar>,
    method: Option<String>,
}

/// The request: when it is made, and the payment that it is about.
pub(super) fn request(
    hecto: &Hecto,
    order: &PurchaseOrder<'_>,
    transaction: Option<&str>,
    date: &str,
    time: &str,
) -> Value {
    let amount = order.amount.get().to_string();
    let field = |field: &HectoField| match field {
        HectoField::TrdDt => date,
        HectoField::TrdTm => time,
        HectoField::MchtId => hecto.merchant_id.as_str(),
        HectoField::MchtTrdNo => order.order_id,
        HectoField::Method => CARD,
        HectoField::TrdAmt => amount.as_str(),
    };
    let hashed: Vec<&str> = hecto.lookup_hash.iter().map(field).collect();
    let mut data = json!({
        "pktHash": hecto.hash(&hashed),
        "method": CARD,
        "trdAmt": hecto.cipher.encrypt(&amount),
        "orgTrdDt": seoul(order.requested_at, DATE),
        "orgMchtTrdNo": order.order_id,
    });
    if let (Some(number), Some(data)) = (transaction, data.as_object_mut()) {
        data.insert("orgTrdNo".to_owned(), json!(number));
    }
    json!({
        "params": {
            "mchtId": hecto.merchant_id,
            "ver": hecto.lookup_version,
            "mchtTrdNo": order.order_id,
            "trdDt": date,
            "trdTm": time,
        },
        "data": data,
    })
}

/// What Hecto's books say of the order.
pub(super) fn read(
    hecto: &Hecto,
    order: &PurchaseOrder<'_>,
    answer: &HttpAnswer,
) -> Result<PurchaseOutcome, Failed> {
    if answer.status != 200 {
        return Err(Failed::status(answer));
    }
    let Answer { params, data } = body_of(answer)?;
    let (code, message) = (params.out_rslt_cd.as_str(), params.out_rslt_msg.as_str());
    if params.mcht_id.as_ref().is_some_and(|merchant| *merchant != hecto.merchant_id)
        || data.org_mcht_trd_no.as_ref().is_some_and(|told| told != order.order_id)
    {
        return Err(Failed::unknown(
            "ANSWER_MISMATCH",
            "the answer is not about the order that was asked for",
        ));
    }
    let told = Refusal::new(code, message);
    match (params.out_stat_cd.as_str(), code) {
        (SUCCESS, "0000") => Ok(paid(hecto, order, data)),
        (SUCCESS, "0001") => Ok(PurchaseOutcome::Cancelled(told)),
        (SUCCESS, "0009") => Ok(PurchaseOutcome::NotPaid(told)),
        ("0041" | "0051", _) => Ok(PurchaseOutcome::Pending(told)),
        ("0031", NOT_FOUND) => Err(Failed::new(CallOutcome::NotFound, code, message)),
        ("0031", code) if MISCONFIGURED.contains(&code) || is_missing_field(code) => {
            Err(Failed::new(CallOutcome::Misconfigured, code, message))
        }
        _ => Err(Failed::unknown(code, message)),
    }
}

/// 1001 to 1012: a field of the request is missing.
fn is_missing_field(code: &str) -> bool {
    code.parse().is_ok_and(|number: u16| (1001..=1012).contains(&number))
}

/// Paid, as far as it did not go back. A rest is not what was asked for, and somebody must hear of it.
fn paid(hecto: &Hecto, order: &PurchaseOrder<'_>, data: Data) -> PurchaseOutcome {
    let plain = |amount: &Scalar| hecto.cipher.decrypt(&amount.0).unwrap_or_else(|| amount.0.clone());
    let cancelled = data.cncl_amt.as_ref().map(plain).unwrap_or_default();
    let is_cancelled = cancelled.bytes().any(|digit| matches!(digit, b'1'..=b'9'));
    let price = data.trd_amt.as_ref().map(|amount| Price::told(&plain(amount), None));
    let rest = if is_cancelled { price.and_then(|price| price.without(&cancelled)) } else { price };
    let (Some(transaction_id), Some(price)) = (data.trd_no.filter(|number| is_reference(number)), rest)
    else {
        if is_cancelled {
            let message = format!("{cancelled} won were given back");
            return PurchaseOutcome::Cancelled(Refusal::new("CANCELLED_AMOUNT", &message));
        }
        let message = "the answer says paid, but not how much or under which number";
        return PurchaseOutcome::Unknown(Refusal::new("UNREADABLE_ANSWER", message));
    };
    let order_id = order.order_id.to_owned();
    PurchaseOutcome::Paid(Purchase::of_order(transaction_id, order_id, price, data.method.as_deref()))
}
