use std::time::Duration;

use futures_util::{StreamExt, stream::FuturesUnordered};
use lapin::{
    Channel, Connection, Consumer,
    options::{BasicCancelOptions, BasicConsumeOptions, BasicQosOptions},
    types::{FieldTable, ShortString},
};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    Broker, BrokerError, Delivery, InboundQueue,
    connection::{RECONNECT_BASE, jittered},
    topology::TopologyError,
};
use crate::types::Backoff;

/// The library tells an ended channel by ending the stream; this look is behind it in case that is missed.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// The wait before a queue that is declared otherwise is tried again: somebody may have put it right.
const MISDECLARED_WAIT: Duration = Duration::from_secs(10);

/// How the consumption of a queue stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConsumerState {
    /// Not yet.
    Connecting,
    /// Messages are taken.
    Consuming,
    /// The queue is declared otherwise: a person must act. The text names queue and argument.
    Misdeclared(String),
    /// Connection, channel or queue was lost, or cannot be had; it is tried again.
    Lost(String),
}

/// How a consumer came to its end.
enum End {
    Stopped,
    Misdeclared(String),
    Lost(String),
}

impl From<TopologyError> for End {
    fn from(error: TopologyError) -> Self {
        match error {
            TopologyError::Refused(text) => Self::Misdeclared(text),
            TopologyError::Lost(error) => Self::Lost(error),
        }
    }
}

impl From<BrokerError> for End {
    fn from(error: BrokerError) -> Self {
        Self::Lost(error.to_string())
    }
}

impl Broker {
    /// Consumes a queue on a connection of its own until `stop`: a deleted queue, a cancelled consumer, a closed channel
    /// and a lost connection each end in consuming anew. `handle` starts the work on a message, which answers it.
    pub async fn consume(
        &self,
        queue: InboundQueue,
        prefetch: u16,
        state: &watch::Sender<ConsumerState>,
        stop: &CancellationToken,
        handle: impl Fn(Delivery) -> JoinHandle<()>,
    ) {
        let backoff = Backoff { base: RECONNECT_BASE, cap: self.config.amqp_reconnect_cap };
        let mut attempt = 0_i64;
        loop {
            let end = self.consume_once(queue, prefetch, state, stop, &handle).await;
            if *state.borrow() == ConsumerState::Consuming {
                attempt = 0;
            }
            attempt += 1;
            let wait = match end {
                End::Stopped => return,
                End::Misdeclared(text) => {
                    went(state, queue, ConsumerState::Misdeclared(text));
                    MISDECLARED_WAIT
                }
                End::Lost(error) => {
                    went(state, queue, ConsumerState::Lost(error));
                    jittered(backoff.delay(attempt))
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = stop.cancelled() => return,
            }
        }
    }

    async fn consume_once(
        &self,
        queue: InboundQueue,
        prefetch: u16,
        state: &watch::Sender<ConsumerState>,
        stop: &CancellationToken,
        handle: &impl Fn(Delivery) -> JoinHandle<()>,
    ) -> End {
        let opened = tokio::select! {
            opened = self.open_consumer(queue, prefetch) => opened,
            () = stop.cancelled() => return End::Stopped,
        };
        let (connection, channel, mut consumer) = match opened {
            Ok(opened) => opened,
            Err(end) => return end,
        };
        went(state, queue, ConsumerState::Consuming);
        let mut in_hand = FuturesUnordered::new();
        let mut kept = std::pin::pin!(self.keep_inbound(&connection, queue));
        loop {
            let delivery = tokio::select! {
                delivery = consumer.next() => delivery,
                Some(_done) = in_hand.next() => continue,
                lost = &mut kept => return lost.into(),
                () = tokio::time::sleep(LOOK_AGAIN) => {
                    if connection.status().connected() && channel.status().connected() {
                        continue;
                    }
                    return End::Lost("the channel ended".to_owned());
                }
                () = stop.cancelled() => break,
            };
            match delivery {
                Some(Ok(delivery)) => in_hand.push(handle(Delivery::new(delivery))),
                Some(Err(error)) => return End::Lost(error.to_string()),
                None => return End::Lost("the broker cancelled the consumer".to_owned()),
            }
        }
        // No more messages; those in hand come to their end and are answered before the connection goes.
        let cancelled = channel.basic_cancel(consumer.tag(), BasicCancelOptions::default());
        let _unanswered = tokio::time::timeout(Duration::from_secs(2), cancelled).await;
        while in_hand.next().await.is_some() {}
        let closed = connection.close(200, ShortString::from("bye"));
        let _unanswered = tokio::time::timeout(Duration::from_secs(2), closed).await;
        End::Stopped
    }

    async fn open_consumer(
        &self,
        queue: InboundQueue,
        prefetch: u16,
    ) -> Result<(Connection, Channel, Consumer), End> {
        let connection = self.connect("paydesk-consumer").await?;
        match self.open_consumer_on(&connection, queue, prefetch).await {
            Ok((channel, consumer)) => Ok((connection, channel, consumer)),
            Err(end) => {
                // A broker that answers too late has made a consumer that nobody reads: it would keep its messages for as
                // long as the connection lives.
                let closed = connection.close(200, ShortString::from("bye"));
                let _unanswered = tokio::time::timeout(Duration::from_secs(2), closed).await;
                Err(end)
            }
        }
    }

    async fn open_consumer_on(
        &self,
        connection: &Connection,
        queue: InboundQueue,
        prefetch: u16,
    ) -> Result<(Channel, Consumer), End> {
        self.declare_inbound(connection, queue).await?;
        let channel = self.in_time(connection.create_channel()).await?;
        self.in_time(channel.basic_qos(prefetch, BasicQosOptions::default())).await?;
        let name = ShortString::from(self.name(queue.name));
        let consuming = channel.basic_consume(
            name,
            ShortString::from(""),
            BasicConsumeOptions::default(),
            FieldTable::default(),
        );
        let consumer = self.in_time(consuming).await?;
        Ok((channel, consumer))
    }
}

/// Notes a change, and logs it once, however often it is tried again.
fn went(state: &watch::Sender<ConsumerState>, queue: InboundQueue, new: ConsumerState) {
    state.send_if_modified(|old| {
        let news = std::mem::discriminant(old) != std::mem::discriminant(&new);
        if news {
            match &new {
                ConsumerState::Connecting => {}
                ConsumerState::Consuming => tracing::info!(queue = queue.name, "consuming"),
                ConsumerState::Misdeclared(text) => {
                    tracing::error!(queue = queue.name, "not consumed: {text}");
                }
                ConsumerState::Lost(error) => tracing::warn!(queue = queue.name, %error, "not consuming"),
            }
        }
        let changed = *old != new;
        *old = new;
        changed
    });
}
