use jsonwebtoken::errors::{Error, ErrorKind};
use thiserror::Error;

/// Why a token is refused. No text holds any part of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TokenError {
    /// It is no signed token at all: not three parts, not base64, not JSON, or far too long.
    #[error("the token is malformed")]
    Malformed,
    /// Its header names an algorithm that the configured key is not for, `none` included.
    #[error("the token's algorithm is not accepted")]
    Algorithm,
    /// The signature does not fit the key.
    #[error("the token's signature is wrong")]
    Signature,
    /// Its key id is not in the identity provider's key set.
    #[error("the token's key is unknown")]
    UnknownKey,
    /// It names no key, and the key set does not hold exactly one.
    #[error("the token names no key")]
    NoKeyId,
    /// The identity provider's keys have not been fetched yet, because it does not answer. Worth a later try.
    #[error("the identity provider's keys are not available")]
    KeysUnavailable,
    /// `exp` has passed.
    #[error("the token has expired")]
    Expired,
    /// `nbf` has not come yet.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// A required claim is absent, or a claim has a form that cannot be worked with.
    #[error("the token's claim {0} is missing or unusable")]
    Claim(&'static str),
    /// `iss` is not the configured issuer.
    #[error("the token is from another issuer")]
    Issuer,
    /// `aud` does not name the configured audience.
    #[error("the token is for another audience")]
    Audience,
}

impl TokenError {
    /// Translates jsonwebtoken's error without its text, which may quote the token.
    pub(super) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::InvalidSignature => Self::Signature,
            ErrorKind::InvalidAlgorithm
            | ErrorKind::InvalidAlgorithmName
            | ErrorKind::UnsupportedAlgorithm
            | ErrorKind::MissingAlgorithm
            | ErrorKind::InvalidKeyFormat => Self::Algorithm,
            ErrorKind::ExpiredSignature => Self::Expired,
            ErrorKind::ImmatureSignature => Self::NotYetValid,
            ErrorKind::InvalidIssuer => Self::Issuer,
            ErrorKind::InvalidAudience => Self::Audience,
            ErrorKind::MissingRequiredClaim(claim) | ErrorKind::InvalidClaimFormat(claim) => {
                Self::Claim(claim_name(claim))
            }
            _ => Self::Malformed,
        }
    }
}

/// The claim's name as a constant, so that an error is `Copy` and can hold nothing of the token's.
fn claim_name(claim: &str) -> &'static str {
    ["exp", "nbf", "iss", "aud", "sub"].into_iter().find(|known| *known == claim).unwrap_or("(unknown)")
}

/// Why a configured key cannot be worked with. No text holds any part of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum KeyError {
    /// An empty secret.
    #[error("the secret is empty")]
    EmptySecret,
    /// The file holds something else, such as a private key or a certificate.
    #[error("it holds no public key in PEM (-----BEGIN PUBLIC KEY-----)")]
    NotPublicPem,
    /// A public key of a kind that no accepted algorithm is for.
    #[error("the key is none of RSA, EC P-256 and Ed25519")]
    UnsupportedKey,
    /// An RSA key that is too short to be safe.
    #[error("an RSA key must have at least 2048 bits")]
    ShortRsaKey,
    /// Not an address that can be fetched.
    #[error("write an address that starts with https:// or http://")]
    NotHttp,
}
