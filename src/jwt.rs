//! Signing and checking tokens. The only room that knows jsonwebtoken.
//!
//! Which algorithm a token may use is fixed by the configured key, never by the token's header.
//! jsonwebtoken's `Validation::new` is lenient (60 s leeway, no `nbf`, a missing `aud` or `iss` passes),
//! so `Rules` sets every switch, and `claims` checks again what it would still let pass.

mod claims;
mod error;
#[cfg(test)]
mod fixtures;
mod jwks;
mod key;
mod sign;
#[cfg(test)]
mod tests;

pub use claims::{Claims, Rules};
pub use error::{KeyError, TokenError};
pub use sign::{RsaSigner, SignError, sign};

use jsonwebtoken::decode_header;
use secrecy::SecretString;

use crate::httpclient::HttpClient;
use jwks::{Jwks, RefreshPolicy};
use key::VerifyingKey;

/// A longer token is refused unread; a real one has some hundreds of bytes.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Checks tokens against one source of keys and one set of rules.
#[derive(Debug)]
pub struct Checker {
    keys: Keys,
    rules: Rules,
}

#[derive(Debug)]
enum Keys {
    Fixed(VerifyingKey),
    Remote(Jwks),
}

impl Checker {
    /// Tokens are HS256 with a shared secret.
    pub fn shared_secret(secret: &SecretString, rules: Rules) -> Result<Self, KeyError> {
        Ok(Self { keys: Keys::Fixed(VerifyingKey::shared_secret(secret)?), rules })
    }

    /// Tokens are RS256, ES256 or `EdDSA`, as the public key in `pem` is.
    pub fn public_key(pem: &[u8], rules: Rules) -> Result<Self, KeyError> {
        Ok(Self { keys: Keys::Fixed(VerifyingKey::public_pem(pem)?), rules })
    }

    /// Tokens are signed with a key of the JWKS at `url`, which is first fetched when a token asks for it:
    /// the process starts, and goes on, while the provider is down.
    pub fn jwks(url: &str, http: HttpClient, rules: Rules) -> Result<Self, KeyError> {
        Ok(Self { keys: Keys::Remote(Jwks::new(url, http, RefreshPolicy::DEFAULT)?), rules })
    }

    /// The claims of `token`, if its signature and every rule hold.
    pub async fn check(&self, token: &str) -> Result<Claims, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::Malformed);
        }
        match &self.keys {
            Keys::Fixed(key) => self.rules.check(token, key),
            Keys::Remote(jwks) => {
                let header = decode_header(token).map_err(|error| TokenError::of(&error))?;
                let key = jwks.key(header.kid.as_deref()).await?;
                self.rules.check(token, &key)
            }
        }
    }
}
