use std::fmt;

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use thiserror::Error;

/// Why a token cannot be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SignError {
    /// The secret is empty, the key is none, or the claims cannot be written.
    #[error("the token cannot be signed with this secret or key")]
    Unsignable,
}

/// Signs `claims`, whatever they are, as an HS256 token: for development, scripts and tests.
/// `auth::issue` makes claims that `serve` accepts.
pub fn sign(secret: &SecretString, claims: &Map<String, Value>) -> Result<String, SignError> {
    let key = EncodingKey::from_secret(secret.expose_secret().as_bytes())
        .map_err(|_empty| SignError::Unsignable)?;
    encode(&Header::new(Algorithm::HS256), claims, &key).map_err(|_unsigned| SignError::Unsignable)
}

/// Signs RS256 tokens with a private key of ours, for providers that want them.
#[derive(Clone)]
pub struct RsaSigner {
    key: EncodingKey,
    key_id: Option<String>,
}

impl RsaSigner {
    /// Reads a private key in PEM (PKCS#8 or PKCS#1), and tries it.
    pub fn new(pem: &SecretString, key_id: Option<String>) -> Result<Self, SignError> {
        let key = EncodingKey::from_rsa_pem(pem.expose_secret().as_bytes())
            .map_err(|_no_key| SignError::Unsignable)?;
        let signer = Self { key, key_id };
        signer.sign(&Map::new())?;
        Ok(signer)
    }

    /// Signs `claims`, whatever they are.
    pub fn sign(&self, claims: &Map<String, Value>) -> Result<String, SignError> {
        let header = Header { kid: self.key_id.clone(), ..Header::new(Algorithm::RS256) };
        encode(&header, claims, &self.key).map_err(|_unsigned| SignError::Unsignable)
    }
}

impl fmt::Debug for RsaSigner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RsaSigner")
    }
}
