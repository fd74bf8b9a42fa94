//! Purchases that users make at a gateway themselves, in its window or an app store: what all five gateways are asked
//! ("is this really paid?") and the classes of their answers (domain.md §4).
//!
//! Whoever completes an order acts on [`PurchaseOutcome::Paid`] only, and only after [`Purchase::check`] against the
//! order's row, while that row is still waiting for payment.

#[cfg(test)]
mod tests;

use uuid::Uuid;

use super::{ProviderCall, Refusal, dialogue::is_reference};
use crate::types::{Instant, Won, stored_enum, text::storable};

const MAX_METHOD_BYTES: usize = 100;
/// More packs than any store sells at once.
const MAX_QUANTITY: i32 = 1_000;
/// So much of a secret reference is shown, so that people can tell one from another.
const SHOWN_CHARS: usize = 6;
/// Longest text that is taken for an amount or a currency; two amounts side by side fit in.
const MAX_PRICE_BYTES: usize = 100;

stored_enum! {
    /// A gateway that purchases are made at.
    PaymentGateway {
        /// The generic payment gateway behind `verify`: Bootpay.
        Pg = "PG",
        /// Payverse.
        Payverse = "PAYVERSE",
        /// Hecto Financial.
        Hecto = "HECTO",
        /// Google Play.
        GoogleIap = "GOOGLE_IAP",
        /// Apple's App Store.
        AppleIap = "APPLE_IAP",
    }
}

impl PaymentGateway {
    /// A reference of this gateway as people and logs see it. Google's purchase tokens are secrets, of which the end is
    /// shown: whoever has one can present it.
    pub fn shown(self, reference: &str) -> String {
        if self != Self::GoogleIap {
            return reference.to_owned();
        }
        let hidden = reference.chars().count().saturating_sub(SHOWN_CHARS);
        format!("…{}", reference.chars().skip(hidden.max(1)).collect::<String>())
    }
}

/// An order of ours, as our books have it: what a purchase must agree with.
#[derive(Debug, Clone, Copy)]
pub struct PurchaseOrder<'a> {
    /// Our id of the order.
    pub order_id: &'a str,
    /// What the payer reads in the gateway's window.
    pub title: &'a str,
    /// What it costs.
    pub amount: Won,
    /// In which currency: `KRW`.
    pub currency: &'a str,
    /// The product's name at the app stores.
    pub sku: &'a str,
    /// What the app stores keep with the purchase, so that nobody else's can be presented for this order.
    pub account_token: Uuid,
    /// When it was made, by the database. A window's signed fields carry it, and Hecto is asked by its date.
    pub requested_at: Instant,
}

/// A purchase that was paid, in the gateway's own, authentic words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purchase {
    /// The gateway's id of the transaction, unique at the gateway: one of them completes one order, once and for ever.
    /// Google's is the purchase token.
    pub transaction_id: String,
    /// Our id of the order, where the gateway knows it (not at the app stores).
    pub order_id: Option<String>,
    /// What was paid. None at the app stores: their prices are the storefront's, and the product decides.
    pub price: Option<Price>,
    /// Which product, at the app stores.
    pub sku: Option<String>,
    /// How many of it; 1 where a gateway knows no quantities.
    pub quantity: i32,
    /// The app store's own id of the purchase, which may come under several transaction ids: Google's `orderId`, Apple's
    /// `originalTransactionId`.
    pub store_id: Option<String>,
    /// The account token that the app gave the store, if it gave one.
    pub account: Option<String>,
    /// Whether somebody has consumed it already (Google). We consume after crediting only, so that an order which is
    /// still waiting must not be completed by it.
    pub consumed: bool,
    /// How it was paid, in the gateway's words.
    pub method: Option<String>,
}

/// A price in the gateway's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// The amount as it was written, such as `11000` or `11000.00`.
    pub amount: String,
    /// The currency, where the gateway names it.
    pub currency: Option<String>,
}

