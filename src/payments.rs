//! Payments and refunds: taken and given back at the provider, with the outcome and its event in one transaction.
//! What nobody knows is asked about until it is known.

pub mod consumers;
mod event;
mod gauges;
mod key_in;
mod list;
mod model;
mod outcome;
mod reconcile;
mod refund;
mod seat;
mod store;
mod void;
mod wait;

pub use gauges::{Gauge, PaymentGauges};
pub use key_in::{KeyInError, KeyInInput, PaymentAnswer, Payments};
pub use list::{PaymentFilter, PaymentRows, by_ids, find};
pub use model::{GATEWAY_MISCONFIGURED, NOT_APPROVED, Payment, PaymentStatus};
pub use reconcile::{PaymentReconciler, ReconcileError, RefundReconciler};
pub use refund::{
    Refund, RefundAnswer, RefundFilter, RefundInput, RefundPaymentError, RefundRequested, RefundRows,
    RefundSource, RefundStatus, RefundWanted, RetryRefundError, find_refund, refunds_by_ids, refunds_of,
};
pub use wait::{payment_waits_for, refund_waits_for};
