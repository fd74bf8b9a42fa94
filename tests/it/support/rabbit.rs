use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::StreamExt;
use lapin::{
    BasicProperties, Channel, Connection, ConnectionProperties, ExchangeKind,
    options::{
        BasicConsumeOptions, BasicGetOptions, BasicPublishOptions, ConfirmSelectOptions,
        ExchangeDeclareOptions, ExchangeDeleteOptions, QueueBindOptions, QueueDeclareOptions,
        QueueDeleteOptions,
    },
    types::{AMQPValue, FieldTable},
};
use uuid::Uuid;

/// A message as a consumer got it.
#[derive(Debug, Clone)]
pub struct Received {
    pub message_id: String,
    pub event_type: String,
    pub correlation_id: String,
    pub routing_key: String,
    pub delivery_mode: u8,
    pub content_type: String,
    pub body: serde_json::Value,
}

/// The other side of the broker: a queue that collects what is routed to it.
pub struct Rabbit {
    pub channel: Channel,
    connection: Connection,
}

/// A queue and what arrived in it.
pub struct Inbox {
    pub queue: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Rabbit {
    pub async fn connect(url: &str) -> Self {
        let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
        let channel = connection.create_channel().await.unwrap();
        channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
        Self { channel, connection }
    }

    pub async fn declare_exchange(&self, exchange: &str) {
        let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
        self.channel
            .exchange_declare(exchange.into(), ExchangeKind::Topic, options, FieldTable::default())
            .await
            .unwrap();
    }

    pub async fn delete_exchange(&self, exchange: &str) {
        self.channel.exchange_delete(exchange.into(), ExchangeDeleteOptions::default()).await.unwrap();
    }

    pub async fn delete_queue(&self, queue: &str) {
        self.channel.queue_delete(queue.into(), QueueDeleteOptions::default()).await.unwrap();
    }

    /// A durable queue without any arguments, as an operator might have made it.
    pub async fn plain_queue(&self, queue: &str) {
        let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        self.channel.queue_declare(queue.into(), options, FieldTable::default()).await.unwrap();
    }

    /// Sends a persistent message and waits until the broker has it.
    pub async fn publish(&self, exchange: &str, routing_key: &str, body: &[u8]) {
        let mut headers = FieldTable::default();
        headers.insert("x-sender".into(), AMQPValue::LongString("tests".into()));
        let properties = BasicProperties::default().with_delivery_mode(2).with_headers(headers);
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let confirm = self
            .channel
            .basic_publish(exchange.into(), routing_key.into(), options, body, properties)
            .await
            .unwrap()
            .await
            .unwrap();
        assert!(confirm.is_ack() && confirm.take_message().is_none(), "nobody has {routing_key}");
    }

    /// Whether a queue takes this message; a channel of its own bears that the exchange is missing.
    pub async fn is_routed(&self, exchange: &str, routing_key: &str, body: &[u8]) -> bool {
        let channel = self.connection.create_channel().await.unwrap();
        channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let (exchange, key) = (exchange.into(), routing_key.into());
        let published = channel.basic_publish(exchange, key, options, body, BasicProperties::default()).await;
        let Ok(published) = published else { return false };
        published.await.is_ok_and(|confirm| confirm.is_ack() && confirm.take_message().is_none())
    }

    /// Messages in a queue, if it is there.
    pub async fn waiting_if_there(&self, queue: &str) -> Option<u32> {
        let channel = self.connection.create_channel().await.unwrap();
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let queue = channel.queue_declare(queue.into(), options, FieldTable::default()).await.ok()?;
        Some(queue.message_count())
    }

    /// Whether an exchange is there.
    pub async fn has_exchange(&self, exchange: &str) -> bool {
        let channel = self.connection.create_channel().await.unwrap();
        let options = ExchangeDeclareOptions { passive: true, ..ExchangeDeclareOptions::default() };
        channel
            .exchange_declare(exchange.into(), ExchangeKind::Topic, options, FieldTable::default())
            .await
            .is_ok()
    }

    /// Has an exchange be of another kind than ours; false if ours came in between.
    pub async fn replace_exchange(&self, exchange: &str) -> bool {
        self.delete_exchange(exchange).await;
        let channel = self.connection.create_channel().await.unwrap();
        let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
        channel
            .exchange_declare(exchange.into(), ExchangeKind::Fanout, options, FieldTable::default())
            .await
            .is_ok()
    }

    /// The bodies of everything in a queue.
    pub async fn bodies(&self, queue: &str) -> Vec<Vec<u8>> {
        let mut bodies = Vec::new();
        let options = BasicGetOptions { no_ack: true };
        while let Some(message) = self.channel.basic_get(queue.into(), options).await.unwrap() {
            bodies.push(message.delivery.data);
        }
        bodies
    }

    /// Takes a message into hand and dies with it: it is in the queue again, to be delivered once more.
    pub async fn take_and_die(&self, queue: &str) {
        let channel = self.connection.create_channel().await.unwrap();
        let taken = channel.basic_get(queue.into(), BasicGetOptions::default()).await.unwrap();
        assert!(taken.is_some(), "{queue} is empty");
        channel.close(200, "gone".into()).await.unwrap();
    }

    /// Messages in a queue that no consumer has in hand.
    pub async fn waiting(&self, queue: &str) -> u32 {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let queue = self.channel.queue_declare(queue.into(), options, FieldTable::default()).await.unwrap();
        queue.message_count()
    }

    /// A queue bound with `keys`, consumed at once.
    pub async fn inbox(&self, exchange: &str, keys: &[&str]) -> Inbox {
        let queue = format!("test.{}", Uuid::new_v4().simple());
        let options = QueueDeclareOptions { auto_delete: true, ..QueueDeclareOptions::default() };
        self.channel.queue_declare(queue.as_str().into(), options, FieldTable::default()).await.unwrap();
        let inbox = Inbox { queue, received: Arc::default() };
        for key in keys {
            self.bind(&inbox, exchange, key).await;
        }
        let options = BasicConsumeOptions { no_ack: true, ..BasicConsumeOptions::default() };
        let mut consumer = self
            .channel
            .basic_consume(inbox.queue.as_str().into(), "test".into(), options, FieldTable::default())
            .await
            .unwrap();
        let received = Arc::clone(&inbox.received);
        tokio::spawn(async move {
            while let Some(Ok(delivery)) = consumer.next().await {
                received.lock().unwrap().push(Received::new(&delivery));
            }
        });
        inbox
    }

    /// A queue that outlives the broker's restart.
    pub async fn durable_queue(&self, exchange: &str, key: &str) -> String {
        let queue = format!("test.{}", Uuid::new_v4().simple());
        let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        self.channel.queue_declare(queue.as_str().into(), options, FieldTable::default()).await.unwrap();
        let (name, options) = (queue.as_str().into(), QueueBindOptions::default());
        self.channel
            .queue_bind(name, exchange.into(), key.into(), options, FieldTable::default())
            .await
            .unwrap();
        queue
    }

    /// The message ids of everything in a queue.
    pub async fn drain(&self, queue: &str) -> Vec<String> {
        let mut ids = Vec::new();
        let options = BasicGetOptions { no_ack: true };
        while let Some(message) = self.channel.basic_get(queue.into(), options).await.unwrap() {
            ids.push(Received::new(&message.delivery).message_id);
        }
        ids
    }

    pub async fn bind(&self, inbox: &Inbox, exchange: &str, key: &str) {
        self.channel
            .queue_bind(
                inbox.queue.as_str().into(),
                exchange.into(),
                key.into(),
                QueueBindOptions::default(),
                FieldTable::default(),
            )
            .await
            .unwrap();
    }
}

impl Received {
    fn new(delivery: &lapin::message::Delivery) -> Self {
        let text = |value: &Option<lapin::types::ShortString>| {
            value.as_ref().map(ToString::to_string).unwrap_or_default()
        };
        let properties = &delivery.properties;
        Self {
            message_id: text(properties.message_id()),
            event_type: text(properties.kind()),
            correlation_id: text(properties.correlation_id()),
            routing_key: delivery.routing_key.to_string(),
            delivery_mode: properties.delivery_mode().unwrap_or_default(),
            content_type: text(properties.content_type()),
            body: serde_json::from_slice(&delivery.data).unwrap(),
        }
    }
}

impl Inbox {
    pub fn all(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    pub fn len(&self) -> usize {
        self.received.lock().unwrap().len()
    }

    /// How often each message id arrived.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for message in self.received.lock().unwrap().iter() {
            *counts.entry(message.message_id.clone()).or_insert(0) += 1;
        }
        counts
    }

    /// Waits until nothing has arrived for a while: what is not here now will not come.
    pub async fn settled(&self) {
        let mut before = self.len();
        loop {
            tokio::time::sleep(Duration::from_millis(300)).await;
            if self.len() == before {
                return;
            }
            before = self.len();
        }
    }
}
