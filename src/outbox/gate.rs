use tokio::sync::watch;

use crate::broker::BrokerState;

/// Whether publishing makes sense now. While it does not, nothing is claimed and no retry is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateState {
    /// Send.
    Open,
    /// The broker is up but did not confirm in time: one row probes it.
    Probing,
    /// The broker is down or blocked.
    BrokerDown,
}

/// The gate before the broker: closed by its state, or by a confirm that did not come.
#[derive(Clone)]
pub struct Gate {
    broker: watch::Receiver<BrokerState>,
    probing: watch::Sender<bool>,
}

impl Gate {
    /// A gate before this broker.
    pub fn new(broker: watch::Receiver<BrokerState>) -> Self {
        Self { broker, probing: watch::Sender::new(false) }
    }

    /// How it stands.
    pub fn state(&self) -> GateState {
        if !self.broker.borrow().is_up() {
            GateState::BrokerDown
        } else if *self.probing.borrow() {
            GateState::Probing
        } else {
            GateState::Open
        }
    }

    /// How the broker stands.
    pub fn broker(&self) -> BrokerState {
        self.broker.borrow().clone()
    }

    /// Whether messages may be sent.
    pub fn is_open(&self) -> bool {
        self.state() == GateState::Open
    }

    /// Waits until it is open.
    pub(super) async fn opened(&self) {
        self.wait_for(|state| state == GateState::Open).await;
    }

    /// Waits until the broker is up, be it for probing.
    pub(super) async fn broker_up(&self) {
        self.wait_for(|state| state != GateState::BrokerDown).await;
    }

    /// Waits until it has been closed and is open again: what waited meanwhile is due.
    pub(super) async fn reopened(&self) {
        self.wait_for(|state| state != GateState::Open).await;
        self.opened().await;
    }

    /// A confirm did not come: only a probe may be sent until one does.
    pub(super) fn close_for_probe(&self) {
        if !self.probing.send_replace(true) {
            tracing::warn!("the broker did not confirm in time; probing it with one event at a time");
        }
    }

    /// A confirm came.
    pub(super) fn confirmed(&self) {
        if self.probing.send_replace(false) {
            tracing::info!("the broker confirms again");
        }
    }

    /// Waits until somebody is to probe.
    pub(super) async fn probing(&self) {
        self.wait_for(|state| state == GateState::Probing).await;
    }

    async fn wait_for(&self, wanted: impl Fn(GateState) -> bool) {
        let (mut broker, mut probing) = (self.broker.clone(), self.probing.subscribe());
        loop {
            broker.mark_unchanged();
            probing.mark_unchanged();
            if wanted(self.state()) {
                return;
            }
            tokio::select! {
                change = broker.changed() => if change.is_err() { std::future::pending::<()>().await },
                change = probing.changed() => if change.is_err() { std::future::pending::<()>().await },
            }
        }
    }
}
