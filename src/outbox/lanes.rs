//! Who is sent next. Events right after their commit go before the backlog, so that a lone one does not wait for it;
//! events of one aggregate are never in flight at once, so that they are sent in the order of their commit.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
    time::Instant as Moment,
};

use super::PublishTrigger;

/// Publishers that share fresh events while few wait: two overlap the database and the broker, more would only make
/// each of their batches smaller.
const FRESH_TAKERS: usize = 2;
/// So many waiting fresh events are work for any publisher.
const MANY_FRESH: usize = 32;
/// Entries that one look at a queue passes over for each that it may take: whose aggregate is in flight.
const LOOK: usize = 4;
/// Aggregates whose dropped hints are remembered one by one; more, and every fresh event waits for the look for PENDING ones.
const MOST_MISSED: usize = 262_144;

/// Tells aggregates apart. Two that share one are only sent one after the other without need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct AggregateKey(u64);

impl AggregateKey {
    pub(super) fn of(aggregate_type: &str, aggregate_id: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (aggregate_type, aggregate_id).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// An event that was handed over. Only a hint: the claim decides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handed {
    pub(super) id: i64,
    pub(super) key: AggregateKey,
    pub(super) trigger: PublishTrigger,
    /// When, for the latency's measure.
    pub(super) at: Moment,
}

impl Handed {
    pub(super) fn now(id: i64, key: AggregateKey, trigger: PublishTrigger) -> Self {
        Self { id, key, trigger, at: Moment::now() }
    }
}

/// Which events a publisher takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Serves {
    /// Fresh ones first, then the backlog.
    All,
    /// Fresh ones only: it is free when the backlog keeps the others busy.
    Fresh,
}

/// How many events a publisher takes at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) fresh: usize,
    pub(super) backlog: usize,
}

/// The events that wait, and the aggregates that are in flight.
#[derive(Debug)]
pub(super) struct Lanes {
    fresh: VecDeque<Handed>,
    backlog: VecDeque<Handed>,
    /// How many events of an aggregate wait in the backlog: a fresh one does not overtake them.
    waiting: HashMap<AggregateKey, usize>,
    in_flight: HashSet<AggregateKey>,
    /// Publishers at work on fresh events.
    fresh_takers: usize,
    /// Aggregates with a dropped hint, and the look for PENDING events during or before which it was dropped: until a
    /// later look is over, an event of them may wait that nobody here knows of.
    missed: HashMap<AggregateKey, Missed>,
    /// The same of all aggregates, when they were too many to remember.
    missed_any: Option<u64>,
    /// Looks for PENDING events that were begun.
    looks: u64,
    fresh_capacity: usize,
    backlog_capacity: usize,
}

/// The last look for PENDING events that had begun when a hint was dropped, and the first event whose hint was since then.
#[derive(Debug, Clone, Copy)]
struct Missed {
    look: u64,
    first: i64,
}

/// What a publisher took: its aggregates are in flight until it gives them back.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) events: Vec<Handed>,
    pub(super) fresh: bool,
}

impl Lanes {
    pub(super) fn new(fresh_capacity: usize, backlog_capacity: usize) -> Self {
        Self {
            fresh: VecDeque::new(),
            backlog: VecDeque::new(),
            waiting: HashMap::new(),
            in_flight: HashSet::new(),
            fresh_takers: 0,
            missed: HashMap::new(),
            missed_any: None,
            looks: 0,
            fresh_capacity,
            backlog_capacity,
        }
    }

    /// Whether there is room for what the schedulers find.
    pub(super) fn has_room(&self) -> bool {
        self.backlog.len() < self.backlog_capacity
    }

    /// Whether an event waits in the lane of the fresh ones, and in the backlog.
    pub(super) fn waiting(&self) -> (bool, bool) {
        (!self.fresh.is_empty(), !self.backlog.is_empty())
    }

