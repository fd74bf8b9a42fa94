use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{Consumer, HandlingError, InboxKey, Message, turns::Turns};
use crate::{
    broker::{Broker, InboundQueue},
    config::ConsumerConfig,
    db::Database,
    types::Backoff,
    workers::Tasks,
};

/// Longest wait between two tries of one message.
const RETRY_CAP: Duration = Duration::from_secs(60);

/// What a handler listens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    /// The worker's fixed name (interfaces.md, "Workers").
    pub worker: &'static str,
    /// The queue.
    pub queue: InboundQueue,
    /// The type of its messages.
    pub event_type: &'static str,
}

/// What the messages of one queue do.
pub trait Handler: Send + Sync + 'static {
    /// What it listens to.
    fn subscription(&self) -> Subscription;

    /// Why its queue cannot be consumed with these settings, if so.
    fn unavailable(&self) -> Option<String> {
        None
    }

    /// Carries a message out, or to its end what an earlier try began: the inbox row under `key` tells how far that came.
    /// Done means acknowledged, also when the business refused. A long one looks at `stop` between its steps.
    fn handle<'a>(
        &'a self,
        message: &'a Message,
        key: InboxKey,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), HandlingError>>;
}

/// Every queue that is consumed, and the dead letters of all.
#[derive(Clone)]
pub struct Inbox {
    pub(super) db: Database,
    pub(super) tasks: Tasks,
    /// How long a dead letter stays taken after its replay's last sign of life.
    pub(super) replay_lease: Duration,
    consumers: Arc<[Arc<Consumer>]>,
}

impl Inbox {
    /// Makes a consumer of each handler; nothing is consumed yet.
    pub fn new(
        db: Database,
        broker: &Arc<Broker>,
        tasks: Tasks,
        config: &ConsumerConfig,
        handlers: Vec<Arc<dyn Handler>>,
    ) -> Self {
        let backoff = Backoff { base: config.consumer_retry_delay, cap: RETRY_CAP };
        let consumer = |handler| {
            Arc::new(Consumer {
                handler,
                db: db.clone(),
                broker: Arc::clone(broker),
                tasks: tasks.clone(),
                turns: Turns::default(),
                prefetch: config.consumer_prefetch,
                retries: config.consumer_retries,
                backoff,
                state: tokio::sync::watch::Sender::new(crate::broker::ConsumerState::Connecting),
            })
        };
        Self {
            consumers: handlers.into_iter().map(consumer).collect(),
            replay_lease: config.consumer_replay_lease,
            db: db.clone(),
            tasks,
        }
    }

    /// The consumers, one a queue.
    pub fn consumers(&self) -> &[Arc<Consumer>] {
        &self.consumers
    }

    /// The consumer of a queue.
    pub(super) fn consumer_of(&self, queue: &str) -> Option<Arc<Consumer>> {
        let of_queue = |consumer: &&Arc<Consumer>| consumer.handler.subscription().queue.name == queue;
        self.consumers.iter().find(of_queue).map(Arc::clone)
    }
}
