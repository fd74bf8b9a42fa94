//! The lone lane: events that were in flight when something was lost, one at a time, each on a connection of its
//! own, until a confirm clears them; and the probe that finds out whether the broker confirms again.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{Claimed, ClaimedEvent, ErrorCode, GateState, Publisher, claim};
use crate::{
    broker::{BatchEnd, ConfirmChannel},
    db::DbError,
    types::Backoff,
};

/// Waits between probes (domain.md §3).
const PROBE: Backoff = Backoff { base: Duration::from_secs(1), cap: Duration::from_secs(60) };
/// A connection lost this often in a row while a message was alone on it was lost because of it.
const LONE_LOSSES: i32 = 3;
/// A pause after a loss, so that nothing spins.
const PAUSE: Duration = Duration::from_millis(200);

/// Serves the lane until `stop`.
pub(super) async fn run(publisher: Arc<Publisher>, stop: CancellationToken) {
    let mut lane = Lane { publisher, channel: None, probes: 0 };
    while !stop.is_cancelled() {
        tokio::select! {
            () = lane.publisher.gate.broker_up() => {}
            () = stop.cancelled() => return,
        }
        let wait = lane.step().await;
        if wait > Duration::ZERO {
            let gate = lane.publisher.gate.clone();
            let probing = lane.probes == 0 && gate.state() != GateState::Probing;
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = lane.publisher.suspects.notified(), if lane.probes == 0 => {}
                () = gate.probing(), if probing => {}
                () = stop.cancelled() => return,
            }
        }
    }
}

struct Lane {
    publisher: Arc<Publisher>,
    channel: Option<ConfirmChannel>,
    /// Probes sent without a confirm since the gate closed.
    probes: i64,
}

impl Lane {
    /// Sends at most one event; tells how long to wait before the next.
    async fn step(&mut self) -> Duration {
        let probing = self.publisher.gate.state() == GateState::Probing;
        if !probing {
            self.probes = 0;
        } else if self.probes == 0 {
            self.probes = 1;
            return PROBE.delay(1);
        }
        match self.claim(probing).await {
            Ok(Some(claimed)) => self.send(claimed, probing).await,
            Ok(None) => {
                // Nothing to send alone: the connection is not kept. Nothing to probe with either: the next event is the probe.
                self.channel = None;
                self.publisher.gate.confirmed();
                self.probes = 0;
                self.poll()
            }
            Err(error) => {
                tracing::warn!(%error, "cannot look for suspect events; trying again");
                self.poll()
            }
        }
    }

    /// How often the lane looks by itself: suspects may have been left by another process.
    fn poll(&self) -> Duration {
        self.publisher.config.outbox_pending_interval
    }

    async fn claim(&self, any: bool) -> Result<Option<Claimed<ClaimedEvent>>, DbError> {
        let mut conn = self.publisher.db.conn().await?;
        Ok(claim::claim_one(&mut conn, any, &self.publisher.instance).await?)
    }

    async fn send(&mut self, claimed: Claimed<ClaimedEvent>, probing: bool) -> Duration {
        let (claimed, messages) = self.publisher.prepare(vec![claimed]).await;
        let [alone] = claimed.as_slice() else { return Duration::ZERO };
        let ready = match self.channel.take().filter(ConfirmChannel::is_open) {
            Some(open) => Ok(open),
            None => self.publisher.broker.lone_channel().await,
        };
        let channel = match ready {
            Ok(channel) => channel,
            Err(error) => {
                tracing::debug!(%error, "no channel for a suspect event");
                self.publisher.give_back(&claimed, false, false).await;
                return if probing { self.next_probe() } else { PAUSE };
            }
        };
        let result = channel.send(&messages, self.publisher.config.outbox_confirm_timeout).await;
        self.channel = result.channel;
        match result.end {
            BatchEnd::Confirmed => {
                self.publisher.settle_confirmed(&claimed, &result.verdicts).await;
                self.publisher.gate.confirmed();
                self.probes = 0;
                Duration::ZERO
            }
            BatchEnd::ChannelClosed { code, text } => {
                self.publisher.channel_killed(alone, code, &text).await;
                if probing { PROBE.delay(self.probes) } else { Duration::ZERO }
            }
            BatchEnd::ConnectionLost(error) => self.connection_lost(alone, &claimed, &error).await,
            BatchEnd::TimedOut => {
                self.publisher.give_back(&claimed, true, false).await;
                self.publisher.gate.close_for_probe();
                self.next_probe()
            }
        }
    }

    async fn connection_lost(
        &self,
        alone: &Claimed<ClaimedEvent>,
        all: &[Claimed<ClaimedEvent>],
        error: &str,
    ) -> Duration {
        let losses = alone.row().lone_connection_losses.saturating_add(1);
        if losses >= LONE_LOSSES {
            let error = format!(
                "{losses} connections in a row were lost while it was alone on them, the last one: {error}"
            );
            self.publisher.fail(std::iter::once((alone, ErrorCode::ConnectionKilled, error, true))).await;
        } else {
            self.publisher.give_back(all, true, true).await;
        }
        PAUSE
    }

    fn next_probe(&mut self) -> Duration {
        self.probes += 1;
        PROBE.delay(self.probes)
    }
}
