use std::{sync::Arc, time::Duration};

use aws_lc_rs::{
    aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey},
    error::Unspecified,
    rand,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Principal, Role, TokenError};
use crate::types::{Instant, clock};

/// A session never lasts longer, however long its token does.
const AT_MOST: TimeDelta = TimeDelta::hours(10);
/// Separates these seals from whatever else the same key might be used for one day, and their versions.
const PURPOSE: &[u8] = b"paydesk console session 1";

/// Seals verified principals into cookies and opens them again: beside token verification the only way to a
/// principal, and only to one that a verified token made.
#[derive(Clone)]
pub struct Sessions(Arc<RandomizedNonceKey>);

/// What a browser keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSession {
    /// Opaque, of characters that a cookie can hold.
    pub value: String,
    /// How long it can be opened.
    pub lasts: Duration,
}

/// Only what is needed to know the principal again.
#[derive(Serialize, Deserialize)]
struct Claims {
    sub: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    roles: Vec<String>,
    /// Seconds since 1970.
    exp: i64,
}

impl Sessions {
    /// Seals with this key, which every process of a deployment shares; it was checked to be long enough.
    pub fn new(key: &SecretString) -> Self {
        let mut digest = Sha256::new();
        digest.update(PURPOSE);
        digest.update(key.expose_secret());
        Self::of(&digest.finalize())
    }

    /// Seals with a key that ends with the process: development without a configured one.
    pub fn of_this_process() -> Result<Self, Unspecified> {
        let mut key = [0; 32];
        rand::fill(&mut key)?;
        Ok(Self::of(&key))
    }

    fn of(key: &[u8]) -> Self {
        let key = RandomizedNonceKey::new(&AES_256_GCM, key);
        Self(Arc::new(key.unwrap_or_else(|_| unreachable!("the key of AES-256 has 32 bytes"))))
    }

    /// A session for this principal: ends with its token, at most in ten hours. None if that is over already.
    pub fn seal(&self, principal: &Principal) -> Option<SealedSession> {
        let now = clock::now();
        let until = principal.expires_at().min(now + AT_MOST);
        let lasts = Duration::from_secs(u64::try_from((until - now).num_seconds()).ok()?);
        let claims = Claims {
            sub: principal.subject().to_owned(),
            name: principal.name().map(str::to_owned),
            roles: principal.roles().iter().map(|role| role.as_str().to_owned()).collect(),
            exp: until.timestamp(),
        };
        let mut text = serde_json::to_vec(&claims).ok()?;
        let nonce = self.0.seal_in_place_append_tag(Aad::from(PURPOSE), &mut text).ok()?;
        let mut sealed = nonce.as_ref().to_vec();
        sealed.append(&mut text);
        Some(SealedSession { value: URL_SAFE_NO_PAD.encode(sealed), lasts })
    }

    /// Whose session this is.
    pub fn open(&self, sealed: &str) -> Result<Principal, TokenError> {
        let claims = self.claims(sealed).ok_or(TokenError::Malformed)?;
        let until: Instant = DateTime::from_timestamp(claims.exp, 0).ok_or(TokenError::Malformed)?;
        if until <= clock::now() {
            return Err(TokenError::Expired);
        }
        let roles = claims.roles.iter().filter_map(|role| Role::parse(role)).collect();
        Ok(Principal::verified(claims.sub, claims.name, roles, until))
    }

    fn claims(&self, sealed: &str) -> Option<Claims> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, text) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut text = text.to_vec();
        let opened = self.0.open_in_place(nonce, Aad::from(PURPOSE), &mut text).ok()?;
        serde_json::from_slice(opened).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(key: &str) -> Sessions {
        Sessions::new(&SecretString::from(key.repeat(32)))
    }

    fn principal(lasts: TimeDelta) -> Principal {
        Principal::for_tests("alice", &[Role::Admin, Role::Operator], clock::now() + lasts)
    }

    #[test]
    fn what_is_sealed_is_opened_as_it_was() {
        let sealed = sessions("k").seal(&principal(TimeDelta::hours(2))).unwrap();
        let opened = sessions("k").open(&sealed.value).unwrap();
        assert_eq!((opened.subject(), opened.name()), ("alice", None));
        assert_eq!(opened.roles(), [Role::Admin, Role::Operator]);
        assert!(!sealed.value.contains("alice"));
        assert!(sealed.lasts <= Duration::from_secs(7_200), "{sealed:?}");
    }

    #[test]
    fn it_ends_with_the_token_and_after_ten_hours_at_the_latest() {
        let sealed = sessions("k").seal(&principal(TimeDelta::days(30))).unwrap();
        let ten_hours = Duration::from_secs(36_000);
        assert!(sealed.lasts <= ten_hours && sealed.lasts > ten_hours - Duration::from_secs(5), "{sealed:?}");
        assert!(sessions("k").open(&sealed.value).unwrap().expires_at() <= clock::now() + AT_MOST);
        assert_eq!(sessions("k").seal(&principal(TimeDelta::seconds(-1))), None);
        let over = sessions("k").seal(&principal(TimeDelta::milliseconds(5))).unwrap();
        assert_eq!(sessions("k").open(&over.value).unwrap_err(), TokenError::Expired);
    }

    #[test]
    fn another_key_a_changed_byte_or_nonsense_opens_nothing() {
        let sealed = sessions("k").seal(&principal(TimeDelta::hours(1))).unwrap().value;
        assert!(sessions("l").open(&sealed).is_err());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert!(sessions("k").open(std::str::from_utf8(&changed).unwrap()).is_err(), "byte {at}");
        }
        for nonsense in ["", "A", "not base64!", &"A".repeat(16), &"A".repeat(5_000)] {
            assert!(sessions("k").open(nonsense).is_err(), "{nonsense:?}");
        }
    }
}
