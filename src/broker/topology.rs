use lapin::{
    Channel, Connection, ErrorKind, ExchangeKind,
    options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions},
    protocol::{AMQPErrorKind, AMQPSoftError},
    types::{AMQPValue, FieldTable, LongString, ShortString},
};

use super::{Broker, BrokerError};
use crate::config::QueueType;

/// The exchange of the messages that are consumed, without the deployment's prefix.
pub const MEETING_EVENTS: &str = "meeting.events";
/// The exchange of the messages that were rejected, without the deployment's prefix.
pub const DEAD_LETTERS: &str = "payment.dlx";

/// A queue of ours that is consumed. Its dead-letter queue has its name and `.dlq`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InboundQueue {
    /// The name, without the deployment's prefix.
    pub name: &'static str,
    /// What it is bound with.
    pub routing_key: &'static str,
}

/// Why a queue is not there as it must be.
#[derive(Debug)]
pub(super) enum TopologyError {
    /// The broker has it otherwise, or does not let us have it: trying again changes nothing.
    Refused(String),
    /// The connection broke, or somebody deleted a part meanwhile: trying again may help.
    Lost(String),
}

impl From<BrokerError> for TopologyError {
    fn from(error: BrokerError) -> Self {
        Self::Lost(error.to_string())
    }
}

impl Broker {
    /// Keeps what a queue needs there while its messages are consumed: a part that was deleted comes back, before
    /// messages vanish for long. Ends when the broker has a part otherwise, which the text names, or when the queue has no
    /// consumer, not even us: one that is deleted and there again at once may lose its consumers without a word.
    pub(super) async fn keep_inbound(&self, connection: &Connection, queue: InboundQueue) -> TopologyError {
        loop {
            tokio::time::sleep(self.config.amqp_redeclare_interval).await;
            match self.declare_inbound(connection, queue).await {
                Ok(0) => return TopologyError::Lost("the queue has lost its consumers".to_owned()),
                Ok(_consumers) => {}
                Err(refused @ TopologyError::Refused(_)) => return refused,
                // Whoever consumes notices a lost connection; the rest is tried again.
                Err(TopologyError::Lost(error)) => {
                    tracing::debug!(queue = queue.name, error, "the queue was not declared anew");
                }
            }
        }
    }

    /// Declares a queue with all that it needs: its exchange and binding, the dead-letter exchange, queue and binding.
    /// On a channel of its own, which a refusal closes. Tells how many consumers it has.
    pub(super) async fn declare_inbound(
        &self,
        connection: &Connection,
        queue: InboundQueue,
    ) -> Result<u32, TopologyError> {
        let channel = self.in_time(connection.create_channel()).await?;
        let declaring = tokio::time::timeout(self.config.amqp_connect_timeout, self.declare(&channel, queue));
        let consumers = declaring.await.unwrap_or_else(|_elapsed| Err(BrokerError::TimedOut.into()))?;
        self.in_time(channel.close(200, short("declared"))).await?;
        Ok(consumers)
    }

    async fn declare(&self, channel: &Channel, queue: InboundQueue) -> Result<u32, TopologyError> {
        let name = self.name(queue.name);
        let dead_letters = format!("{name}.dlq");
        let (events, dlx) = (self.name(MEETING_EVENTS), self.name(DEAD_LETTERS));
        for exchange in [&events, &dlx] {
            let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
            let declared = channel
                .exchange_declare(short(exchange), ExchangeKind::Topic, options, FieldTable::default())
                .await;
            declared.map_err(|error| refused("exchange", exchange, error))?;
        }
        let kind = self.queue_type();
        let mut arguments = FieldTable::default();
        arguments.insert(short("x-queue-type"), text(kind));
        self.declare_queue(channel, &dead_letters, arguments.clone()).await?;
        bind(channel, &dead_letters, &dlx, &name).await?;
        arguments.insert(short("x-dead-letter-exchange"), text(&dlx));
        arguments.insert(short("x-dead-letter-routing-key"), text(&name));
        let consumers = self.declare_queue(channel, &name, arguments).await?;
        bind(channel, &name, &events, queue.routing_key).await?;
        Ok(consumers)
    }

    async fn declare_queue(
        &self,
        channel: &Channel,
        name: &str,
        arguments: FieldTable,
    ) -> Result<u32, TopologyError> {
        let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        let declared = channel.queue_declare(short(name), options, arguments).await;
        declared.map(|queue| queue.consumer_count()).map_err(|error| refused("queue", name, error))
    }

    fn queue_type(&self) -> &'static str {
        match self.config.amqp_queue_type {
            QueueType::Quorum => "quorum",
            QueueType::Classic => "classic",
        }
    }
}

async fn bind(channel: &Channel, queue: &str, exchange: &str, key: &str) -> Result<(), TopologyError> {
    let options = QueueBindOptions::default();
    let bound =
        channel.queue_bind(short(queue), short(exchange), short(key), options, FieldTable::default()).await;
    bound.map_err(|error| refused("binding of queue", queue, error))
}

/// The broker's text names the argument that differs, such as `inequivalent arg 'x-dead-letter-exchange'`.
fn refused(what: &str, name: &str, error: lapin::Error) -> TopologyError {
    match error.kind() {
        ErrorKind::ProtocolError(amqp) if is_refusal(amqp.kind()) => TopologyError::Refused(format!(
            "the {what} {name} cannot be declared, since the broker has it otherwise or forbids it: {}",
            amqp.get_message()
        )),
        _ => TopologyError::Lost(error.to_string()),
    }
}

/// What is not found was there a moment ago, as we declare it before we need it.
fn is_refusal(kind: &AMQPErrorKind) -> bool {
    matches!(kind, AMQPErrorKind::Soft(soft) if *soft != AMQPSoftError::NOTFOUND)
}

/// A name of at most 255 bytes; a longer one is cut, which the broker then refuses or never finds.
fn short(name: &str) -> ShortString {
    ShortString::try_new(name.to_owned()).unwrap_or_default()
}

fn text(value: &str) -> AMQPValue {
    AMQPValue::LongString(LongString::from(value.as_bytes()))
}
