use lapin::{
    Channel, Connection,
    options::{BasicConsumeOptions, QueueBindOptions, QueueDeclareOptions},
    types::{FieldTable, ShortString},
};

use super::{Broker, BrokerError, PAYMENT_EVENTS};

/// A durable queue on our events, as another service has it, whose messages are taken and dropped: for demonstrations.
pub struct Subscriber {
    channel: Channel,
    queue: ShortString,
    exchange: ShortString,
    _connection: Connection,
}

impl Broker {
    /// Declares the exchange and a queue bound with `keys`, and takes what arrives.
    pub async fn subscribe(&self, queue: &str, keys: &[&str]) -> Result<Subscriber, BrokerError> {
        let connection = self.connect("paydesk-demo").await?;
        self.declare_exchange(&connection).await?;
        let channel = self.in_time(connection.create_channel()).await?;
        let subscriber = Subscriber {
            channel,
            queue: ShortString::from(self.name(queue)),
            exchange: ShortString::from(self.name(PAYMENT_EVENTS)),
            _connection: connection,
        };
        self.in_time(subscriber.consume()).await?;
        for key in keys {
            subscriber.bind(key).await?;
        }
        Ok(subscriber)
    }
}

impl Subscriber {
    async fn consume(&self) -> Result<(), lapin::Error> {
        let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        self.channel.queue_declare(self.queue.clone(), options, FieldTable::default()).await?;
        let options = BasicConsumeOptions { no_ack: true, ..BasicConsumeOptions::default() };
        let consumer = self
            .channel
            .basic_consume(self.queue.clone(), ShortString::from(""), options, FieldTable::default())
            .await?;
        consumer.set_delegate(|_delivery| async {});
        Ok(())
    }

    /// Has events with this key routed to the queue.
    pub async fn bind(&self, key: &str) -> Result<(), BrokerError> {
        let (queue, exchange) = (self.queue.clone(), self.exchange.clone());
        self.channel
            .queue_bind(
                queue,
                exchange,
                ShortString::from(key),
                QueueBindOptions::default(),
                FieldTable::default(),
            )
            .await
            .map_err(|error| BrokerError::Refused(error.to_string()))
    }

    /// Has events with this key no longer routed to the queue.
    pub async fn unbind(&self, key: &str) -> Result<(), BrokerError> {
        let (queue, exchange) = (self.queue.clone(), self.exchange.clone());
        self.channel
            .queue_unbind(queue, exchange, ShortString::from(key), FieldTable::default())
            .await
            .map_err(|error| BrokerError::Refused(error.to_string()))
    }
}
