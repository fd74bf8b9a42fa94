//! The broker's other users: who listens to our events, and who sends us messages.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::StreamExt;
use lapin::{
    BasicProperties, Connection, ConnectionProperties, ExchangeKind,
    options::{
        BasicAckOptions, BasicConsumeOptions, BasicPublishOptions, ConfirmSelectOptions,
        ExchangeDeclareOptions, ExchangeDeleteOptions, QueueBindOptions, QueueDeclareOptions,
        QueueDeleteOptions,
    },
    types::FieldTable,
};

/// Longest wait for the broker while it may be ill.
const PATIENCE: Duration = Duration::from_secs(3);
/// The keys that are listened to.
const KEYS: [&str; 2] = ["payment.#", "chaos.#"];

/// How often each message came for the first time, as the broker sees it, and how often again.
type Received = BTreeMap<String, (usize, usize)>;

/// Listens to our events, and comes back whenever the broker does.
pub struct Listener {
    url: String,
    exchange: String,
    queue: String,
    received: Arc<Mutex<Received>>,
    listening: tokio::task::JoinHandle<()>,
}

/// A channel on a connection of its own, which ends with it.
async fn channel(url: &str) -> Result<(Connection, lapin::Channel), lapin::Error> {
    let connection = Connection::connect(url, ConnectionProperties::default()).await?;
    let channel = connection.create_channel().await?;
    Ok((connection, channel))
}

async fn listen(url: &str, queue: &str, received: &Mutex<Received>) -> Result<(), lapin::Error> {
    let (_connection, channel) = channel(url).await?;
    let options = BasicConsumeOptions::default();
    let mut messages =
        channel.basic_consume(queue.into(), "chaos".into(), options, FieldTable::default()).await?;
    while let Some(message) = messages.next().await {
        let message = message?;
        let id = message.properties.message_id().as_ref().map(ToString::to_string).unwrap_or_default();
        let counts = &mut *received.lock().unwrap();
        let count = counts.entry(id).or_default();
        if message.redelivered {
            count.1 += 1
        } else {
            count.0 += 1
        }
        let acker = message.acker.clone();
        tokio::spawn(async move { acker.ack(BasicAckOptions::default()).await });
    }
    Ok(())
}

impl Listener {
    pub async fn start(url: &str, exchange: &str) -> Self {
        let (queue, received) = (format!("{exchange}.heard"), Arc::new(Mutex::new(Received::new())));
        let (_connection, channel) = channel(url).await.unwrap();
        let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        channel.queue_declare(queue.as_str().into(), options, FieldTable::default()).await.unwrap();
        let listening = {
            let (url, queue, received) = (url.to_owned(), queue.clone(), Arc::clone(&received));
            tokio::spawn(async move {
                loop {
                    let _lost = listen(&url, &queue, &received).await;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            })
        };
        let listener =
            Self { url: url.to_owned(), exchange: exchange.to_owned(), queue, received, listening };
        assert!(listener.bind().await);
        listener
    }

    /// Binds the queue; false if the broker or the exchange is away.
    pub async fn bind(&self) -> bool {
        within_patience(async {
            let (_connection, channel) = channel(&self.url).await?;
            for key in KEYS {
                let (queue, exchange) = (self.queue.as_str().into(), self.exchange.as_str().into());
                let options = QueueBindOptions::default();
                channel.queue_bind(queue, exchange, key.into(), options, FieldTable::default()).await?;
            }
            Ok(())
        })
        .await
    }

    /// Takes the bindings away.
    pub async fn unbind(&self) -> bool {
        within_patience(async {
            let (_connection, channel) = channel(&self.url).await?;
            for key in KEYS {
                let (queue, exchange) = (self.queue.as_str().into(), self.exchange.as_str().into());
                channel.queue_unbind(queue, exchange, key.into(), FieldTable::default()).await?;
            }
            Ok(())
        })
        .await
    }

    pub fn received(&self) -> Received {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn within_patience(work: impl Future<Output = Result<(), lapin::Error>>) -> bool {
    tokio::time::timeout(PATIENCE, work).await.is_ok_and(|done| done.is_ok())
}

/// Sends a persistent message; true once a queue has it.
pub async fn send(url: &str, exchange: &str, routing_key: &str, body: &[u8]) -> bool {
    let sending = async {
        let (_connection, channel) = channel(url).await?;
        channel.confirm_select(ConfirmSelectOptions::default()).await?;
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let properties = BasicProperties::default().with_delivery_mode(2);
        let confirm = channel
            .basic_publish(exchange.into(), routing_key.into(), options, body, properties)
            .await?
            .await?;
        Ok::<_, lapin::Error>(confirm.is_ack() && confirm.take_message().is_none())
    };
    matches!(tokio::time::timeout(PATIENCE, sending).await, Ok(Ok(true)))
}

pub async fn delete_exchange(url: &str, exchange: &str) -> bool {
    within_patience(async {
        let (_connection, channel) = channel(url).await?;
        channel.exchange_delete(exchange.into(), ExchangeDeleteOptions::default()).await
    })
    .await
}

pub async fn delete_queue(url: &str, queue: &str) -> bool {
    within_patience(async {
        let (_connection, channel) = channel(url).await?;
        channel.queue_delete(queue.into(), QueueDeleteOptions::default()).await.map(|_messages| ())
    })
    .await
}

/// Whether the exchange is there.
pub async fn exchange_is_there(url: &str, exchange: &str) -> bool {
    within_patience(async {
        let (_connection, channel) = channel(url).await?;
        let options = ExchangeDeclareOptions { passive: true, ..ExchangeDeclareOptions::default() };
        channel.exchange_declare(exchange.into(), ExchangeKind::Topic, options, FieldTable::default()).await
    })
    .await
}
