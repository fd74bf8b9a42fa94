//! Clients of the payment gateways, their error classes, and what is kept of each call.
//!
//! A client never decides by HTTP status and never guesses: whatever is not the provider's clear word is *unknown*,
//! and a reconciler asks again later.

mod apple;
mod bootpay;
mod call;
mod dialogue;
mod google;
mod hecto;
mod payverse;
mod purchase;
mod purchase_gateways;
mod refusal;
#[cfg(test)]
mod simulated_tests;
mod store;
#[cfg(test)]
mod testing;
pub mod toss;

pub use call::{CallOutcome, ProviderCall};
pub use purchase::{
    Asked, Checkout, ConsumeOutcome, Mismatch, Notice, PaymentGateway, Price, Purchase, PurchaseOrder,
    PurchaseOutcome, PurchaseRefusal, RefusalReason, Reversal,
};
pub use purchase_gateways::PurchaseGateways;
pub use refusal::Refusal;
pub use store::{RecordedCall, calls_for, record_call};
pub use toss::{
    Approval, Cancel, CancelOutcome, KeyIn, KeyInOutcome, LookupOutcome, ProviderPayment, ProviderState,
    Reference, TossClient,
};
