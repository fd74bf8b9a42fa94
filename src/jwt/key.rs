use jsonwebtoken::{
    Algorithm, DecodingKey, DecodingKeyKind,
    jwk::{AlgorithmParameters, CommonParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse},
};
use secrecy::{ExposeSecret, SecretString};

use super::KeyError;

/// Bytes of a 2048-bit modulus; verification refuses shorter keys, so they are refused when read.
const MIN_RSA_BYTES: usize = 256;
/// Bytes of an uncompressed point on P-256: its tag and two coordinates.
const P256_POINT_BYTES: usize = 65;

/// A key to check signatures with, and the only algorithms that it may be used for.
#[derive(Debug, Clone)]
pub(super) struct VerifyingKey {
    pub(super) key: DecodingKey,
    pub(super) algorithms: Vec<Algorithm>,
}

impl VerifyingKey {
    /// HS256.
    pub(super) fn shared_secret(secret: &SecretString) -> Result<Self, KeyError> {
        let key = DecodingKey::from_secret(secret.expose_secret().as_bytes())
            .map_err(|_empty| KeyError::EmptySecret)?;
        Ok(Self { key, algorithms: vec![Algorithm::HS256] })
    }

    /// RS256, ES256 or `EdDSA`, by the kind of key.
    pub(super) fn public_pem(pem: &[u8]) -> Result<Self, KeyError> {
        // jsonwebtoken would also read private keys and certificates as if they were public keys.
        let text = String::from_utf8_lossy(pem);
        let public = ["-----BEGIN PUBLIC KEY-----", "-----BEGIN RSA PUBLIC KEY-----"];
        if !public.into_iter().any(|start| text.trim_start().starts_with(start)) {
            return Err(KeyError::NotPublicPem);
        }
        if let Ok(key) = DecodingKey::from_rsa_pem(pem) {
            return Self::rsa(key, vec![Algorithm::RS256]).ok_or(KeyError::ShortRsaKey);
        }
        if let Ok(key) = DecodingKey::from_ec_pem(pem) {
            return match key.try_get_as_bytes() {
                Ok(point) if point.len() == P256_POINT_BYTES => {
                    Ok(Self { key, algorithms: vec![Algorithm::ES256] })
                }
                _ => Err(KeyError::UnsupportedKey),
            };
        }
        match DecodingKey::from_ed_pem(pem) {
            Ok(key) => Ok(Self { key, algorithms: vec![Algorithm::EdDSA] }),
            Err(_) => Err(KeyError::UnsupportedKey),
        }
    }

    /// A key of a JWKS, if it is one to check signatures with. Shared secrets are not: a published one is no secret.
    pub(super) fn published(jwk: &Jwk) -> Option<Self> {
        if !is_for_signatures(&jwk.common) {
            return None;
        }
        let suited = suited_algorithms(&jwk.algorithm);
        let algorithms = match jwk.common.key_algorithm {
            None => suited,
            Some(named) => vec![Algorithm::try_from(named).ok().filter(|named| suited.contains(named))?],
        };
        let key = DecodingKey::from_jwk(jwk).ok()?;
        match &jwk.algorithm {
            _ if algorithms.is_empty() => None,
            AlgorithmParameters::RSA(_) => Self::rsa(key, algorithms),
            _ => Some(Self { key, algorithms }),
        }
    }

    fn rsa(key: DecodingKey, algorithms: Vec<Algorithm>) -> Option<Self> {
        let bytes = match key.kind() {
            DecodingKeyKind::SecretOrDer(der) => der.len(),
            DecodingKeyKind::RsaModulusExponent { n, .. } => n.len(),
        };
        (bytes >= MIN_RSA_BYTES).then_some(Self { key, algorithms })
    }
}

/// What a key of this type can do, whatever a token says.
fn suited_algorithms(parameters: &AlgorithmParameters) -> Vec<Algorithm> {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    match parameters {
        AlgorithmParameters::RSA(_) => vec![RS256, RS384, RS512, PS256, PS384, PS512],
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P256 => vec![ES256],
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P384 => vec![ES384],
        AlgorithmParameters::OctetKeyPair(okp) if okp.curve == EllipticCurve::Ed25519 => vec![EdDSA],
        _ => Vec::new(),
    }
}

fn is_for_signatures(common: &CommonParameters) -> bool {
    let use_fits = common.public_key_use.as_ref().is_none_or(|named| *named == PublicKeyUse::Signature);
    let operations_fit =
        common.key_operations.as_ref().is_none_or(|named| named.contains(&KeyOperations::Verify));
    use_fits && operations_fit
}
