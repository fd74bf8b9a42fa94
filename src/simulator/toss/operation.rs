//! The three things one can ask of Toss.

use serde_json::Value;

use super::{
    cancel::Cancellation,
    fault::{Answer, Fault, Language},
    key_in::Charge,
    ledger::{Ledger, Reference},
};
use crate::simulator::behaviours::Plan;

/// A request as it came. Not `Debug`: a key-in's body holds a card.
pub(super) enum Operation {
    KeyIn(Value),
    Cancel { payment_key: String, body: Value },
    Lookup(Reference),
}

/// A request that is well formed.
pub(super) enum Order {
    Charge(Charge),
    Cancel(Cancellation),
    Lookup(Reference),
}

impl Operation {
    /// Its name in `/_control/…`.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::KeyIn(_) => "key-in",
            Self::Cancel { .. } => "cancel",
            Self::Lookup(_) => "lookup",
        }
    }

    /// The code that says no for no particular reason.
    pub(super) fn refusal(&self) -> &'static str {
        match self {
            Self::KeyIn(_) => "REJECT_CARD_PAYMENT",
            Self::Cancel { .. } => "NOT_CANCELABLE_PAYMENT",
            Self::Lookup(_) => "FORBIDDEN_REQUEST",
        }
    }

    /// The order and the amount that it is about, as far as it says so.
    pub(super) fn about(&self, ledger: &Ledger) -> (Option<String>, Option<i64>) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match self {
            Self::KeyIn(body) => {
                (body.get("orderId").and_then(text), body.get("amount").and_then(Value::as_i64))
            }
            Self::Cancel { payment_key, body } => {
                let payment = ledger.find(&Reference::PaymentKey(payment_key.clone()));
                let amount = body.get("cancelAmount").and_then(Value::as_i64);
                (
                    payment.map(|payment| payment.order_id.clone()),
                    amount.or_else(|| payment.map(|payment| payment.balance)),
                )
            }
            Self::Lookup(Reference::OrderId(order_id)) => (Some(order_id.clone()), None),
            Self::Lookup(reference) => (ledger.find(reference).map(|payment| payment.order_id.clone()), None),
        }
    }

    /// Checks the fields, not the books.
    pub(super) fn read(&self) -> Result<Order, Fault> {
        match self {
            Self::KeyIn(body) => Charge::read(body).map(Order::Charge),
            Self::Cancel { payment_key, body } => Cancellation::read(payment_key, body).map(Order::Cancel),
            Self::Lookup(reference) => Ok(Order::Lookup(reference.clone())),
        }
    }
}

impl Order {
    /// What a magic card asks for.
    pub(super) fn magic(&self) -> Option<Plan> {
        match self {
            Self::Charge(charge) => charge.magic(),
            Self::Cancel(_) | Self::Lookup(_) => None,
        }
    }

    /// Does it, in the books.
    pub(super) fn carry_out(&self, ledger: &mut Ledger, language: Language) -> Answer {
        let result = match self {
            Self::Charge(charge) => Ok((ledger.charge(charge).json(language), "APPROVED")),
            Self::Cancel(cancellation) => {
                ledger.cancel(cancellation).map(|payment| (payment.json(language), payment.status.as_str()))
            }
            Self::Lookup(reference) => ledger
                .find(reference)
                .map(|payment| (payment.json(language), "FOUND"))
                .ok_or_else(|| Fault::of("NOT_FOUND_PAYMENT")),
        };
        match result {
            Ok((payment, outcome)) => Answer::new(200, &payment, outcome),
            Err(fault) => fault.answer(language),
        }
    }
}