/// In what a paid purchase differs from the order it was presented for: somebody paid and gets nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mismatch {
    /// It is for another order.
    Order,
    /// It was made for another account.
    Owner,
    /// It was paid in another currency.
    Currency,
    /// Another amount was paid.
    Amount,
    /// It is another product, or none of it.
    Product,
    /// It was consumed before it could be credited.
    Consumed,
}

impl Mismatch {
    /// The API's code for it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Order | Self::Owner => "OWNER_MISMATCH",
            Self::Currency => "CURRENCY_MISMATCH",
            Self::Amount => "AMOUNT_MISMATCH",
            Self::Product => "PRODUCT_MISMATCH",
            Self::Consumed => "TRANSACTION_ALREADY_USED",
        }
    }
}

impl Purchase {
    /// A payment for one order, at a gateway that knows our order ids.
    pub(super) fn of_order(
        transaction_id: String,
        order_id: String,
        price: Price,
        method: Option<&str>,
    ) -> Self {
        Self {
            transaction_id,
            order_id: Some(order_id),
            price: Some(price),
            sku: None,
            quantity: 1,
            store_id: None,
            account: None,
            consumed: false,
            method: method
                .map(|method| storable(method, MAX_METHOD_BYTES))
                .filter(|method| !method.is_empty()),
        }
    }

    /// A product bought at an app store.
    pub(super) fn of_product(
        transaction_id: String,
        sku: String,
        quantity: Option<i32>,
        account: Option<String>,
        store_id: Option<String>,
    ) -> Self {
        Self {
            transaction_id,
            order_id: None,
            price: None,
            sku: Some(sku),
            quantity: quantity.unwrap_or(1),
            store_id: store_id.filter(|id| is_reference(id)),
            account,
            consumed: false,
            method: None,
        }
    }

    /// Whether it pays for this order. A price that is no whole number of won is another amount.
    pub fn check(&self, order: &PurchaseOrder<'_>) -> Result<(), Mismatch> {
        let token = |account: &String| Uuid::parse_str(account).ok() == Some(order.account_token);
        let currency = |price: &Price| price.currency.as_deref().is_none_or(|told| told == order.currency);
        let checks = [
            (Mismatch::Order, self.order_id.as_deref().is_none_or(|told| told == order.order_id)),
            (Mismatch::Owner, self.account.as_ref().is_none_or(token)),
            (Mismatch::Currency, self.price.as_ref().is_none_or(currency)),
            (Mismatch::Amount, self.price.as_ref().is_none_or(|price| price.won() == Some(order.amount))),
            (Mismatch::Product, self.sku.as_deref().is_none_or(|told| told == order.sku)),
            (Mismatch::Product, (1..=MAX_QUANTITY).contains(&self.quantity)),
            (Mismatch::Consumed, !self.consumed),
        ];
        checks.into_iter().find(|(_, holds)| !holds).map_or(Ok(()), |(mismatch, _)| Err(mismatch))
    }
}

impl Price {
    /// Takes the texts as they are. One that is far too long is none, rather than cut to another amount.
    pub(super) fn told(amount: &str, currency: Option<&str>) -> Self {
        let short = |text: &str| {
            if text.len() <= MAX_PRICE_BYTES { storable(text, MAX_PRICE_BYTES) } else { "?".to_owned() }
        };
        Self { amount: short(amount), currency: currency.map(short) }
    }

    /// Amount and currency, for people.
    pub fn text(&self) -> String {
        let currency = self.currency.iter().flat_map(|currency| [" ", currency.as_str()]);
        std::iter::once(self.amount.as_str()).chain(currency).collect()
    }

