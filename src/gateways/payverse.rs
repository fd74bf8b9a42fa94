//! Payverse: its window's signed fields, its notices, and its lookup (gateways.md §2).
//!
//! The signature leaves out what decides (type, `tid`, result, approved amount, currency) and knows days only: a
//! declined notice can be turned into an approved one without breaking it. So a notice is a reason to ask, and is
//! believed by itself only where there is no lookup to ask.

mod record;
#[cfg(test)]
mod tests;

use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use sha2::{Digest, Sha512};

use super::{
    Asked, CallOutcome, Checkout, Notice, PurchaseOrder, PurchaseOutcome, PurchaseRefusal, Refusal,
    RefusalReason, Reversal,
    dialogue::{Dialogue, Failed, hex, is_reference, is_same, json, no_reference, seoul},
};
use crate::{
    config::{PurchaseConfig, given},
    httpclient::{HttpAnswer, HttpClient},
    types::clock,
};

use record::{Kind, Record, Status};

const PROVIDER: &str = "PAYVERSE";
/// The lookup path of who has no lookup.
const NO_LOOKUP: &str = "none";
/// How Payverse writes a moment, in Korean time.
const MOMENT: &str = "%Y%m%d%H%M%S";

/// A client of Payverse as one of its merchants. Cloning shares the connections.
#[derive(Debug, Clone)]
pub(super) struct Payverse {
    http: HttpClient,
    base_url: String,
    mid: String,
    client_key: String,
    secret_key: SecretString,
    lookup_path: Option<String>,
    window_url: String,
    notice_url: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inquiry<'a> {
    req_date: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<&'a str>,
    order_id: &'a str,
    sign: String,
}

impl Payverse {
    /// The client, or none when the gateway is off.
    pub(super) fn new(config: &PurchaseConfig, http: HttpClient) -> Option<Self> {
        let path = config.payverse_lookup_path.trim().trim_start_matches('/');
        let public_url = given(config.public_url.as_ref()).map(|url| url.trim_end_matches('/'));
        Some(Self {
            http,
            base_url: given(config.payverse_url.as_ref())?.trim_end_matches('/').to_owned(),
            mid: given(config.payverse_mid.as_ref())?.to_owned(),
            client_key: given(config.payverse_client_key.as_ref())?.to_owned(),
            secret_key: config.payverse_secret_key.clone()?,
            lookup_path: (path != NO_LOOKUP).then(|| format!("/{path}")),
            window_url: config.payverse_window_url.clone(),
            notice_url: public_url.map(|url| format!("{url}/webhooks/payverse")),
        })
    }

    /// Whether it can be asked at all.
    pub(super) fn has_lookup(&self) -> bool {
        self.lookup_path.is_some()
    }

    /// The window's fields. The signature covers merchant, order, amount and moment.
    pub(super) fn checkout(&self, order: &PurchaseOrder<'_>) -> Checkout {
        let amount = order.amount.get().to_string();
        let moment = seoul(order.requested_at, MOMENT);
        let sign = self.sign(&[&self.mid, order.order_id, &amount, &moment]);
        let mut fields = vec![
            ("mid", self.mid.clone()),
            ("clientKey", self.client_key.clone()),
            ("sign", sign),
            ("orderId", order.order_id.to_owned()),
            ("customerId", order.account_token.to_string()),
            ("productName", order.title.to_owned()),
            ("requestCurrency", order.currency.to_owned()),
            ("requestAmount", amount),
            ("reqDate", moment),
            ("billkeyReq", "N".to_owned()),
        ];
        fields.extend(self.notice_url.clone().map(|url| ("webhookUrl", url)));
        Checkout { endpoint: Some(self.window_url.clone()), fields }
    }

    /// Reads what came to our webhook.
    pub(super) fn notice(&self, body: &[u8]) -> Notice {
        let refused =
            |reason, message: &str| Notice::Refused(PurchaseRefusal { reason, message: message.to_owned() });
        let Ok(record) = serde_json::from_slice::<Record>(body) else {
            return refused(RefusalReason::Signature, "the body is no notice of Payverse's");
        };
        if record.mid != self.mid {
            return refused(RefusalReason::Foreign, "the notice is for another merchant");
        }
        // A declined notice may lack the day that its signature is made with. It asks for nothing.
        if record.status() != Status::Success {
            let message = record.told();
            return Notice::Nothing { order_id: Some(record.order_id), message };
        }
        let signed = record.day().is_some_and(|day| {
            let expected = self.sign(&[&record.mid, &record.order_id, &record.request_amount.0, day]);
            record.sign.as_deref().is_some_and(|sign| is_same(&expected, &sign.to_ascii_lowercase()))
        });
        if !signed {
            return refused(RefusalReason::Signature, "the notice's signature is wrong");
        }
        let Some(transaction_id) = record.tid.clone().filter(|tid| is_reference(tid)) else {
            return refused(RefusalReason::Signature, "the notice has no usable tid");
        };
        match record.kind() {
            Kind::Sale => Notice::Paid(record.purchase(transaction_id)),
            Kind::Refund => {
                let price = record.price();
                let original = transaction_id.clone();
                Notice::Reversed(Reversal { order_id: record.order_id, transaction_id, original, price })
            }
            Kind::Other => Notice::Nothing { message: record.told(), order_id: Some(record.order_id) },
        }
    }

