//! What messages of the meeting service do (domain.md, "Messages consumed").

mod register;

pub use register::ParticipantRegister;

use crate::inbox::HandlingError;

/// An id of another service in a message.
fn id(field: &str, value: i64) -> Result<i64, HandlingError> {
    if value > 0 {
        Ok(value)
    } else {
        Err(HandlingError::data("INVALID_FIELD", format!("{field} must be a positive whole number, not {value}")))
    }
}
