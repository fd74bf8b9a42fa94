//! What the purchase gateways' clients have in common: calls that are written down, answers that are read or not, and
//! access tokens.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant as Stopwatch},
};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use chrono::FixedOffset;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{
    Asked, CallOutcome, ProviderCall, PurchaseOutcome, PurchaseRefusal, Refusal, RefusalReason,
    refusal::no_answer_code,
};
use crate::{
    httpclient::{HttpAnswer, HttpError},
    types::Instant,
};

/// Longest reference of a purchase that is sent on; a longer one is no gateway's.
const MAX_REFERENCE_BYTES: usize = 1500;
/// How long before its end a token is no longer used.
const TOKEN_MARGIN: Duration = Duration::from_secs(60);

/// One or several calls to a gateway for one purpose, each written down.
#[derive(Debug)]
pub(super) struct Dialogue {
    provider: &'static str,
    pub(super) calls: Vec<ProviderCall>,
}

/// A call that did not bring what was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failed {
    pub(super) outcome: CallOutcome,
    pub(super) refusal: Refusal,
}

impl Dialogue {
    pub(super) fn new(provider: &'static str) -> Self {
        Self { provider, calls: Vec::new() }
    }

    /// Makes one call, reads what came, and writes both down. What was not read with certainty is a failure.
    pub(super) async fn call<T>(
        &mut self,
        operation: &'static str,
        request: impl Future<Output = Result<HttpAnswer, HttpError>>,
        read: impl FnOnce(&HttpAnswer) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let started = Stopwatch::now();
        let result = match request.await {
            Ok(answer) => read(&answer),
            Err(error) => Err(Failed::unknown(no_answer_code(&error), &error.to_string())),
        };
        let (outcome, code) = match &result {
            Ok(_) => (CallOutcome::Approved, None),
            Err(failed) => (failed.outcome, Some(failed.refusal.code.clone())),
        };
        self.calls.push(ProviderCall::ended(self.provider, operation, started, outcome, code));
        result
    }

    /// The end: what it all came to.
    pub(super) fn end(self, outcome: PurchaseOutcome) -> Asked {
        Asked { outcome, calls: self.calls }
    }
}

impl Failed {
    pub(super) fn new(outcome: CallOutcome, code: &str, message: &str) -> Self {
        Self { outcome, refusal: Refusal::new(code, message) }
    }

    /// No answer, or none that says anything.
    pub(super) fn unknown(code: &str, message: &str) -> Self {
        Self::new(CallOutcome::Unknown, code, message)
    }

    /// An answer with a status that decides nothing.
    pub(super) fn status(answer: &HttpAnswer) -> Self {
        Self::unknown("UNEXPECTED_STATUS", &format!("HTTP {}", answer.status))
    }
}

/// A call that failed, as the answer to "is it paid?". "Not found" is the gateway's own word that nothing was paid.
impl From<Failed> for PurchaseOutcome {
    fn from(failed: Failed) -> Self {
        match failed.outcome {
            CallOutcome::NotFound => Self::NotFound(failed.refusal),
            CallOutcome::Refused => Self::NotPaid(failed.refusal),
            CallOutcome::Misconfigured => Self::Misconfigured(failed.refusal),
            CallOutcome::Approved
            | CallOutcome::AlreadyDone
            | CallOutcome::InProgress
            | CallOutcome::Unknown => Self::Unknown(failed.refusal),
        }
    }
}

/// The body of an answer as `T`.
pub(super) fn json<T: DeserializeOwned>(answer: &HttpAnswer) -> Result<T, Failed> {
    serde_json::from_slice(&answer.body).map_err(|_unreadable| {
        let message = format!("HTTP {} with a body that cannot be read", answer.status);
        Failed::unknown("UNREADABLE_ANSWER", &message)
    })
}

/// Whether this can be a gateway's reference at all: it is put into paths and bodies. Dots alone would lead out of
/// their place in a path, however they are written.
pub(super) fn is_reference(text: &str) -> bool {
    let is_printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    is_printable && text.len() <= MAX_REFERENCE_BYTES && text.bytes().any(|byte| byte != b'.')
}

/// What a presented reference comes to that no gateway can have given out.
pub(super) fn no_reference() -> PurchaseOutcome {
    let message = "it cannot be a reference of this gateway".to_owned();
    PurchaseOutcome::Refused(PurchaseRefusal { reason: RefusalReason::Unusable, message })
}