    /// Asks Payverse about an order, by `tid` as well where the client presented one.
    pub(super) async fn ask(&self, order: &PurchaseOrder<'_>, tid: Option<&str>) -> Asked {
        let mut dialogue = Dialogue::new(PROVIDER);
        let Some(path) = &self.lookup_path else {
            let message = "Payverse cannot be asked here; its own notice will tell";
            return dialogue.end(PurchaseOutcome::Pending(Refusal::new("NO_LOOKUP", message)));
        };
        if tid.is_some_and(|tid| !is_reference(tid)) {
            return dialogue.end(no_reference());
        }
        let moment = seoul(clock::now(), MOMENT);
        // A guess like the rest of the lookup, in the manner of the signatures that are known.
        let sign = self.sign(&[&self.mid, order.order_id, &moment]);
        let inquiry = Inquiry { req_date: &moment, tid, order_id: order.order_id, sign };
        let url = format!("{}{path}", self.base_url);
        let headers = [("mid", self.mid.as_str()), ("clientKey", &self.client_key), ("charset", "UTF-8")];
        let body = serde_json::to_vec(&inquiry).unwrap_or_default();
        let request = self.http.post_json(&url, &headers, body);
        let outcome = match dialogue.call("lookup", request, read).await {
            Ok(record) => self.judge(record, order, tid),
            Err(failed) => failed.into(),
        };
        dialogue.end(outcome)
    }

    /// What Payverse's books say, if they speak of the payment that they were asked about.
    fn judge(&self, record: Record, order: &PurchaseOrder<'_>, tid: Option<&str>) -> PurchaseOutcome {
        let told = Refusal::new(record.result_code.as_deref().unwrap_or("NO_CODE"), &record.told());
        let is_ours = record.mid == self.mid && record.order_id == order.order_id;
        if !is_ours {
            let message = "the answer is not about the order that was asked for";
            return PurchaseOutcome::Unknown(Refusal::new("ANSWER_MISMATCH", message));
        }
        match (record.kind(), record.status(), record.tid.clone()) {
            (_, Status::Pending, _) => PurchaseOutcome::Pending(told),
            (_, Status::Failed, _) => PurchaseOutcome::NotPaid(told),
            (_, Status::Cancelled, _) | (Kind::Refund, Status::Success, _) => {
                PurchaseOutcome::Cancelled(told)
            }
            (Kind::Sale, Status::Success, Some(paid)) if is_reference(&paid) => {
                if tid.is_none_or(|tid| tid == paid) {
                    PurchaseOutcome::Paid(record.purchase(paid))
                } else {
                    let message = "the order was paid by another transaction than the presented one";
                    PurchaseOutcome::NotPaid(Refusal::new("OTHER_TRANSACTION", message))
                }
            }
            _ => PurchaseOutcome::Unknown(told),
        }
    }

    /// Lowercase SHA-512 over `||key||field||field||…||`. A plain hash, as Payverse has it.
    fn sign(&self, fields: &[&str]) -> String {
        sign(&self.secret_key, fields)
    }
}

fn sign(secret_key: &SecretString, fields: &[&str]) -> String {
    let key = secret_key.expose_secret().trim();
    hex(&Sha512::digest(format!("||{key}||{}||", fields.join("||"))))
}

/// The lookup's path, fields and errors are a guess ([U]): only what is clear is taken for an answer. A 404 is the
/// gateway's word only in its own words; without them the path is wrong.
fn read(answer: &HttpAnswer) -> Result<Record, Failed> {
    let code = || {
        let body = serde_json::from_slice::<record::Problem>(&answer.body).ok()?;
        Some((body.result_code?, body.result_message.unwrap_or_default()))
    };
    match answer.status {
        200 => json(answer),
        401 | 403 => Err(Failed::new(
            CallOutcome::Misconfigured,
            "UNAUTHORIZED",
            "Payverse refuses our merchant id, client key or signature",
        )),
        404 => Err(code().map_or_else(
            || Failed::status(answer),
            |(code, message)| Failed::new(CallOutcome::NotFound, &code, &message),
        )),
        _ => Err(Failed::status(answer)),
    }
}
