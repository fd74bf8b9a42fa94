//! Refunds: asked for in one transaction, carried out at the provider, recorded in another.

mod carry_out;
mod list;
mod model;
mod request;
mod retry;
mod store;

pub(super) use list::completed_of;
pub use list::{RefundFilter, RefundRows, find_refund, refunds_by_ids, refunds_of};
pub use model::{Refund, RefundSource, RefundStatus, RefundWanted};
pub use request::{RefundAnswer, RefundInput, RefundPaymentError, RefundRequested};
pub use retry::RetryRefundError;
pub(in crate::payments) use store::claim_due;
