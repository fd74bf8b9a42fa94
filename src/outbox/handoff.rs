use std::{sync::Arc, time::Instant as Moment};

use tokio::sync::{Mutex, Notify, mpsc};

use crate::types::stored_enum;

stored_enum! {
    /// What caused a try.
    PublishTrigger {
        /// The hand-over right after the commit.
        Immediate = "IMMEDIATE",
        /// The look for PENDING events.
        Scheduled = "SCHEDULED",
        /// The look for FAILED events that are due.
        Retry = "RETRY",
        /// An operator's requeue.
        Manual = "MANUAL",
        /// An operator's requeue of many.
        Bulk = "BULK",
        /// A try on behalf of a publisher that died.
        Recovery = "RECOVERY",
    }
}

/// Ids for the publisher. Only a hint: the claim decides.
#[derive(Debug)]
pub struct HandOver {
    /// The events.
    pub ids: Vec<i64>,
    /// Why.
    pub trigger: PublishTrigger,
    /// When they were handed over, for the latency's measure.
    pub at: Moment,
}

/// The bounded queue between those who know of due events and the publishers.
#[derive(Clone)]
pub(super) struct HandOffQueue {
    sender: mpsc::Sender<HandOver>,
    receiver: Arc<Mutex<mpsc::Receiver<HandOver>>>,
    /// Wakes the pending scheduler: something was not handed over.
    missed: Arc<Notify>,
    /// Wakes an extra publisher: the queue is full.
    pressure: Arc<Notify>,
}

impl HandOffQueue {
    pub(super) fn new(capacity: usize) -> Self {
        let (sender, receiver) = mpsc::channel(capacity);
        let (missed, pressure) = (Arc::default(), Arc::default());
        Self { sender, receiver: Arc::new(Mutex::new(receiver)), missed, pressure }
    }

    /// Hands over without waiting. A full queue drops the hint, never the event: the pending scheduler looks.
    pub(super) fn offer(&self, ids: Vec<i64>, trigger: PublishTrigger) {
        let hand_over = HandOver { ids, trigger, at: Moment::now() };
        if self.sender.try_send(hand_over).is_err() {
            self.pressure.notify_one();
            self.missed.notify_one();
        }
    }

    /// Hands over, waiting for room.
    pub(super) async fn send(&self, ids: Vec<i64>, trigger: PublishTrigger) {
        if self.sender.capacity() == 0 {
            self.pressure.notify_one();
        }
        // The receiver lives as long as the queue itself.
        let _closed = self.sender.send(HandOver { ids, trigger, at: Moment::now() }).await;
    }

    /// Resolves when a hint was dropped.
    pub(super) async fn missed(&self) {
        self.missed.notified().await;
    }

    /// Resolves when the queue is found full.
    pub(super) async fn pressed(&self) {
        self.pressure.notified().await;
    }

    /// Waits for a hand-over, then takes what else is there without waiting, up to about `max_ids` ids.
    pub(super) async fn take(&self, max_ids: usize) -> Vec<HandOver> {
        let mut receiver = self.receiver.lock().await;
        let Some(first) = receiver.recv().await else { return Vec::new() };
        let mut count = first.ids.len();
        let mut taken = vec![first];
        while count < max_ids
            && let Ok(next) = receiver.try_recv()
        {
            count += next.ids.len();
            taken.push(next);
        }
        taken
    }
}
