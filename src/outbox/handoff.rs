use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::lanes::{Handed, Lanes, Limits, Serves, Taken};
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

/// The bounded queue between those who know of due events and the publishers.
#[derive(Clone)]
pub(super) struct HandOffQueue(Arc<Shared>);

struct Shared {
    lanes: Mutex<Lanes>,
    /// Wakes a publisher: a fresh event waits.
    fresh: Notify,
    /// Wakes a publisher: the backlog waits.
    backlog: Notify,
    /// Wakes the schedulers: there may be room again.
    room: Notify,
    /// Wakes the pending scheduler: something was not handed over.
    missed: Notify,
    /// Wakes an extra publisher: the queue is full.
    pressure: Notify,
}

/// Events for one publisher. While it holds them no other event of their aggregates is sent.
pub(super) struct Turn {
    taken: Taken,
    queue: HandOffQueue,
}

impl HandOffQueue {
    /// For so many fresh events, and about so many of the backlog.
    pub(super) fn new(fresh: usize, backlog: usize) -> Self {
        Self(Arc::new(Shared {
            lanes: Mutex::new(Lanes::new(fresh, backlog)),
            fresh: Notify::new(),
            backlog: Notify::new(),
            room: Notify::new(),
            missed: Notify::new(),
            pressure: Notify::new(),
        }))
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.0.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes who can take what waits.
    fn wake(&self, (fresh, backlog): (bool, bool)) {
        if fresh {
            self.0.fresh.notify_one();
        }
        if backlog {
            self.0.backlog.notify_one();
        }
    }

    /// Hands over without waiting. A full queue drops the hint, never the event: the pending scheduler looks.
    pub(super) fn offer(&self, handed: Handed) {
        let (accepted, waiting) = {
            let mut lanes = self.lanes();
            (lanes.offer(handed), lanes.waiting())
        };
        if accepted {
            self.wake(waiting);
        } else {
            self.0.pressure.notify_one();
            self.0.missed.notify_one();
        }
    }

    /// Hands what a scheduler found over, waiting for room.
    pub(super) async fn send(&self, found: Vec<Handed>) {
        loop {
            let mut room = std::pin::pin!(self.0.room.notified());
            room.as_mut().enable();
            {
                let mut lanes = self.lanes();
                if lanes.has_room() {
                    lanes.push_backlog(found);
                    break;
                }
            }
            self.0.pressure.notify_one();
            room.await;
        }
        self.0.backlog.notify_one();
    }

    /// Resolves when a hint was dropped.
    pub(super) async fn missed(&self) {
        self.0.missed.notified().await;
    }

    /// Resolves when the queue is found full.
    pub(super) async fn pressed(&self) {
        self.0.pressure.notified().await;
    }

    /// Waits for events, then takes those that are there, up to the lane's limit.
    pub(super) async fn take(&self, serves: Serves, limits: Limits) -> Turn {
        loop {
            let taken = {
                let mut lanes = self.lanes();
                lanes.take(serves, limits).map(|taken| (taken, lanes.waiting()))
            };
            if let Some((taken, left)) = taken {
                self.wake(left);
                self.0.room.notify_waiters();
                return Turn { taken, queue: self.clone() };
            }
            match serves {
                Serves::Fresh => self.0.fresh.notified().await,
                Serves::All => tokio::select! {
                    () = self.0.fresh.notified() => {}
                    () = self.0.backlog.notified() => {}
                },
            }
        }
    }

    /// A look for all PENDING events begins; tells its number.
    pub(super) fn begin_look(&self) -> u64 {
        self.lanes().begin_look()
    }

    /// It has come to its end.
    pub(super) fn end_look(&self, look: u64) {
        self.lanes().end_look(look);
    }
}

impl Turn {
    /// The events, of one trigger.
    pub(super) fn events(&self) -> &[Handed] {
        &self.taken.events
    }

    /// Whether they are fresh ones.
    pub(super) fn is_fresh(&self) -> bool {
        self.taken.fresh
    }

    /// Nothing was done: has all of them go again.
    pub(super) fn give_back(self) {
        self.again(self.taken.events.clone());
    }

    /// Has these go again, before any other of their aggregates.
    pub(super) fn again(&self, events: Vec<Handed>) {
        self.queue.lanes().push_front(events);
        self.queue.0.backlog.notify_one();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let waiting = {
            let mut lanes = self.queue.lanes();
            lanes.release(&self.taken);
            lanes.waiting()
        };
        self.queue.wake(waiting);
    }
}