    /// A fresh event; false if the hint was dropped. Behind one of its aggregate that waits in the backlog it queues
    /// there, and behind one whose hint was dropped, its own is dropped too: the look for PENDING events brings both.
    pub(super) fn offer(&mut self, handed: Handed) -> bool {
        let behind_missed = self.missed_any.is_some() || self.missed.contains_key(&handed.key);
        let behind_backlog = self.waiting.contains_key(&handed.key);
        let room = if behind_backlog { self.has_room() } else { self.fresh.len() < self.fresh_capacity };
        if behind_missed || !room {
            self.miss(handed);
            return false;
        }
        if behind_backlog {
            self.push_backlog([handed]);
        } else {
            self.fresh.push_back(handed);
        }
        true
    }

    /// What a scheduler found, in its order. An aggregate waits in one lane only: its fresh events join these.
    pub(super) fn push_backlog(&mut self, found: impl IntoIterator<Item = Handed>) {
        let found = found.into_iter().filter(|handed| !self.is_ahead(handed)).collect();
        for handed in self.with_fresh(found) {
            *self.waiting.entry(handed.key).or_default() += 1;
            self.backlog.push_back(handed);
        }
    }

    /// Whether a look for PENDING events may have come to it past an earlier one of its aggregate, which was committed
    /// during the look and whose hint was dropped: the next look brings both.
    fn is_ahead(&self, found: &Handed) -> bool {
        found.trigger == PublishTrigger::Scheduled
            && self
                .missed
                .get(&found.key)
                .is_some_and(|missed| missed.look >= self.looks && missed.first < found.id)
    }

    /// What was taken and has to go again, before everything else of its aggregates.
    pub(super) fn push_front(&mut self, again: Vec<Handed>) {
        for handed in self.with_fresh(again).into_iter().rev() {
            *self.waiting.entry(handed.key).or_default() += 1;
            self.backlog.push_front(handed);
        }
    }

    /// These, and the fresh events of their aggregates, which leave their lane. Of such an aggregate all are in the order
    /// of their ids: whoever writes two events of one aggregate one after the other has them in this order.
    fn with_fresh(&mut self, mut events: Vec<Handed>) -> Vec<Handed> {
        if self.fresh.is_empty() {
            return events;
        }
        let keys: HashSet<AggregateKey> = events.iter().map(|handed| handed.key).collect();
        let (joining, fresh): (VecDeque<Handed>, _) =
            self.fresh.drain(..).partition(|handed| keys.contains(&handed.key));
        self.fresh = fresh;
        let joined: HashSet<AggregateKey> = joining.iter().map(|handed| handed.key).collect();
        events.extend(joining);
        for key in joined {
            let (places, mut of_it): (Vec<usize>, Vec<Handed>) =
                events.iter().copied().enumerate().filter(|(_place, handed)| handed.key == key).unzip();
            of_it.sort_unstable_by_key(|handed| handed.id);
            for (place, handed) in places.into_iter().zip(of_it) {
                events[place] = handed;
            }
        }
        events
    }

    /// Takes events of one trigger, fresh ones first. `None` while there are none, or all of them wait
    /// for their aggregate.
    pub(super) fn take(&mut self, serves: Serves, limits: Limits) -> Option<Taken> {
        if self.fresh_takers < FRESH_TAKERS || self.fresh.len() >= MANY_FRESH {
            let events = take_from(&mut self.fresh, limits.fresh, |key| self.in_flight.contains(key));
            if !events.is_empty() {
                self.fresh_takers += 1;
                return Some(self.taken(events, true));
            }
        }
        if serves == Serves::Fresh {
            return None;
        }
        let events = take_from(&mut self.backlog, limits.backlog, |key| self.in_flight.contains(key));
        for handed in &events {
            if let Some(count) = self.waiting.get_mut(&handed.key) {
                *count -= 1;
                if *count == 0 {
                    self.waiting.remove(&handed.key);
                }
            }
        }
        (!events.is_empty()).then(|| self.taken(events, false))
    }

    fn taken(&mut self, events: Vec<Handed>, fresh: bool) -> Taken {
        self.in_flight.extend(events.iter().map(|handed| handed.key));
        Taken { events, fresh }
    }