    /// The amount in whole won; none for a fraction, and for what we could never have asked for.
    pub fn won(&self) -> Option<Won> {
        let (whole, fraction) = self.amount.split_once('.').unwrap_or((&self.amount, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_whole = digits(whole) && digits(fraction) && fraction.bytes().all(|byte| byte == b'0');
        is_whole.then(|| whole.parse().ok()).flatten().and_then(|won: i64| Won::new(won).ok())
    }
}

/// What a gateway says of a purchase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PurchaseOutcome {
    /// Paid. It still has to agree with the order ([`Purchase::check`]).
    Paid(Purchase),
    /// It will be paid once we approve it, with [`super::PurchaseGateways::approve`]: no money has moved. It has to
    /// agree with the order first ([`Purchase::check`]).
    AwaitsApproval(Purchase),
    /// Not yet paid: `PURCHASE_PENDING`. Ask again later.
    Pending(Refusal),
    /// Cancelled, given back or revoked: `PURCHASE_CANCELED`.
    Cancelled(Refusal),
    /// The gateway's word that it was not paid: `CHARGE_NOT_PAID`.
    NotPaid(Refusal),
    /// The gateway knows of no such payment, or not yet: `CHARGE_NOT_PAID`.
    NotFound(Refusal),
    /// Nothing that we accept, whatever was paid.
    Refused(PurchaseRefusal),
    /// Nobody knows: no answer, or none that can be read. Ask again later.
    Unknown(Refusal),
    /// Our credentials or contract are wrong: `GATEWAY_MISCONFIGURED`. No other purchase will fare better.
    Misconfigured(Refusal),
}

/// Why a purchase is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurchaseRefusal {
    /// The reason.
    pub reason: RefusalReason,
    /// In words; bounded, and without secrets.
    pub message: String,
}

/// The reasons for which a purchase is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalReason {
    /// What was presented is not the gateway's word: unsigned, wrongly signed, changed, or unreadable.
    Signature,
    /// Made in a test environment, where no money moves.
    Sandbox,
    /// Made in another app, or at another merchant's.
    Foreign,
    /// What was presented is of another product than the order's: perhaps somebody paid for that.
    OtherProduct,
    /// Not a product that is bought once and used up.
    NotConsumable,
    /// Shared by a family member, not bought by the one who presents it.
    NotOwned,
    /// Nothing that the gateway can have given out.
    Unusable,
}

impl RefusalReason {
    /// The API's code for it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Signature => "SIGNATURE_INVALID",
            Self::Sandbox => "SANDBOX_REFUSED",
            Self::Foreign | Self::OtherProduct | Self::NotConsumable => "PRODUCT_MISMATCH",
            Self::NotOwned => "OWNER_MISMATCH",
            Self::Unusable => "CHARGE_NOT_PAID",
        }
    }
}

/// An outcome, with the calls that it took. They are written with the transaction that follows.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What the gateway says.
    pub outcome: PurchaseOutcome,
    /// Every call to the gateway, in order; none where what was presented is enough (Apple).
    pub calls: Vec<ProviderCall>,
}

/// What a gateway tells us by itself. Its signature is right, which covers less than what it says: whoever can ask the
/// gateway asks before anything is credited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// An order of ours was paid; its id is in the purchase.
    Paid(Purchase),
    /// Money went back to the payer.
    Reversed(Reversal),
    /// Authentic, and nothing to act on: declined, or waiting. Acknowledge it.
    Nothing {
        /// Which order it is about, if it says so.
        order_id: Option<String>,
        /// What it says.
        message: String,
    },
    /// Not the gateway's word, or not for us: do nothing.
    Refused(PurchaseRefusal),
}

/// Money that went back to the payer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reversal {
    /// Our id of the order, or the cancel's own number.
    pub order_id: String,
    /// The gateway's id of the transaction by which it went back, or of the payment.
    pub transaction_id: String,
    /// The gateway's id of the payment, as far as it is told.
    pub original: String,
    /// How much went back, in the gateway's own words.
    pub price: Price,
}

/// How an attempt to consume a purchase at Google ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConsumeOutcome {
    /// It is consumed, by this call or an earlier one.
    Consumed,
    /// Google says that there is nothing to consume: it is gone, or was never there.
    Refused(Refusal),
    /// Nobody knows: try again.
    Unknown(Refusal),
    /// Our credentials are wrong: trying again helps once they are right.
    Misconfigured(Refusal),
}

/// What a client needs to pay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The window's address, where there is one.
    pub endpoint: Option<String>,
    /// Names and values, signed where the gateway demands it.
    pub fields: Vec<(&'static str, String)>,
}
