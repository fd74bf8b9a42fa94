//! A model of one event, two workers, the recovery, an operator and a broker that loses and repeats, checked exhaustively:
//! every order in which their steps can come, with so many mishaps. The steps themselves are [`Life::after`]'s.

use std::time::Duration;

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::{Life, RetryPolicy, Step};
use crate::{outbox::OutboxStatus, types::Backoff};

/// Claims are counted; the count is the token.
type Token = u8;

/// Mishaps of each kind that may befall, and requeues: enough for each to meet each other, few enough for seconds.
const MISHAPS: u8 = 3;
const REQUEUES: u8 = 1;
const WORKERS: usize = 2;

/// What a worker has in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Work {
    Nothing,
    Claimed(Token),
    /// On its way to the broker, or there, or its confirm on its way back: the worker cannot tell.
    Sent(Token),
    /// The broker's word has come.
    Confirmed(Token),
    Returned(Token),
    /// Channel, connection or confirm was lost.
    Unknown(Token),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    life: Life<Token>,
    last_token: Token,
    workers: [Work; WORKERS],
    /// What the recovery read, to be marked in a moment.
    found_stuck: Option<Token>,
    /// Copies that a queue got: none, one, more.
    delivered: u8,
    mishaps: u8,
    requeues: u8,
    /// The claims that neither their owner nor the recovery has ended, nor their owner's death: a bit for each.
    live: u32,
    /// Whether PUBLISHED was ever left, or `DEAD_LETTERED` by anything but a requeue or the broker's late word.
    left_final: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    Claim(usize),
    Send(usize),
    /// A queue has it, and its confirm arrives.
    Confirm(usize),
    /// A queue has it, and the confirm is lost.
    LoseConfirm(usize),
    /// It is lost on its way.
    LoseMessage(usize),
    /// No queue wants it.
    Return(usize),
    /// A queue gets another copy.
    Repeat,
    /// The worker writes down how its try ended.
    Mark(usize),
    /// The worker dies with what it has in hand.
    Crash(usize),
    FindStuck,
    MarkStuck,
    Requeue,
}

/// How the row changes: as it does, or broken on purpose.
type Rules = fn(Life<Token>, Step<Token>, &RetryPolicy) -> Option<Life<Token>>;

struct Outbox {
    rules: Rules,
    policy: RetryPolicy,
}

impl World {
    fn ends(&mut self, token: Token) {
        self.live &= !(1 << u32::from(token));
    }
}

impl Outbox {
    fn new(rules: Rules) -> Self {
        let backoff = Backoff { base: Duration::from_secs(10), cap: Duration::from_secs(300) };
        Self { rules, policy: RetryPolicy { max_retries: 3, backoff } }
    }

    /// Takes a step, if the row allows it.
    fn step(&self, world: &mut World, step: Step<Token>) -> bool {
        let Some(after) = (self.rules)(world.life, step, &self.policy) else { return false };
        world.left_final |= match world.life.status {
            OutboxStatus::Published => true,
            OutboxStatus::DeadLettered => !matches!(step, Step::Requeue | Step::Confirm(_)),
            _ => false,
        };
        world.life = after;
        true
    }

    fn mark(&self, world: &mut World, worker: usize) {
        let (step, token) = match world.workers[worker] {
            Work::Confirmed(token) => (Step::Confirm(token), token),
            Work::Returned(token) => (Step::Fail(Some(token)), token),
            Work::Unknown(token) => (Step::GiveBack(token), token),
            Work::Nothing | Work::Claimed(_) | Work::Sent(_) => return,
        };
        // A mark that is refused ends the worker's part too.
        let _won = self.step(world, step);
        world.ends(token);
        world.workers[worker] = Work::Nothing;
    }
}

