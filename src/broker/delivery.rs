use std::time::Duration;

use lapin::{
    Acker,
    options::{BasicAckOptions, BasicRejectOptions},
    types::{AMQPValue, FieldTable},
};
use serde_json::{Map, Value};

/// How long an answer to the broker may take to be written.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A message that was delivered and waits for its answer. Dropped unanswered, it is delivered again when its channel
/// ends; the answer goes to the channel that it came from, and to no other.
#[derive(Debug)]
pub struct Delivery {
    /// The bytes.
    pub body: Vec<u8>,
    /// The AMQP headers, as JSON.
    pub headers: Value,
    /// The AMQP message id.
    pub message_id: Option<String>,
    /// Whether it may have been delivered before.
    pub redelivered: bool,
    acker: Acker,
}

impl Delivery {
    pub(super) fn new(delivery: lapin::message::Delivery) -> Self {
        let properties = delivery.properties;
        Self {
            body: delivery.data,
            headers: properties.headers().as_ref().map_or_else(|| Value::Object(Map::new()), object),
            message_id: properties.message_id().as_ref().map(ToString::to_string),
            redelivered: delivery.redelivered,
            acker: delivery.acker,
        }
    }

    /// It is done with.
    pub async fn ack(self) {
        let answer = self.acker.ack(BasicAckOptions::default());
        told(tokio::time::timeout(ANSWER_TIMEOUT, answer).await);
    }

    /// It goes to the dead-letter exchange; never back into its queue.
    pub async fn reject(self) {
        let answer = self.acker.reject(BasicRejectOptions { requeue: false });
        told(tokio::time::timeout(ANSWER_TIMEOUT, answer).await);
    }
}

/// An answer that does not arrive is no harm: the message comes again, and its inbox row says that it was done.
fn told(answer: Result<Result<bool, lapin::Error>, tokio::time::error::Elapsed>) {
    match answer {
        Ok(Ok(true)) => {}
        Ok(Ok(false)) => tracing::info!("the channel of a message has ended; it will be delivered again"),
        Ok(Err(error)) => tracing::info!(%error, "a message cannot be answered; it will be delivered again"),
        Err(_elapsed) => {
            tracing::warn!("the broker took no answer to a message in time; it will be delivered again");
        }
    }
}

fn object(table: &FieldTable) -> Value {
    let fields = table.inner().iter().map(|(name, value)| (name.to_string(), json(value)));
    Value::Object(fields.collect())
}

/// A header's value; bytes that are not text are shown as far as they are.
fn json(value: &AMQPValue) -> Value {
    match value {
        AMQPValue::Boolean(value) => Value::from(*value),
        AMQPValue::ShortShortInt(value) => Value::from(*value),
        AMQPValue::ShortShortUInt(value) => Value::from(*value),
        AMQPValue::ShortInt(value) => Value::from(*value),
        AMQPValue::ShortUInt(value) => Value::from(*value),
        AMQPValue::LongInt(value) => Value::from(*value),
        AMQPValue::LongUInt(value) => Value::from(*value),
        AMQPValue::LongLongInt(value) => Value::from(*value),
        AMQPValue::Float(value) => Value::from(*value),
        AMQPValue::Double(value) => Value::from(*value),
        AMQPValue::DecimalValue(value) => Value::from(format!("{}e-{}", value.value, value.scale)),
        AMQPValue::ShortString(value) => Value::from(value.as_str()),
        AMQPValue::LongString(value) => Value::from(String::from_utf8_lossy(value.as_bytes()).into_owned()),
        AMQPValue::FieldArray(values) => Value::Array(values.as_slice().iter().map(json).collect()),
        AMQPValue::Timestamp(value) => Value::from(*value),
        AMQPValue::FieldTable(table) => object(table),
        AMQPValue::ByteArray(value) => Value::from(String::from_utf8_lossy(value.as_slice()).into_owned()),
        AMQPValue::Void => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_every_depth_become_json() {
        let mut inner = FieldTable::default();
        inner.insert("count".into(), AMQPValue::LongLongInt(3));
        let mut headers = FieldTable::default();
        headers.insert("traceparent".into(), AMQPValue::LongString("00-1".into()));
        headers.insert("x-death".into(), AMQPValue::FieldArray(vec![AMQPValue::FieldTable(inner)].into()));
        headers.insert("nothing".into(), AMQPValue::Void);
        let expected =
            serde_json::json!({ "traceparent": "00-1", "x-death": [{ "count": 3 }], "nothing": null });
        assert_eq!(object(&headers), expected);
    }
}
