use crate::{httpclient::HttpError, types::text::storable};

/// Longest message that is kept of a refusal, in bytes.
const MAX_MESSAGE_BYTES: usize = 2000;
/// Longest code that is taken for one.
pub(super) const MAX_CODE_BYTES: usize = 100;

/// Why a gateway did not do what it was asked. Safe to store and to show: it is bounded, and nothing secret is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The provider's code, or ours for an answer that is missing, unreadable or not about our order.
    pub code: String,
    /// The provider's explanation, or ours; at most 2,000 bytes.
    pub message: String,
}

impl Refusal {
    /// Cleans and cuts both texts.
    pub(super) fn new(code: &str, message: &str) -> Self {
        Self { code: storable(code, MAX_CODE_BYTES), message: storable(message, MAX_MESSAGE_BYTES) }
    }
}

/// Our code for an answer that never came.
pub(super) fn no_answer_code(error: &HttpError) -> &'static str {
    match error {
        HttpError::TimedOut => "TIMEOUT",
        HttpError::NotConnected(_) => "NOT_CONNECTED",
        HttpError::Broken(_) => "CONNECTION_BROKEN",
    }
}
