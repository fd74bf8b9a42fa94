//! Hecto's notices (`noti`): a form, from server to server.

use std::collections::HashMap;

use super::Hecto;
use crate::gateways::{
    Notice, Price, Purchase, PurchaseRefusal, RefusalReason, Reversal,
    dialogue::{is_reference, is_same},
};

/// A result that went well; 0031 failed, 0041 waits, 0051 is under way.
pub(super) const SUCCESS: &str = "0021";
const APPROVAL: &str = "B0";
const CANCEL: &str = "C0";

/// The hash leaves out `trdNo`, `bizType` and `method`; a cancel has the same result code as an approval. So a notice is a
/// reason to ask, and is never believed by itself.
///
/// It also has no separators, so the fields before our order id must have their fixed lengths, lest one field's end be
/// read as the next one's beginning.
pub(super) fn read(hecto: &Hecto, body: &[u8]) -> Notice {
    let form: HashMap<String, String> = form_urlencoded::parse(body).into_owned().collect();
    let field = |name: &str| form.get(name).map_or("", String::as_str);
    let (status, moment, merchant) = (field("outStatCd"), field("trdDtm"), field("mchtId"));
    let (order_id, amount) = (field("mchtTrdNo"), field("trdAmt"));
    if !is_digits(status, 4) || !is_digits(moment, 14) || order_id.is_empty() {
        return refused(RefusalReason::Signature, "the body is no notice of Hecto's");
    }
    if merchant != hecto.merchant_id {
        return refused(RefusalReason::Foreign, "the notice is for another merchant");
    }
    let expected = hecto.hash(&[status, moment, merchant, order_id, amount]);
    if !is_same(&expected, &field("pktHash").to_ascii_lowercase()) {
        return refused(RefusalReason::Signature, "the notice's hash is wrong");
    }
    let transaction = field("trdNo");
    let price = Price::told(amount, None);
    match (field("bizType"), status) {
        (APPROVAL | CANCEL, SUCCESS) if !is_reference(transaction) => {
            refused(RefusalReason::Signature, "the notice has no usable trdNo")
        }
        (APPROVAL, SUCCESS) => {
            let (transaction, order_id) = (transaction.to_owned(), order_id.to_owned());
            Notice::Paid(Purchase::of_order(transaction, order_id, price, Some(field("method"))))
        }
        (CANCEL, SUCCESS) => {
            let original = Some(field("orgTrdNo")).filter(|number| is_reference(number));
            Notice::Reversed(Reversal {
                order_id: order_id.to_owned(),
                transaction_id: transaction.to_owned(),
                original: original.unwrap_or(transaction).to_owned(),
                price,
            })
        }
        (kind, _) => Notice::Nothing {
            order_id: Some(order_id.to_owned()),
            message: format!("bizType {kind}, outStatCd {status}"),
        },
    }
}

fn refused(reason: RefusalReason, message: &str) -> Notice {
    Notice::Refused(PurchaseRefusal { reason, message: message.to_owned() })
}

fn is_digits(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit())
}
