use std::{collections::HashMap, time::Duration};

use lapin::{
    Channel, Confirmation, ErrorKind,
    message::BasicReturnMessage,
    options::{BasicPublishOptions, ConfirmSelectOptions},
    protocol::AMQPErrorKind,
};
use uuid::Uuid;

use super::OutgoingMessage;

/// A channel in confirm mode that has at most one batch in flight.
pub struct ConfirmChannel {
    channel: Channel,
    /// Keeps a connection of its own alive, where there is one.
    connection: Option<lapin::Connection>,
}

/// What the broker said of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is in every queue that it was routed to.
    Acked,
    /// The broker could not take it.
    Nacked,
    /// No queue wanted it.
    Returned {
        /// The broker's reply code, such as 312.
        code: u16,
        /// The broker's reply text, such as `NO_ROUTE`.
        text: String,
    },
    /// Nobody knows: channel, connection or confirm was lost. It may have been delivered.
    Lost,
}

/// How a batch ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchEnd {
    /// Every confirm came.
    Confirmed,
    /// The confirms did not all come in time.
    TimedOut,
    /// The broker closed the channel, with its reply code and text.
    ChannelClosed {
        /// The AMQP reply code, such as 404.
        code: u16,
        /// The reply text, which names the cause.
        text: String,
    },
    /// The connection was lost.
    ConnectionLost(String),
}

/// What became of a batch.
#[derive(Debug)]
pub struct BatchResult {
    /// One for each message, in the order of sending; all `Lost` unless the batch was confirmed.
    pub verdicts: Vec<Verdict>,
    /// How it ended.
    pub end: BatchEnd,
    /// The channel, if it may be used again.
    pub channel: Option<ConfirmChannel>,
}

impl std::fmt::Debug for ConfirmChannel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("ConfirmChannel").field(&self.channel.id()).finish()
    }
}

impl ConfirmChannel {
    pub(super) async fn open(connection: &lapin::Connection) -> Result<Self, lapin::Error> {
        let channel = connection.create_channel().await?;
        channel.confirm_select(ConfirmSelectOptions::default()).await?;
        Ok(Self { channel, connection: None })
    }

    /// Has the channel keep its connection alive.
    pub(super) fn owning(mut self, connection: lapin::Connection) -> Self {
        self.connection = Some(connection);
        self
    }

    /// Whether the broker still has this channel open, as far as is known.
    pub fn is_open(&self) -> bool {
        self.channel.status().connected()
    }

    /// Sends the messages pipelined and decides on them once *all* confirms are in: the library attaches a
    /// returned message to any confirm in flight, so only the whole batch tells, by message id, which returned.
    /// A channel whose batch was not confirmed is thrown away with it.
    pub async fn send(self, messages: &[OutgoingMessage], timeout: Duration) -> BatchResult {
        let outcome = tokio::time::timeout(timeout, publish(&self.channel, messages)).await;
        let end = match outcome {
            Ok(Ok(confirmations)) => {
                let verdicts = decide(messages, confirmations);
                return BatchResult { verdicts, end: BatchEnd::Confirmed, channel: Some(self) };
            }
            Ok(Err(error)) => classify(&error),
            Err(_elapsed) => BatchEnd::TimedOut,
        };
        self.abandon();
        BatchResult { verdicts: vec![Verdict::Lost; messages.len()], end, channel: None }
    }

    /// Lets go without waiting for the broker, which may not answer.
    fn abandon(self) {
        drop(self.channel);
        drop(self.connection);
    }
}

async fn publish(channel: &Channel, messages: &[OutgoingMessage]) -> Result<Vec<Confirmation>, lapin::Error> {
    let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
    let mut confirms = Vec::with_capacity(messages.len());
    for message in messages {
        let (exchange, routing_key) = (message.exchange.clone(), message.routing_key.clone());
        let confirm = channel
            .basic_publish(exchange, routing_key, options, &message.body, message.properties())
            .await?;
        confirms.push(confirm);
    }
    let mut confirmations = Vec::with_capacity(confirms.len());
    for confirm in confirms {
        confirmations.push(confirm.await?);
    }
    Ok(confirmations)
}

fn decide(messages: &[OutgoingMessage], confirmations: Vec<Confirmation>) -> Vec<Verdict> {
    let mut returned: HashMap<Uuid, BasicReturnMessage> = HashMap::new();
    let mut verdicts = Vec::with_capacity(messages.len());
    for confirmation in confirmations {
        let (verdict, returned_message) = match confirmation {
            Confirmation::Ack(message) => (Verdict::Acked, message),
            Confirmation::Nack(message) => (Verdict::Nacked, message),
            // Confirm mode was selected when the channel was opened, so nobody knows what this means.
            Confirmation::NotRequested => (Verdict::Lost, None),
        };
        verdicts.push(verdict);
        if let Some(message) = returned_message
            && let Some(id) = message_id(&message)
        {
            returned.insert(id, message);
        }
    }
    for (verdict, message) in verdicts.iter_mut().zip(messages) {
        if *verdict == Verdict::Acked
            && let Some(message) = returned.get(&message.message_id)
        {
            *verdict = Verdict::Returned { code: message.reply_code, text: message.reply_text.to_string() };
        }
    }
    verdicts
}

fn message_id(message: &BasicReturnMessage) -> Option<Uuid> {
    message.delivery.properties.message_id().as_ref().and_then(|id| Uuid::parse_str(id.as_str()).ok())
}

fn classify(error: &lapin::Error) -> BatchEnd {
    match error.kind() {
        ErrorKind::ProtocolError(amqp) if matches!(amqp.kind(), AMQPErrorKind::Soft(_)) => {
            BatchEnd::ChannelClosed { code: amqp.get_id(), text: amqp.get_message().to_string() }
        }
        _ => BatchEnd::ConnectionLost(error.to_string()),
    }
}