    /// They are sent, or given up: others of their aggregates may follow.
    pub(super) fn release(&mut self, taken: &Taken) {
        for handed in &taken.events {
            self.in_flight.remove(&handed.key);
        }
        if taken.fresh {
            self.fresh_takers -= 1;
        }
    }

    /// Notes that this hint was dropped.
    fn miss(&mut self, handed: Handed) {
        let look = self.looks;
        if self.missed.len() >= MOST_MISSED && !self.missed.contains_key(&handed.key) {
            self.missed_any = Some(look);
            return;
        }
        let missed = self.missed.entry(handed.key).or_insert(Missed { look, first: handed.id });
        if missed.look == look {
            missed.first = missed.first.min(handed.id);
        } else {
            *missed = Missed { look, first: handed.id };
        }
    }

    /// A look for all PENDING events begins; tells its number.
    pub(super) fn begin_look(&mut self) -> u64 {
        self.looks += 1;
        self.looks
    }

    /// It has come to its end: whatever was dropped before it began was found.
    pub(super) fn end_look(&mut self, look: u64) {
        self.missed.retain(|_key, missed| missed.look >= look);
        self.missed_any = self.missed_any.filter(|dropped| *dropped >= look);
        if self.missed.is_empty() {
            self.missed.shrink_to_fit();
        }
    }
}

