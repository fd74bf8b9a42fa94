use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use thiserror::Error;

/// Why a token cannot be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SignError {
    /// The secret is empty, or the claims cannot be written.
    #[error("the token cannot be signed with this secret")]
    Unsignable,
}

/// Signs `claims`, whatever they are, as an HS256 token: for development, scripts and tests.
/// `auth::issue` makes claims that `serve` accepts.
pub fn sign(secret: &SecretString, claims: &Map<String, Value>) -> Result<String, SignError> {
    let key = EncodingKey::from_secret(secret.expose_secret().as_bytes())
        .map_err(|_empty| SignError::Unsignable)?;
    encode(&Header::new(Algorithm::HS256), claims, &key).map_err(|_unsigned| SignError::Unsignable)
}
