//! What surrounds a request: who sends it, under which idempotency key, in which language.

use axum::http::{HeaderMap, Uri};
use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::fault::{Fault, Language};

const KEY_PREFIXES: [&str; 4] = ["test_sk_", "live_sk_", "test_gsk_", "live_gsk_"];
const MAX_IDEMPOTENCY_KEY_CHARS: usize = 300;

/// The headers that matter.
#[derive(Debug)]
pub(super) struct Envelope {
    authorization: Option<String>,
    pub(super) idempotency_key: Option<String>,
    test_code: Option<String>,
    pub(super) language: Language,
    /// Method and path of a request whose answer is kept under its idempotency key: a POST.
    kept_as: Option<String>,
}

/// What makes two requests the same one. The body is not part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    idempotency_key: String,
    secret_key: String,
    method_and_path: String,
}

impl Envelope {
    /// A POST: its answer is kept under its idempotency key.
    pub(super) fn post(headers: &HeaderMap, uri: &Uri) -> Self {
        Self { kept_as: Some(format!("POST {}", uri.path())), ..Self::get(headers) }
    }

    /// A GET: an idempotency key changes nothing.
    pub(super) fn get(headers: &HeaderMap) -> Self {
        let header = |name: &str| {
            headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
        };
        let english = header("accept-language").is_some_and(|value| value.starts_with("en"));
        Self {
            authorization: header("authorization"),
            idempotency_key: header("idempotency-key").filter(|key| !key.is_empty()),
            test_code: header("tosspayments-test-code").filter(|code| !code.is_empty()),
            language: if english { Language::English } else { Language::Korean },
            kept_as: None,
        }
    }

    /// The secret key, if the request carries one as it must: `Basic base64("{secretKey}:")`.
    pub(super) fn secret_key(&self) -> Result<String, Fault> {
        let header = self.authorization.as_deref().ok_or_else(|| Fault::of("UNAUTHORIZED_KEY"))?;
        let key = basic_user(header).ok_or_else(|| Fault::of("INCORRECT_BASIC_AUTH_FORMAT"))?;
        let known = KEY_PREFIXES.iter().any(|prefix| key.len() > prefix.len() && key.starts_with(prefix));
        if known { Ok(key) } else { Err(Fault::of("UNAUTHORIZED_KEY")) }
    }

    /// Under which identity the answer is kept, if it is.
    pub(super) fn identity(&self, secret_key: &str) -> Result<Option<Identity>, Fault> {
        let (Some(key), Some(method_and_path)) = (&self.idempotency_key, &self.kept_as) else {
            return Ok(None);
        };
        if key.chars().count() > MAX_IDEMPOTENCY_KEY_CHARS {
            return Err(Fault::of("INVALID_IDEMPOTENCY_KEY"));
        }
        Ok(Some(Identity {
            idempotency_key: key.clone(),
            secret_key: secret_key.to_owned(),
            method_and_path: method_and_path.clone(),
        }))
    }

    /// The error that the request itself asks for, which only test keys may.
    pub(super) fn forced_code(&self, secret_key: &str) -> Option<&str> {
        self.test_code.as_deref().filter(|_| secret_key.starts_with("test_"))
    }
}

/// The user of Basic credentials with an empty password.
fn basic_user(header: &str) -> Option<String> {
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let credentials = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    credentials.strip_suffix(':').map(str::to_owned)
}
