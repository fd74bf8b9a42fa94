//! How the next calls are to behave: from `/_control/behaviours`, or from a magic card.

use std::{collections::VecDeque, time::Duration};

use serde::Deserialize;

/// What a call does differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// How long the answer takes. The money moves before the wait, as when a gateway is slow to answer.
    pub(super) delay: Duration,
    /// An error to answer with, whatever happened to the money.
    pub(super) error: Option<ForcedError>,
    /// Whether the money moves.
    pub(super) effect: bool,
    /// Whether the connection is closed without an answer.
    pub(super) drop: bool,
}

/// An error that a plan demands; the gateway fills in what is not said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ForcedError {
    pub(super) status: Option<u16>,
    pub(super) code: Option<String>,
}

impl Plan {
    /// Nothing out of the ordinary.
    pub(super) const ORDINARY: Self = Self { delay: Duration::ZERO, error: None, effect: true, drop: false };

    /// Moves no money and answers with `code`.
    pub(super) fn refusal(code: &str) -> Self {
        let error = ForcedError { status: None, code: Some(code.to_owned()) };
        Self { error: Some(error), effect: false, ..Self::ORDINARY }
    }
}

/// A request to `/_control/behaviours`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BehaviourRequest {
    pub(super) gateway: String,
    pub(super) operation: String,
    times: Option<u32>,
    delay_ms: Option<u64>,
    status: Option<u16>,
    code: Option<String>,
    effect: Option<bool>,
    drop: Option<bool>,
}

impl BehaviourRequest {
    /// How often: once, unless it says otherwise.
    pub(super) fn times(&self) -> u32 {
        self.times.unwrap_or(1)
    }

    /// What is wrong with it, if anything is.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.status {
            Some(status) if !(200..=599).contains(&status) => {
                Err(format!("status must be from 200 to 599, not {status}"))
            }
            _ => Ok(()),
        }
    }

    /// Money does not move under an error and does under a mere delay or drop, unless `effect` says otherwise.
    fn plan(&self) -> Plan {
        let is_error = self.code.is_some() || self.status.is_some_and(|status| status >= 400);
        Plan {
            delay: Duration::from_millis(self.delay_ms.unwrap_or(0)),
            error: is_error.then(|| ForcedError { status: self.status, code: self.code.clone() }),
            effect: self.effect.unwrap_or(!is_error),
            drop: self.drop.unwrap_or(false),
        }
    }
}

#[derive(Debug)]
struct Queued {
    gateway: String,
    operation: String,
    times: u32,
    plan: Plan,
}

/// What is asked for, in the order of asking.
#[derive(Debug, Default)]
pub(super) struct Behaviours(VecDeque<Queued>);

impl Behaviours {
    /// Takes effect after what was asked for this operation earlier; zero times takes all of that back.
    pub(super) fn add(&mut self, request: &BehaviourRequest) {
        let (gateway, operation) = (request.gateway.clone(), request.operation.clone());
        if request.times() == 0 {
            self.0.retain(|queued| queued.gateway != gateway || queued.operation != operation);
        } else {
            self.0.push_back(Queued { gateway, operation, times: request.times(), plan: request.plan() });
        }
    }

    /// Uses up one time of the oldest behaviour for this operation.
    pub(super) fn take(&mut self, gateway: &str, operation: &str) -> Option<Plan> {
        let index =
            self.0.iter().position(|queued| queued.gateway == gateway && queued.operation == operation)?;
        let queued = self.0.get_mut(index)?;
        queued.times -= 1;
        let plan = queued.plan.clone();
        if queued.times == 0 {
            self.0.remove(index);
        }
        Some(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(json: &str) -> BehaviourRequest {
        serde_json::from_str(json).unwrap()
    }

    fn key_in(rest: &str) -> BehaviourRequest {
        request(&format!(r#"{{"gateway":"toss","operation":"key-in"{rest}}}"#))
    }

    #[test]
    fn money_moves_under_a_delay_or_drop_but_not_under_an_error_unless_told() {
        let cases = [
            (r#","delayMs":10"#, true),
            (r#","drop":true"#, true),
            (r#","status":200"#, true),
            (r#","status":500"#, false),
            (r#","code":"FDS_ERROR""#, false),
            (r#","status":500,"effect":true"#, true),
            (r#","drop":true,"effect":false"#, false),
        ];
        for (rest, effect) in cases {
            assert_eq!(key_in(rest).plan().effect, effect, "{rest}");
        }
    }

    #[test]
    fn behaviours_are_used_up_in_order_and_taken_back_by_zero_times() {
        let mut behaviours = Behaviours::default();
        behaviours.add(&key_in(r#","times":2,"status":500"#));
        behaviours.add(&key_in(r#","drop":true"#));
        behaviours.add(&request(r#"{"gateway":"toss","operation":"cancel","drop":true}"#));
        let taken: Vec<bool> = (0..3).map(|_| behaviours.take("toss", "key-in").unwrap().drop).collect();
        assert_eq!(taken, [false, false, true]);
        assert_eq!(behaviours.take("toss", "key-in"), None);
        behaviours.add(&request(r#"{"gateway":"toss","operation":"cancel","times":0}"#));
        assert_eq!(behaviours.take("toss", "cancel"), None);
    }
}
