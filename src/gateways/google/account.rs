//! The service account, and the access tokens that are given out for its signature.

use std::path::Path;

use secrecy::SecretString;
use serde::Deserialize;
use serde_json::json;

use crate::{
    config::SettingError,
    gateways::{
        CallOutcome,
        dialogue::{Failed, Token, json as body_of},
    },
    httpclient::HttpAnswer,
    jwt::RsaSigner,
    types::Instant,
};

const FILE: &str = "PAYDESK_GOOGLE_SERVICE_ACCOUNT_FILE";
const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
const SCOPE: &str = "https://www.googleapis.com/auth/androidpublisher";
/// How long an assertion lives; Google allows an hour.
const ASSERTION_SECONDS: i64 = 600;
/// How much later Google's clock may be behind ours.
const SKEW_SECONDS: i64 = 30;
/// How long a token lives where the answer does not say.
const TOKEN_SECONDS: u64 = 3600;

/// Who we are at Google.
#[derive(Debug, Clone)]
pub(super) struct ServiceAccount {
    email: String,
    token_url: String,
    signer: RsaSigner,
}

/// The JSON file that Google's console gives out.
#[derive(Deserialize)]
struct KeyFile {
    client_email: String,
    private_key: SecretText,
    private_key_id: Option<String>,
    token_uri: Option<String>,
}

/// A text that is never shown.
#[derive(Deserialize)]
#[serde(from = "String")]
struct SecretText(SecretString);

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(SecretString::from(text))
    }
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    expires_in: Option<u64>,
}

#[derive(Deserialize)]
struct OAuthError {
    error: String,
    error_description: Option<String>,
}

impl ServiceAccount {
    /// Reads the key file; `token_url` goes before what it says.
    pub(super) fn read(file: &Path, token_url: Option<&str>) -> Result<Self, SettingError> {
        let wrong = |problem: String| SettingError::new(FILE, format!("{} {problem}", file.display()));
        let text = std::fs::read(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        // serde's text could quote the key.
        let key: KeyFile = serde_json::from_slice(&text).map_err(|_quoting| {
            wrong("is no service account's key file (JSON with client_email and private_key)".to_owned())
        })?;
        let signer = RsaSigner::new(&key.private_key.0, key.private_key_id)
            .map_err(|error| wrong(format!("has an unusable private_key: {error}")))?;
        let token_url = token_url.map(str::to_owned).or(key.token_uri);
        Ok(Self {
            email: key.client_email,
            token_url: token_url.unwrap_or_else(|| TOKEN_URL.to_owned()),
            signer,
        })
    }

    pub(super) fn token_url(&self) -> &str {
        &self.token_url
    }

    /// What an access token is given for. Made anew for each request: an old one is refused for its times.
    pub(super) fn assertion(&self, now: Instant) -> SecretString {
        let issued = now.timestamp() - SKEW_SECONDS;
        let claims = json!({
            "iss": self.email,
            "scope": SCOPE,
            "aud": self.token_url,
            "iat": issued,
            "exp": issued + ASSERTION_SECONDS,
        });
        let claims = claims.as_object().cloned().unwrap_or_default();
        // The key was tried when it was read; an empty assertion is refused, and told so.
        SecretString::from(self.signer.sign(&claims).unwrap_or_default())
    }
}

/// An access token. A refusal in OAuth's words is about our account, not about a purchase.
pub(super) fn read_token(answer: &HttpAnswer) -> Result<Token, Failed> {
    if answer.status == 200 {
        let token: TokenAnswer = body_of(answer)?;
        return Ok(Token::new(token.access_token, token.expires_in.unwrap_or(TOKEN_SECONDS)));
    }
    match serde_json::from_slice::<OAuthError>(&answer.body) {
        Ok(body) if matches!(answer.status, 400 | 401 | 403) => Err(Failed::new(
            CallOutcome::Misconfigured,
            &body.error,
            body.error_description.as_deref().unwrap_or_default(),
        )),
        _ => Err(Failed::status(answer)),
    }
}
