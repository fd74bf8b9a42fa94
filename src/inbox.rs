//! Messages from other services: the inbox rows that make a redelivery harmless, the dead letters, and what the broker is
//! answered. What a message *does* is its [`Handler`]'s business.

mod consumer;
mod dead_letter;
mod entry;
mod error;
mod handler;
mod lease;
mod list;
mod message;
mod replay;
mod turns;

pub use consumer::Consumer;
pub use dead_letter::{DeadLetterStatus, ErrorClass, InboundDeadLetter};
pub use entry::{InboxEntry, InboxKey, finish, freeze, lock, name_subject};
pub use error::HandlingError;
pub use handler::{Handler, Inbox, Subscription};
pub use list::{DeadLetterFilter, bodies, body_sizes, by_ids};
pub use message::Message;
pub use replay::ReplayError;
