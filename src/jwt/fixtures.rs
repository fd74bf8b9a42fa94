//! Keys and tokens for this room's tests.

use std::time::Duration;

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, jwk::Jwk};
use secrecy::SecretString;
use serde_json::{Map, Value, json};

use super::Rules;
use crate::types::clock;

pub(super) const RSA: &[u8] = include_bytes!("../../tests/keys/rsa.pem");
pub(super) const RSA_PUBLIC: &[u8] = include_bytes!("../../tests/keys/rsa.pub.pem");
pub(super) const RSA_1024_PUBLIC: &[u8] = include_bytes!("../../tests/keys/rsa1024.pub.pem");
pub(super) const P256: &[u8] = include_bytes!("../../tests/keys/p256.pem");
pub(super) const P256_PUBLIC: &[u8] = include_bytes!("../../tests/keys/p256.pub.pem");
pub(super) const P384: &[u8] = include_bytes!("../../tests/keys/p384.pem");
pub(super) const P384_PUBLIC: &[u8] = include_bytes!("../../tests/keys/p384.pub.pem");
pub(super) const ED25519: &[u8] = include_bytes!("../../tests/keys/ed25519.pem");
pub(super) const ED25519_PUBLIC: &[u8] = include_bytes!("../../tests/keys/ed25519.pub.pem");

pub(super) fn rules() -> Rules {
    Rules {
        issuer: "https://id.example.com".to_owned(),
        audience: "paydesk".to_owned(),
        leeway: Duration::from_secs(5),
    }
}

pub(super) fn secret() -> SecretString {
    SecretString::from("0123456789abcdef0123456789abcdef")
}

/// Claims that pass, changed by `change`.
pub(super) fn claims(change: impl FnOnce(&mut Map<String, Value>)) -> Map<String, Value> {
    let now = clock::now().timestamp();
    let valid = json!({
        "iss": "https://id.example.com", "aud": "paydesk", "sub": "alice", "iat": now, "exp": now + 600,
    });
    let mut claims = valid.as_object().cloned().unwrap();
    change(&mut claims);
    claims
}

pub(super) fn signing_key(algorithm: Algorithm, pem: &[u8]) -> EncodingKey {
    match algorithm {
        Algorithm::ES256 | Algorithm::ES384 => EncodingKey::from_ec_pem(pem),
        Algorithm::EdDSA => EncodingKey::from_ed_pem(pem),
        Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512 => EncodingKey::from_secret(pem),
        _ => EncodingKey::from_rsa_pem(pem),
    }
    .unwrap()
}

/// A token with valid claims, signed by `pem` (for HS256: with its bytes as the secret).
pub(super) fn token(algorithm: Algorithm, pem: &[u8], key_id: Option<&str>) -> String {
    let header = Header { kid: key_id.map(str::to_owned), ..Header::new(algorithm) };
    encode(&header, &claims(|_| {}), &signing_key(algorithm, pem)).unwrap()
}

/// The public half of `pem` as the identity provider publishes it.
pub(super) fn published(algorithm: Algorithm, pem: &[u8], key_id: Option<&str>) -> Jwk {
    let mut jwk = Jwk::from_encoding_key(&signing_key(algorithm, pem), algorithm).unwrap();
    jwk.common.key_id = key_id.map(str::to_owned);
    jwk
}
