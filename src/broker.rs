//! RabbitMQ: the supervised connection, confirm channels, topology. The only room that knows lapin.

mod confirm;
mod connection;
mod message;
mod subscriber;

pub use confirm::{BatchEnd, BatchResult, ConfirmChannel, Verdict};
pub use connection::{Broker, BrokerError, BrokerState};
pub use message::{MAX_MESSAGE_BYTES, OutgoingMessage};
pub use subscriber::Subscriber;

/// The exchange of the events that payments publish (interfaces.md, "AMQP"), without the deployment's prefix.
pub const PAYMENT_EVENTS: &str = "payment.events";