/// Takes events of one trigger from the front, and leaves those whose aggregate is held where they are.
fn take_from(
    queue: &mut VecDeque<Handed>,
    limit: usize,
    is_held: impl Fn(&AggregateKey) -> bool,
) -> Vec<Handed> {
    let (mut taken, mut held): (Vec<Handed>, Vec<Handed>) = (Vec::new(), Vec::new());
    while taken.len() < limit
        && held.len() < limit.saturating_mul(LOOK)
        && let Some(next) = queue.pop_front()
    {
        if is_held(&next.key) {
            held.push(next);
        } else if taken.first().is_some_and(|first| first.trigger != next.trigger) {
            queue.push_front(next);
            break;
        } else {
            taken.push(next);
        }
    }
    for handed in held.into_iter().rev() {
        queue.push_front(handed);
    }
    taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEN: Limits = Limits { fresh: 10, backlog: 10 };

    fn key(aggregate: u64) -> AggregateKey {
        AggregateKey(aggregate)
    }

    fn event(id: i64, aggregate: u64, trigger: PublishTrigger) -> Handed {
        Handed::now(id, key(aggregate), trigger)
    }

    fn fresh(id: i64, aggregate: u64) -> Handed {
        event(id, aggregate, PublishTrigger::Immediate)
    }

    fn found(id: i64, aggregate: u64) -> Handed {
        event(id, aggregate, PublishTrigger::Scheduled)
    }

    fn ids(taken: Option<&Taken>) -> Vec<i64> {
        taken.map(|taken| taken.events.iter().map(|handed| handed.id).collect()).unwrap_or_default()
    }

    #[test]
    fn a_fresh_event_goes_before_the_backlog_unless_its_aggregate_waits_there() {
        let mut lanes = Lanes::new(8, 8);
        lanes.push_backlog([found(1, 1), found(2, 2)]);
        assert!(lanes.offer(fresh(3, 3)) && lanes.offer(fresh(4, 2)));
        assert_eq!(ids(lanes.take(Serves::All, TEN).as_ref()), [3]);
        assert_eq!(ids(lanes.take(Serves::Fresh, TEN).as_ref()), Vec::<i64>::new());
        assert_eq!(ids(lanes.take(Serves::All, TEN).as_ref()), [1, 2]);
    }

    #[test]
    fn an_aggregate_in_flight_keeps_its_next_event_waiting_and_nobody_elses() {
        let mut lanes = Lanes::new(8, 8);
        lanes.offer(fresh(1, 1));
        let first = lanes.take(Serves::All, TEN).unwrap();
        lanes.offer(fresh(2, 1));
        lanes.offer(fresh(3, 2));
        assert_eq!(ids(lanes.take(Serves::All, TEN).as_ref()), [3]);
        lanes.release(&first);
        assert_eq!(ids(lanes.take(Serves::All, TEN).as_ref()), [2]);
    }

    #[test]
    fn behind_a_dropped_hint_those_of_the_aggregate_are_dropped_until_a_later_look_is_over() {
        let mut lanes = Lanes::new(1, 8);
        lanes.offer(fresh(1, 1));
        assert!(!lanes.offer(fresh(2, 2)), "the lane is full");
        let taken = lanes.take(Serves::All, TEN).unwrap();
        assert!(!lanes.offer(fresh(3, 2)));
        let look = lanes.begin_look();
        assert!(!lanes.offer(fresh(4, 2)), "this look may have passed its place already");
        lanes.push_backlog([found(2, 2), found(3, 2)]);
        lanes.end_look(look);
        assert!(!lanes.offer(fresh(5, 2)));
        assert!(lanes.offer(fresh(6, 3)), "other aggregates go on");
        let look = lanes.begin_look();
        lanes.push_backlog([found(4, 2), found(5, 2)]);
        lanes.end_look(look);
        assert!(lanes.offer(fresh(7, 2)), "it queues behind those that were found");
        lanes.release(&taken);
        assert_eq!(ids(lanes.take(Serves::All, TEN).as_ref()), [6]);
        assert_eq!(ids(lanes.take(Serves::All, TEN).as_ref()), [2, 3, 4, 5]);
    }

    #[test]
    fn a_look_that_went_past_an_event_whose_hint_was_dropped_meanwhile_leaves_those_behind_it_to_the_next() {
        let mut lanes = Lanes::new(0, 8);
        let look = lanes.begin_look();
        assert!(!lanes.offer(fresh(1, 1)) && !lanes.offer(fresh(2, 1)));
        lanes.push_backlog([found(2, 1), found(3, 2)]);
        lanes.end_look(look);
        assert_eq!(ids(lanes.take(Serves::All, TEN).as_ref()), [3]);
        lanes.begin_look();
        lanes.push_backlog([found(1, 1), found(2, 1)]);
        assert_eq!(ids(lanes.take(Serves::All, TEN).as_ref()), [1, 2]);
    }

    proptest! {
        /// Each step hands an event over, takes some, has sent the oldest taken, or could not send the newest.
        #[test]
        fn whatever_comes_in_between_each_aggregate_goes_in_its_order(steps in prop::collection::vec((0_u64..5, 0_u64..4), 1..200)) {
            let mut lanes = Lanes::new(usize::MAX, usize::MAX);
            let (mut under_way, mut sent) = (VecDeque::<Taken>::new(), Vec::<Handed>::new());
            let mut handed = 0_i64;
            let drain = (0..400).map(|step| (2 + step % 2, 0));
            for (step, aggregate) in steps.into_iter().chain(drain) {
                match step {
                    0 | 1 => {
                        handed += 1;
                        if step == 0 { lanes.push_backlog([found(handed, aggregate)]) } else { lanes.offer(fresh(handed, aggregate)); }
                    }
                    2 => {
                        let serves = if aggregate == 0 { Serves::All } else { Serves::Fresh };
                        under_way.extend(lanes.take(serves, Limits { fresh: 3, backlog: 3 }));
                    }
                    3 => if let Some(taken) = under_way.pop_front() {
                        sent.extend(taken.events.iter().copied());
                        lanes.release(&taken);
                    },
                    _ => if let Some(taken) = under_way.pop_back() {
                        lanes.push_front(taken.events.clone());
                        lanes.release(&taken);
                    },
                }
            }
            prop_assert_eq!(i64::try_from(sent.len()).unwrap(), handed, "nothing is left behind");
            for aggregate in 0..4 {
                let of_it: Vec<_> = sent.iter().filter(|one| one.key == key(aggregate)).map(|one| one.id).collect();
                prop_assert!(of_it.is_sorted(), "{:?}", of_it);
            }
        }
    }
}
