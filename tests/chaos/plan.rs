//! What breaks in a round, and when: a function of the round's seed.

use std::{fmt, time::Duration};

/// Processes that share the work.
pub const NODES: usize = 3;

/// What may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// SIGKILL, and a new process in its place.
    ProcessKilled,
    /// SIGTERM under load: it must end well.
    ProcessTerminated,
    /// SIGSTOP for longer than the lease, then it goes on with what it had in hand.
    ProcessPaused,
    /// A process whose clock is ten minutes off.
    ClockSkewed,
    BrokerRestarted,
    BrokerFrozen,
    BrokerOutOfMemory,
    /// The exchange of our events, with every binding.
    ExchangeDeleted,
    /// The queue of the meeting service's messages that we consume.
    QueueDeleted,
    /// Nobody listens for a while: what is sent comes back.
    ListenerUnbound,
    DatabaseRestarted,
    DatabaseFrozen,
    BackendsTerminated,
    BrokerLineCut,
    BrokerLineSlow,
    BrokerLineLossy,
    BrokerLineSilent,
    DatabaseLineCut,
    DatabaseLineSlow,
    DatabaseLineLossy,
    DatabaseLineSilent,
}

/// All, in the order in which rounds in a row begin with them.
const KINDS: [Kind; 21] = [
    Kind::ProcessKilled,
    Kind::BrokerLineCut,
    Kind::BackendsTerminated,
    Kind::ListenerUnbound,
    Kind::BrokerRestarted,
    Kind::ProcessPaused,
    Kind::DatabaseRestarted,
    Kind::ExchangeDeleted,
    Kind::ProcessTerminated,
    Kind::BrokerFrozen,
    Kind::DatabaseLineLossy,
    Kind::BrokerOutOfMemory,
    Kind::ClockSkewed,
    Kind::BrokerLineSlow,
    Kind::QueueDeleted,
    Kind::DatabaseFrozen,
    Kind::BrokerLineLossy,
    Kind::DatabaseLineCut,
    Kind::BrokerLineSilent,
    Kind::DatabaseLineSlow,
    Kind::DatabaseLineSilent,
];

/// One fault.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub kind: Kind,
    /// Which process, or whose line, where it is one's.
    pub node: usize,
    pub after: Duration,
    pub lasts: Duration,
}

/// A round.
#[derive(Debug, Clone)]
pub struct Plan {
    pub seed: u64,
    pub faults: Vec<Fault>,
}

impl Plan {
    pub fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        // Rounds with seeds in a row go through all kinds; what comes with them is chance.
        let turn = usize::try_from(seed % 21).unwrap();
        let mut kinds = vec![KINDS[turn]];
        for _ in 0..random.usize(1..=2) {
            kinds.push(*random.choice(&KINDS).unwrap());
        }
        let faults = kinds.into_iter().map(|kind| Fault {
            kind,
            node: random.usize(0..NODES),
            after: Duration::from_millis(random.u64(200..3_000)),
            lasts: Duration::from_millis(random.u64(200..3_500)),
        });
        Self { seed, faults: faults.collect() }
    }

    pub fn has(&self, kinds: &[Kind]) -> bool {
        self.faults.iter().any(|fault| kinds.contains(&fault.kind))
    }

    /// Whether events may have found no exchange or no queue, which uses their tries.
    pub fn costs_tries(&self) -> bool {
        self.has(&[Kind::ExchangeDeleted, Kind::ListenerUnbound])
    }

    /// Whether a process may not have come up because its database was away.
    pub fn takes_the_database_away(&self) -> bool {
        self.has(&[
            Kind::DatabaseRestarted,
            Kind::DatabaseFrozen,
            Kind::BackendsTerminated,
            Kind::DatabaseLineCut,
            Kind::DatabaseLineLossy,
            Kind::DatabaseLineSilent,
            Kind::DatabaseLineSlow,
        ])
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, Fault { kind, node, after, lasts }) in self.faults.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            write!(out, "{comma}{kind:?}[{node}] {after:?}+{lasts:?}")?;
        }
        Ok(())
    }
}