impl Model for Outbox {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            life: Life::new(),
            last_token: 0,
            workers: [Work::Nothing; WORKERS],
            found_stuck: None,
            delivered: 0,
            mishaps: 0,
            requeues: 0,
            live: 0,
            left_final: false,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        let mishap = world.mishaps < MISHAPS;
        for (worker, work) in world.workers.iter().enumerate() {
            match work {
                Work::Nothing => actions.push(Action::Claim(worker)),
                Work::Claimed(_) => actions.push(Action::Send(worker)),
                Work::Sent(_) => {
                    actions.extend([Action::Confirm(worker), Action::Return(worker)]);
                    if mishap {
                        actions.extend([Action::LoseConfirm(worker), Action::LoseMessage(worker)]);
                    }
                }
                Work::Confirmed(_) | Work::Returned(_) | Work::Unknown(_) => {
                    actions.push(Action::Mark(worker))
                }
            }
            if mishap && *work != Work::Nothing {
                actions.push(Action::Crash(worker));
            }
        }
        if mishap && world.delivered > 0 {
            actions.push(Action::Repeat);
        }
        // However long the lease is, a worker may be slower.
        if world.life.status == OutboxStatus::Processing && world.found_stuck.is_none() {
            actions.push(Action::FindStuck);
        }
        if world.found_stuck.is_some() {
            actions.push(Action::MarkStuck);
        }
        if world.requeues < REQUEUES {
            actions.push(Action::Requeue);
        }
    }

    fn next_state(&self, before: &World, action: Action) -> Option<World> {
        let mut world = before.clone();
        let sent = |worker: usize| match before.workers[worker] {
            Work::Sent(token) => token,
            _ => 0,
        };
        match action {
            Action::Claim(worker) => {
                let token = world.last_token + 1;
                if !self.step(&mut world, Step::Claim(token)) {
                    return None;
                }
                world.last_token = token;
                world.live |= 1 << u32::from(token);
                world.workers[worker] = Work::Claimed(token);
            }
            Action::Send(worker) => {
                if let Work::Claimed(token) = before.workers[worker] {
                    world.workers[worker] = Work::Sent(token);
                }
            }
            Action::Confirm(worker) => {
                world.delivered = (world.delivered + 1).min(2);
                world.workers[worker] = Work::Confirmed(sent(worker));
            }
            Action::LoseConfirm(worker) => {
                world.mishaps += 1;
                world.delivered = (world.delivered + 1).min(2);
                world.workers[worker] = Work::Unknown(sent(worker));
            }
            Action::LoseMessage(worker) => {
                world.mishaps += 1;
                world.workers[worker] = Work::Unknown(sent(worker));
            }
            Action::Return(worker) => world.workers[worker] = Work::Returned(sent(worker)),
            Action::Repeat => {
                world.mishaps += 1;
                world.delivered = 2;
            }
            Action::Mark(worker) => self.mark(&mut world, worker),
            Action::Crash(worker) => {
                world.mishaps += 1;
                if let Work::Claimed(token)
                | Work::Sent(token)
                | Work::Confirmed(token)
                | Work::Returned(token)
                | Work::Unknown(token) = before.workers[worker]
                {
                    world.ends(token);
                }
                world.workers[worker] = Work::Nothing;
            }
            Action::FindStuck => world.found_stuck = world.life.token,
            Action::MarkStuck => {
                let token = world.found_stuck.take()?;
                if self.step(&mut world, Step::Fail(Some(token))) {
                    world.ends(token);
                } else if world.life.token == Some(token) && world.life.status == OutboxStatus::Processing {
                    // It would find the same row for ever.
                    return None;
                }
            }
            Action::Requeue => {
                world.requeues += 1;
                if !self.step(&mut world, Step::Requeue) {
                    return None;
                }
            }
        }
        (world != *before).then_some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(DELIVERED, |_, world: &World| {
                world.life.status != OutboxStatus::Published || world.delivered > 0
            }),
            Property::always(ONE_CLAIM, |_, world: &World| world.live.count_ones() <= 1),
            Property::always(FINAL, |_, world: &World| !world.left_final),
            Property::always(NOT_LOST, |outbox: &Self, world: &World| {
                matches!(world.life.status, OutboxStatus::Published | OutboxStatus::DeadLettered)
                    || !outbox.next_states(world).is_empty()
            }),
            // That it says something at all: these do happen.
            Property::sometimes("it is published", |_, world: &World| {
                world.life.status == OutboxStatus::Published
            }),
            Property::sometimes("it is given up", |_, world: &World| {
                world.life.status == OutboxStatus::DeadLettered
            }),
            Property::sometimes("it arrives twice", |_, world: &World| world.delivered > 1),
            Property::sometimes("a late word finds it given up", |_, world: &World| {
                world.life.status == OutboxStatus::DeadLettered
                    && world.workers.iter().any(|work| matches!(work, Work::Confirmed(_)))
            }),
        ]
    }
}

const DELIVERED: &str = "what is PUBLISHED is in a queue";
const ONE_CLAIM: &str = "at most one claim is live";
const FINAL: &str = "what has come to its end stays there";
const NOT_LOST: &str = "where nothing can happen any more, it has come to its end";

/// What the checker finds first to be wrong with these rules, in the order of the properties.
fn wrong_with(rules: Rules) -> Option<&'static str> {
    let checker = Outbox::new(rules).checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let found = checker.discoveries();
    [DELIVERED, ONE_CLAIM, FINAL, NOT_LOST].into_iter().find(|name| found.contains_key(name))
}

#[test]
fn in_every_order_of_steps_no_event_is_lost_claimed_twice_or_leaves_its_end() {
    let checker = Outbox::new(Life::after).checker().spawn_bfs().join();
    checker.assert_properties();
    assert!(checker.is_done());
    println!("{} states, {} of them distinct", checker.state_count(), checker.unique_state_count());
}

#[test]
fn a_failure_marked_without_its_token_is_found() {
    let broken: Rules = |life, step, policy| match step {
        Step::Fail(_) => life.after(Step::Fail(life.token), policy),
        _ => life.after(step, policy),
    };
    assert_eq!(wrong_with(broken), Some(ONE_CLAIM));
}

#[test]
fn a_claim_of_what_is_claimed_is_found() {
    let broken: Rules = |life, step, policy| match (step, life.status) {
        (Step::Claim(token), OutboxStatus::Processing) => Some(Life { token: Some(token), ..life }),
        _ => life.after(step, policy),
    };
    assert_eq!(wrong_with(broken), Some(ONE_CLAIM));
}

#[test]
fn a_failure_that_undoes_what_was_published_is_found() {
    let broken: Rules = |life, step, policy| match step {
        Step::Fail(token) if life.token == token => {
            Life { status: OutboxStatus::Processing, ..life }.after(step, policy)
        }
        _ => life.after(step, policy),
    };
    assert_eq!(wrong_with(broken), Some(FINAL));
}

#[test]
fn a_recovery_that_leaves_last_tries_alone_is_found() {
    let broken: Rules = |life, step, policy| match step {
        Step::Fail(_) if life.retry_count + 1 >= policy.max_retries => None,
        _ => life.after(step, policy),
    };
    assert_eq!(wrong_with(broken), Some(NOT_LOST));
}

#[test]
fn a_confirm_that_is_taken_for_granted_is_found() {
    let broken: Rules = |life, step, policy| match step {
        Step::GiveBack(token) => life.after(Step::Confirm(token), policy),
        _ => life.after(step, policy),
    };
    assert_eq!(wrong_with(broken), Some(DELIVERED));
}
