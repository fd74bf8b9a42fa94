use super::{OutboxEvent, OutboxStatus};
use crate::{broker::BrokerState, types::Instant, types::stored_enum};

stored_enum! {
    /// Why a row is where it is.
    WaitReason {
        /// The next look picks it up.
        NextPoll = "NEXT_POLL",
        /// It failed and waits for its next try.
        Backoff = "BACKOFF",
        /// A process has it.
        Claimed = "CLAIMED",
        /// The broker is down or blocked.
        BrokerDown = "BROKER_DOWN",
        /// No promotion is active, so the worker does not look.
        NoActivePromotion = "NO_ACTIVE_PROMOTION",
        /// Only a person moves it on.
        NeedsOperator = "NEEDS_OPERATOR",
        /// The payment provider did not say how it ended; it is asked again.
        ProviderUnknown = "PROVIDER_UNKNOWN",
    }
}

/// What a row waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitState {
    /// Why.
    pub reason: WaitReason,
    /// Until when, if that is known.
    pub until: Option<Instant>,
    /// Since when.
    pub since: Option<Instant>,
    /// Who or what.
    pub detail: Option<String>,
}

/// What an event waits for; `None` once it is published.
pub fn waiting_for(event: &OutboxEvent, broker: &BrokerState, now: Instant) -> Option<WaitState> {
    let state = |reason, until, since, detail| Some(WaitState { reason, until, since, detail });
    match OutboxStatus::parse(&event.status)? {
        OutboxStatus::Published => None,
        OutboxStatus::Processing => {
            state(WaitReason::Claimed, None, event.processing_started_at, event.claimed_by.clone())
        }
        OutboxStatus::DeadLettered => {
            state(WaitReason::NeedsOperator, None, event.dead_lettered_at, event.last_error.clone())
        }
        OutboxStatus::Failed if event.next_retry_at.is_some_and(|at| at > now) => {
            state(WaitReason::Backoff, event.next_retry_at, Some(event.updated_at), event.last_error.clone())
        }
        OutboxStatus::Pending | OutboxStatus::Failed => match broker {
            BrokerState::Down { since, error } => {
                state(WaitReason::BrokerDown, None, Some(*since), Some(error.clone()))
            }
            BrokerState::Blocked { since, reason } => {
                state(WaitReason::BrokerDown, None, Some(*since), Some(format!("blocked: {reason}")))
            }
            BrokerState::Connecting => {
                state(WaitReason::BrokerDown, None, None, Some("not connected yet".to_owned()))
            }
            BrokerState::Up { .. } => state(WaitReason::NextPoll, None, Some(event.updated_at), None),
        },
    }
}
