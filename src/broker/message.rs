use lapin::{
    BasicProperties,
    types::{AMQPValue, FieldTable, LongString, ShortString},
};
use uuid::Uuid;

/// Largest body that is sent: RabbitMQ's own default limit. A larger one would cost its neighbours the channel.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

const PERSISTENT: u8 = 2;

/// A message ready to be sent, checked against what AMQP can carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// Tells this message's return apart from its neighbours'.
    pub message_id: Uuid,
    /// The exchange.
    pub exchange: ShortString,
    /// The routing key.
    pub routing_key: ShortString,
    /// The AMQP `type`.
    pub event_type: ShortString,
    /// The AMQP `correlation_id`.
    pub correlation_id: ShortString,
    /// W3C trace context, sent as a header.
    pub traceparent: Option<String>,
    /// The body, JSON.
    pub body: Vec<u8>,
}

impl OutgoingMessage {
    /// A text of at most 255 bytes, as AMQP has them; `what` names it in the refusal.
    pub fn short(what: &str, text: &str) -> Result<ShortString, String> {
        ShortString::try_new(text.to_owned())
            .map_err(|_too_long| format!("the {what} is longer than 255 bytes"))
    }

    pub(super) fn properties(&self) -> BasicProperties {
        let properties = BasicProperties::default()
            .with_message_id(ShortString::from(self.message_id.to_string()))
            .with_correlation_id(self.correlation_id.clone())
            .with_type(self.event_type.clone())
            .with_content_type(ShortString::from("application/json"))
            .with_delivery_mode(PERSISTENT);
        match &self.traceparent {
            None => properties,
            Some(traceparent) => {
                let mut headers = FieldTable::default();
                headers.insert(
                    ShortString::from("traceparent"),
                    AMQPValue::LongString(LongString::from(traceparent.as_bytes())),
                );
                properties.with_headers(headers)
            }
        }
    }
}
