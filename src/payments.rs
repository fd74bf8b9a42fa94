//! Payments: taken by key-in at the provider, with the outcome and its event in one transaction.

pub mod consumers;
mod event;
mod key_in;
mod list;
mod model;
mod seat;
mod store;

pub use key_in::{KeyInError, KeyInInput, PaymentAnswer, Payments};
pub use list::{PaymentFilter, PaymentRows, by_ids, count, find, list};
pub use model::{GATEWAY_MISCONFIGURED, Payment, PaymentStatus};
