//! RabbitMQ: the supervised connection, confirm channels, consumers, topology. The only room that knows lapin.

mod confirm;
mod connection;
mod consumer;
mod delivery;
mod message;
mod subscriber;
mod topology;

pub use confirm::{BatchEnd, BatchResult, ConfirmChannel, Verdict};
pub use connection::{Broker, BrokerError, BrokerState};
pub use consumer::ConsumerState;
pub use delivery::Delivery;
pub use message::{MAX_MESSAGE_BYTES, OutgoingMessage};
pub use subscriber::Subscriber;
pub use topology::{DEAD_LETTERS, InboundQueue, MEETING_EVENTS};

/// The exchange of the events that payments publish (interfaces.md, "AMQP"), without the deployment's prefix.
pub const PAYMENT_EVENTS: &str = "payment.events";
