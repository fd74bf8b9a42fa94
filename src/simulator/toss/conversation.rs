//! One call from start to end: key, replay, plan, books, answer.

use std::time::Duration;

use axum::response::{IntoResponse, Response};

use super::{
    envelope::{Envelope, Identity},
    fault::{Answer, Fault, Language},
    operation::{Operation, Order},
    replays::Begun,
};
use crate::simulator::{
    behaviours::{ForcedError, Plan},
    calls::Arrival,
    line::Line,
    world::{State, World},
};

/// How a call ends.
struct Decision {
    answer: Answer,
    /// What `/_control/calls` says.
    outcome: String,
    delay: Duration,
    drop: bool,
    /// Where the call holds an idempotency key: the answer to keep under it, or none to free it.
    kept: Option<(Identity, Option<Answer>)>,
}

impl Decision {
    /// Answers at once and keeps nothing.
    fn plain(answer: Answer) -> Self {
        let outcome = answer.outcome.clone();
        Self { answer, outcome, delay: Duration::ZERO, drop: false, kept: None }
    }
}

/// Answers a request. The work runs in a task of its own, so that it finishes even when the client leaves.
pub(super) async fn converse(world: World, line: Line, envelope: Envelope, operation: Operation) -> Response {
    let language = envelope.language;
    let tasks = world.tasks.clone();
    match tasks.spawn(run(world, envelope, operation)).await {
        Ok(Some(answer)) => answer.into_response(),
        Ok(None) => line.cut(),
        Err(_ended_early) => Fault::of("FAILED_INTERNAL_SYSTEM_PROCESSING").answer(language).into_response(),
    }
}

/// The answer, or none where the connection is to be cut.
async fn run(world: World, envelope: Envelope, operation: Operation) -> Option<Answer> {
    let (call, decision) = world.with(|state| {
        let (order_id, amount) = operation.about(&state.toss.ledger);
        let call = state.calls.begin(Arrival {
            gateway: super::GATEWAY,
            operation: operation.name(),
            idempotency_key: envelope.idempotency_key.clone(),
            order_id,
            amount,
        });
        (call, decide(state, call, &envelope, &operation))
    });
    world.pause(decision.delay).await;
    world.with(|state| {
        if let Some((identity, answer)) = decision.kept {
            state.toss.replays.finish(identity, call, answer);
        }
        state.calls.finish(call, &decision.outcome);
    });
    (!decision.drop).then_some(decision.answer)
}

/// Decides everything, and moves the money, in one step under the lock.
fn decide(state: &mut State, call: u64, envelope: &Envelope, operation: &Operation) -> Decision {
    let secret_key = match envelope.secret_key() {
        Ok(secret_key) => secret_key,
        Err(fault) => return Decision::plain(fault.answer(envelope.language)),
    };
    let identity = match envelope.identity(&secret_key) {
        Ok(identity) => identity,
        Err(fault) => return Decision::plain(fault.answer(envelope.language)),
    };
    if let Some(identity) = &identity {
        match state.toss.replays.begin(identity, call) {
            Begun::Fresh => {}
            Begun::Running => {
                let fault = Fault::of("IDEMPOTENT_REQUEST_PROCESSING");
                return Decision::plain(fault.answer(envelope.language));
            }
            Begun::Answered(answer) => {
                return Decision { outcome: "REPLAYED".to_owned(), ..Decision::plain(answer) };
            }
        }
    }
    let forced = envelope.forced_code(&secret_key).map(Plan::refusal);
    carry_out(state, forced, identity, envelope.language, operation)
}

/// A first call: what was asked for, as the plan bends it.
fn carry_out(
    state: &mut State,
    forced: Option<Plan>,
    identity: Option<Identity>,
    language: Language,
    operation: &Operation,
) -> Decision {
    let (plan, order) = match (forced, operation.read()) {
        (Some(plan), order) => (plan, order.ok()),
        (None, Ok(order)) => (plan_for(state, operation, &order), Some(order)),
        (None, Err(fault)) => (Plan::refusal(&fault.code), None),
    };
    let truth = match order {
        Some(order) if plan.effect => Some(order.carry_out(&mut state.toss.ledger, language)),
        _ => None,
    };
    let error = plan.error.as_ref().map(|error| fault(error, operation).answer(language));
    let kept = identity.map(|identity| (identity, kept(error.as_ref(), truth.as_ref())));
    let answer =
        error.or(truth).unwrap_or_else(|| Fault::of("FAILED_INTERNAL_SYSTEM_PROCESSING").answer(language));
    let outcome = if plan.drop { "DROPPED".to_owned() } else { answer.outcome.clone() };
    Decision { answer, outcome, delay: plan.delay, drop: plan.drop, kept }
}

/// What a test asked for goes before what the card asks for.
fn plan_for(state: &mut State, operation: &Operation, order: &Order) -> Plan {
    state
        .behaviours
        .take(super::GATEWAY, operation.name())
        .or_else(|| order.magic())
        .unwrap_or(Plan::ORDINARY)
}

fn fault(error: &ForcedError, operation: &Operation) -> Fault {
    match (error.status, &error.code) {
        (Some(status), Some(code)) => Fault { status, code: code.clone() },
        (None, Some(code)) => Fault::of(code),
        (status, None) => Fault::of_status(status.unwrap_or(500), operation.refusal()),
    }
}

/// The answer to keep under the idempotency key. Refusals are kept like approvals. A 409 and a server error are not
/// (for server errors Toss does not say, and keeping them would block the key for good): a repetition then gets
/// what really happened, or is a first call again if nothing did.
fn kept(error: Option<&Answer>, truth: Option<&Answer>) -> Option<Answer> {
    error.filter(|error| error.status != 409 && error.status < 500).or(truth).cloned()
}
