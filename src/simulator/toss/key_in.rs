//! Key-in requests: field rules and magic cards (gateways.md §1.2).

use std::time::Duration;

use serde_json::Value;

use super::fault::Fault;
use crate::{simulator::behaviours::Plan, types::MAX_WON};

const MIN_CARD_AMOUNT: i64 = 100;

const CARD_DECLINED: &str = "4000000000000002";
const CARD_PROVIDER_ERROR: &str = "4000000000000119";
const CARD_ANSWER_LOST: &str = "4000000000000341";
const CARD_SLOW: &str = "4000000000000044";
const SLOW: Duration = Duration::from_secs(5);

/// A well-formed key-in. Not `Debug`: it holds a card number.
pub(super) struct Charge {
    pub(super) amount: i64,
    pub(super) order_id: String,
    pub(super) order_name: String,
    pub(super) installments: i64,
    card_number: String,
}

impl Charge {
    /// Checks every field as Toss does.
    pub(super) fn read(body: &Value) -> Result<Self, Fault> {
        let charge = Self {
            amount: amount(body)?,
            order_id: text(body, "orderId", is_order_id, "INVALID_REQUEST")?,
            order_name: text(body, "orderName", is_order_name, "INVALID_REQUEST")?,
            installments: installments(body)?,
            card_number: text(body, "cardNumber", |value| is_digits(value, 1..=20), "INVALID_CARD_NUMBER")?,
        };
        text(body, "cardExpirationYear", |value| is_digits(value, 2..=2), "INVALID_CARD_EXPIRATION")?;
        text(body, "cardExpirationMonth", is_month, "INVALID_CARD_EXPIRATION")?;
        optional(body, "cardPassword", |value| is_digits(value, 2..=2), "INVALID_CARD_PASSWORD")?;
        optional(body, "customerIdentityNumber", is_identity, "INVALID_BIRTH_DAY_FORMAT")?;
        Ok(charge)
    }

    /// What the demonstration cards do; every other card is approved.
    pub(super) fn magic(&self) -> Option<Plan> {
        match self.card_number.as_str() {
            CARD_DECLINED => Some(Plan::refusal("REJECT_CARD_PAYMENT")),
            CARD_PROVIDER_ERROR => Some(Plan::refusal("PROVIDER_ERROR")),
            CARD_ANSWER_LOST => Some(Plan { drop: true, ..Plan::ORDINARY }),
            CARD_SLOW => Some(Plan { delay: SLOW, ..Plan::ORDINARY }),
            _ => None,
        }
    }

    /// The number as receipts show it: the first eight digits, and three near the end of a long one.
    pub(super) fn masked_number(&self) -> String {
        let last = self.card_number.len().saturating_sub(1);
        let shown = |index: usize| index < 8 || (index >= 12 && index < last);
        let mask = |(index, digit): (usize, char)| if shown(index) { digit } else { '*' };
        self.card_number.chars().enumerate().map(mask).collect()
    }
}

fn amount(body: &Value) -> Result<i64, Fault> {
    match body.get("amount").and_then(Value::as_i64) {
        None => Err(Fault::of("INVALID_REQUEST")),
        Some(amount) if amount < MIN_CARD_AMOUNT => Err(Fault::of("BELOW_MINIMUM_AMOUNT")),
        Some(amount) if amount > MAX_WON => Err(Fault::of("EXCEED_MAX_AMOUNT")),
        Some(amount) => Ok(amount),
    }
}

fn installments(body: &Value) -> Result<i64, Fault> {
    match body.get("cardInstallmentPlan") {
        None | Some(Value::Null) => Ok(0),
        Some(plan) => plan
            .as_i64()
            .filter(|months| *months == 0 || (2..=12).contains(months))
            .ok_or_else(|| Fault::of("INVALID_CARD_INSTALLMENT_PLAN")),
    }
}

fn text(body: &Value, field: &str, holds: impl Fn(&str) -> bool, code: &str) -> Result<String, Fault> {
    let value = body.get(field).and_then(Value::as_str).filter(|value| holds(value));
    value.map(str::to_owned).ok_or_else(|| Fault::of(code))
}

/// A field that only some contracts ask for.
fn optional(body: &Value, field: &str, holds: impl Fn(&str) -> bool, code: &str) -> Result<(), Fault> {
    match body.get(field) {
        None | Some(Value::Null) => Ok(()),
        Some(_) => text(body, field, holds, code).map(drop),
    }
}

fn is_order_id(value: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (6..=64).contains(&value.len()) && value.bytes().all(allowed)
}

fn is_order_name(value: &str) -> bool {
    (1..=100).contains(&value.chars().count())
}

fn is_digits(value: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_month(value: &str) -> bool {
    is_digits(value, 2..=2) && ("01"..="12").contains(&value)
}

fn is_identity(value: &str) -> bool {
    is_digits(value, 6..=6) || is_digits(value, 10..=10)
}