/// `text` as one segment of a path.
pub(super) fn segment(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let written = |byte: u8| {
        if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(written).collect()
}

/// A time as Korean gateways write it.
pub(super) fn seoul(at: Instant, format: &str) -> String {
    FixedOffset::east_opt(9 * 3600)
        .map_or_else(String::new, |seoul| at.with_timezone(&seoul).format(format).to_string())
}

/// Bytes as lowercase hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two hashes are the same, without telling by the time it takes how much of them is.
pub(super) fn is_same(ours: &str, theirs: &str) -> bool {
    verify_slices_are_equal(ours.as_bytes(), theirs.as_bytes()).is_ok()
}

/// A JSON string or number, in its own digits: never rounded by way of a float.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scalar(pub(super) String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'"') => serde_json::from_str(text).map(Self).map_err(serde::de::Error::custom),
            Some(b'-' | b'0'..=b'9') => Ok(Self(text.to_owned())),
            _ => Err(serde::de::Error::custom("neither a string nor a number")),
        }
    }
}

/// An access token that is kept until shortly before its end. Cloning shares it.
#[derive(Clone, Default)]
pub(super) struct TokenCache(Arc<Mutex<Option<Token>>>);

/// An access token as a gateway gave it.
#[derive(Clone)]
pub(super) struct Token {
    value: SecretString,
    until: Stopwatch,
}

impl Token {
    /// Valid for so long from now on.
    pub(super) fn new(value: String, seconds: u64) -> Self {
        let lifetime = Duration::from_secs(seconds.min(24 * 3600)).saturating_sub(TOKEN_MARGIN);
        Self { value: SecretString::from(value), until: Stopwatch::now() + lifetime }
    }

    /// The header's value that carries it.
    pub(super) fn bearer(&self) -> SecretString {
        SecretString::from(format!("Bearer {}", self.value.expose_secret()))
    }
}

impl TokenCache {
    /// The token, while it can be used.
    pub(super) fn get(&self) -> Option<Token> {
        self.lock().clone().filter(|token| Stopwatch::now() < token.until)
    }

    /// Keeps a new one.
    pub(super) fn put(&self, token: Token) {
        *self.lock() = Some(token);
    }

    /// Forgets this one; a newer one, which somebody else has fetched meanwhile, stays.
    pub(super) fn forget(&self, refused: &Token) {
        let mut kept = self.lock();
        let is_it = |token: &mut Token| token.value.expose_secret() == refused.value.expose_secret();
        kept.take_if(is_it);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Token>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for TokenCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TokenCache")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_own_digits() {
        let cases = [
            (r#""11000""#, "11000"),
            ("11000", "11000"),
            ("11000.50", "11000.50"),
            ("99999999999999999999999", "99999999999999999999999"),
            ("1e400", "1e400"),
        ];
        for (json, text) in cases {
            assert_eq!(serde_json::from_str::<Scalar>(json).unwrap().0, text);
        }
        for json in ["true", "[1]", "{}", "null"] {
            assert!(serde_json::from_str::<Scalar>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_segment_cannot_leave_its_place_in_the_path() {
        assert_eq!(segment("a/../b?c#d%e f:g"), "a%2F..%2Fb%3Fc%23d%25e%20f%3Ag");
        assert_eq!(segment("kr.coin_100-A~"), "kr.coin_100-A~");
        for text in ["", ".", "..", "a b", "a\n", "한글", &"x".repeat(1501)] {
            assert!(!is_reference(text), "{text}");
        }
        assert!(is_reference("a..b/c+d=="));
    }

    #[test]
    fn a_token_is_used_until_a_minute_before_its_end_and_forgotten_only_by_its_own_refusal() {
        let cache = TokenCache::default();
        cache.put(Token::new("old".to_owned(), 60));
        assert!(cache.get().is_none());
        let first = Token::new("first".to_owned(), 1800);
        cache.put(first.clone());
        cache.put(Token::new("second".to_owned(), u64::MAX));
        cache.forget(&first);
        let kept = cache.get().unwrap();
        assert_eq!(kept.bearer().expose_secret(), "Bearer second");
        cache.forget(&kept);
        assert!(cache.get().is_none());
    }
}
