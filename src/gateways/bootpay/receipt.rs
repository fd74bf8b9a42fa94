//! A receipt in Bootpay's words.

use serde::Deserialize;

use crate::gateways::{Price, Purchase, Refusal, dialogue::Scalar};

/// The fields that decide.
#[derive(Debug, Deserialize)]
pub(super) struct Receipt {
    pub(super) receipt_id: String,
    order_id: Option<String>,
    price: Option<Scalar>,
    cancelled_price: Option<Scalar>,
    currency: Option<String>,
    pub(super) sandbox: Option<bool>,
    status: i64,
    status_locale: Option<String>,
    method: Option<String>,
}

/// Where a payment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Paid,
    AwaitsApproval,
    Pending,
    Cancelled,
    Failed,
    Unclear,
}

impl Receipt {
    /// By the status, and by what was given back: 20 stands for a full and for a partial cancel.
    pub(super) fn stage(&self) -> Stage {
        let given_back = self.cancelled_price.as_ref().is_some_and(|price| !is_zero(&price.0));
        match self.status {
            1 if given_back => Stage::Cancelled,
            1 => Stage::Paid,
            2 => Stage::AwaitsApproval,
            // -30 is being cancelled, which may fail.
            0 | 3 | 5 | -30 => Stage::Pending,
            20 | -3 => Stage::Cancelled,
            -1 | -2 | 11 | 12 | -11 => Stage::Failed,
            // -20 is a cancel that failed: the money may be with us still.
            _ => Stage::Unclear,
        }
    }

    /// The purchase; none without an order and a price.
    pub(super) fn purchase(&self) -> Option<Purchase> {
        let price = Price::told(&self.price.as_ref()?.0, self.currency.as_deref());
        let (receipt_id, order_id) = (self.receipt_id.clone(), self.order_id.clone()?);
        Some(Purchase::of_order(receipt_id, order_id, price, self.method.as_deref()))
    }

    /// The purchase as far as it was not given back; none if all was.
    pub(super) fn rest(&self) -> Option<Purchase> {
        let given_back = self.cancelled_price.as_ref().filter(|_| matches!(self.status, 1 | 20))?;
        let purchase = self.purchase()?;
        let price = purchase.price.as_ref()?.without(&given_back.0)?;
        Some(Purchase { price: Some(price), ..purchase })
    }

    /// What it says of itself, for people.
    pub(super) fn told(&self) -> Refusal {
        let words = self.status_locale.as_deref().unwrap_or("no explanation");
        Refusal::new(&format!("STATUS_{}", self.status), words)
    }
}

fn is_zero(amount: &str) -> bool {
    amount.bytes().all(|byte| byte == b'0' || byte == b'.')
}
