//! Cancel requests: field rules, and what the balance allows (gateways.md §1.3).

use serde_json::Value;

use super::{fault::Fault, ledger::Payment, ledger::Status};

const MAX_REASON_CHARS: usize = 200;

/// A well-formed cancel.
pub(super) struct Cancellation {
    pub(super) payment_key: String,
    pub(super) reason: String,
    /// None cancels all that is left.
    amount: Option<i64>,
    /// The balance that the caller believes in; another one stops the cancel.
    expected_balance: Option<i64>,
}

impl Cancellation {
    /// Checks the fields.
    pub(super) fn read(payment_key: &str, body: &Value) -> Result<Self, Fault> {
        let reason = body
            .get("cancelReason")
            .and_then(Value::as_str)
            .filter(|reason| (1..=MAX_REASON_CHARS).contains(&reason.chars().count()))
            .ok_or_else(|| Fault::of("INVALID_REQUEST"))?;
        let amount = whole_number(body, "cancelAmount")?;
        if amount.is_some_and(|amount| amount <= 0) {
            return Err(Fault::of("INVALID_REQUEST"));
        }
        Ok(Self {
            payment_key: payment_key.to_owned(),
            reason: reason.to_owned(),
            amount,
            expected_balance: whole_number(body, "refundableAmount")?,
        })
    }

    /// How much of `payment` goes back. `CANCELED` is only the state after one full cancel; a payment cancelled in
    /// parts stays `PARTIAL_CANCELED` to the end, and then refuses by its balance.
    pub(super) fn amount_of(&self, payment: &Payment) -> Result<i64, Fault> {
        if payment.status == Status::Canceled {
            return Err(Fault::of("ALREADY_CANCELED_PAYMENT"));
        }
        if self.expected_balance.is_some_and(|expected| expected != payment.balance) {
            return Err(Fault::of("NOT_MATCHES_REFUNDABLE_AMOUNT"));
        }
        let amount = self.amount.unwrap_or(payment.balance);
        if amount == 0 || amount > payment.balance {
            return Err(Fault::of("NOT_CANCELABLE_AMOUNT"));
        }
        Ok(amount)
    }
}

fn whole_number(body: &Value, field: &str) -> Result<Option<i64>, Fault> {
    match body.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_i64().map(Some).ok_or_else(|| Fault::of("INVALID_REQUEST")),
    }
}
