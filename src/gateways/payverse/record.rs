//! A payment in Payverse's words: the body of its notices, and the answer of its lookup.

use serde::Deserialize;

use crate::gateways::{Price, Purchase, dialogue::Scalar};

/// The fields that decide. Those of an approval and of a cancel have names of their own.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    #[serde(rename = "type")]
    kind: Option<String>,
    pub(super) mid: String,
    pub(super) tid: Option<String>,
    pub(super) order_id: String,
    scheme_group: Option<String>,
    request_currency: Option<String>,
    pub(super) request_amount: Scalar,
    result_status: Option<String>,
    pub(super) result_code: Option<String>,
    result_message: Option<String>,
    approval_currency: Option<String>,
    approval_amount: Option<Scalar>,
    approval_day: Option<String>,
    cancel_currency: Option<String>,
    cancel_amount: Option<Scalar>,
    cancel_day: Option<String>,
    pub(super) sign: Option<String>,
}

/// An answer that is no payment.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Problem {
    pub(super) result_code: Option<String>,
    pub(super) result_message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sale,
    Refund,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Success,
    Cancelled,
    Pending,
    Failed,
    Other,
}

impl Record {
    pub(super) fn kind(&self) -> Kind {
        match self.kind.as_deref() {
            Some("Sale") => Kind::Sale,
            Some("Refund") => Kind::Refund,
            _ => Kind::Other,
        }
    }

    pub(super) fn status(&self) -> Status {
        match self.result_status.as_deref() {
            Some("SUCCESS") => Status::Success,
            Some("CANCEL" | "CANCELED" | "CANCELLED") => Status::Cancelled,
            Some("PENDING") => Status::Pending,
            Some("DECLINE" | "DECLINED" | "FAIL" | "FAILED" | "FAILURE") => Status::Failed,
            _ => Status::Other,
        }
    }

    /// The day that the signature is made with. With a moment in its place it would be the checkout's signature, which
    /// the payer has.
    pub(super) fn day(&self) -> Option<&str> {
        let day = match self.kind() {
            Kind::Refund => self.cancel_day.as_deref(),
            Kind::Sale | Kind::Other => self.approval_day.as_deref(),
        };
        day.filter(|day| day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// What it says of the result, for people.
    pub(super) fn told(&self) -> String {
        let word = |text: &Option<String>| text.clone().unwrap_or_else(|| "?".to_owned());
        format!("{} {}: {}", word(&self.kind), word(&self.result_status), word(&self.result_message))
    }

    /// The amount and currency that were moved, where they are those that were asked for. Otherwise both stand side by
    /// side, which agrees with no order.
    pub(super) fn price(&self) -> Price {
        let is_refund = self.kind() == Kind::Refund;
        let (amount, currency) = if is_refund {
            (&self.cancel_amount, &self.cancel_currency)
        } else {
            (&self.approval_amount, &self.approval_currency)
        };
        let asked = Price::told(&self.request_amount.0, self.request_currency.as_deref());
        let moved = Price::told(amount.as_ref().map_or("?", |amount| &amount.0), currency.as_deref());
        // A refund may give back a part.
        let is_same = is_refund
            || moved.amount == asked.amount
            || moved.won().is_some_and(|won| asked.won() == Some(won));
        let amount =
            if is_same { moved.amount } else { format!("{} asked, {} approved", asked.amount, moved.amount) };
        let currency = match (asked.currency, moved.currency) {
            (Some(asked), Some(moved)) if asked != moved => format!("{asked} asked, {moved} approved"),
            (asked, moved) => moved.or(asked).unwrap_or_else(|| "?".to_owned()),
        };
        Price::told(&amount, Some(&currency))
    }

    /// The purchase, if it is one.
    pub(super) fn purchase(&self, transaction_id: String) -> Purchase {
        let method = self.scheme_group.as_deref();
        Purchase::of_order(transaction_id, self.order_id.clone(), self.price(), method)
    }
}
