//! Answers kept under idempotency keys (gateways.md §1.6).

use std::collections::HashMap;

use super::{envelope::Identity, fault::Answer};

#[derive(Debug)]
enum Entry {
    /// The call with this number has not answered yet.
    Running(u64),
    Answered(Answer),
}

/// What a request finds under its key.
#[derive(Debug)]
pub(super) enum Begun {
    /// Nothing: it is the first.
    Fresh,
    /// The first is still running.
    Running,
    /// The first one's answer.
    Answered(Answer),
}

/// What happened under which key.
#[derive(Debug, Default)]
pub(super) struct Replays(HashMap<Identity, Entry>);

impl Replays {
    /// Takes the key for call number `call`, if nobody has it.
    pub(super) fn begin(&mut self, identity: &Identity, call: u64) -> Begun {
        match self.0.get(identity) {
            Some(Entry::Running(_)) => Begun::Running,
            Some(Entry::Answered(answer)) => Begun::Answered(answer.clone()),
            None => {
                self.0.insert(identity.clone(), Entry::Running(call));
                Begun::Fresh
            }
        }
    }

    /// Keeps the answer, or frees the key where there is none to keep. Only the call that took the key may.
    pub(super) fn finish(&mut self, identity: Identity, call: u64, answer: Option<Answer>) {
        if !matches!(self.0.get(&identity), Some(Entry::Running(owner)) if *owner == call) {
            return;
        }
        match answer {
            Some(answer) => self.0.insert(identity, Entry::Answered(answer)),
            None => self.0.remove(&identity),
        };
    }
}
