//! What messages of the meeting service do (domain.md, "Messages consumed").

mod cancel;
mod deletion;
mod register;

pub use cancel::ParticipantCancel;
pub use deletion::MeetingDeleted;
pub use register::ParticipantRegister;

use super::{Payments, Refund};
use crate::inbox::{HandlingError, Subscription};

/// Longest reason that is taken.
const MAX_REASON_CHARS: usize = 1_000;

/// An id of another service in a message.
fn id(field: &str, value: i64) -> Result<i64, HandlingError> {
    if value > 0 {
        Ok(value)
    } else {
        Err(HandlingError::data(
            "INVALID_FIELD",
            format!("{field} must be a positive whole number, not {value}"),
        ))
    }
}

/// Why a refund is made: the message's words, or ours.
fn reason(given: Option<String>, ours: &str) -> Result<String, HandlingError> {
    let Some(reason) = given.filter(|reason| !reason.trim().is_empty()) else { return Ok(ours.to_owned()) };
    if reason.chars().count() > MAX_REASON_CHARS || reason.contains('\0') {
        let text = format!("reason must have at most {MAX_REASON_CHARS} characters, none NUL");
        return Err(HandlingError::data("INVALID_FIELD", text));
    }
    Ok(reason)
}

/// Why a queue is left to other processes: this one cannot ask the provider, and would not carry its messages out.
fn without_provider(payments: &Payments, subscription: &Subscription) -> Option<String> {
    let missing = "PAYDESK_TOSS_URL and PAYDESK_TOSS_SECRET_KEY are not set";
    payments.toss.is_none().then(|| not_consumed(subscription, missing))
}

fn not_consumed(subscription: &Subscription, missing: &str) -> String {
    format!("{} is not consumed: {missing}", subscription.queue.name)
}

/// Nobody knows yet whether the money went back.
fn undecided(refund: &Refund) -> HandlingError {
    HandlingError::system("OUTCOME_UNKNOWN", format!("whether refund {} was made is unknown", refund.id))
}
