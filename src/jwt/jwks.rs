//! The identity provider's key set: fetched when a token needs it, kept while the provider is away.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use jsonwebtoken::jwk::Jwk;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;
use tokio::{
    sync::{Mutex, MutexGuard},
    time::timeout,
};

use super::{KeyError, TokenError, key::VerifyingKey};
use crate::{
    httpclient::{HttpClient, HttpError},
    types::Backoff,
};

/// Requests wait for a fetch, so it must not last as long as a call to a payment gateway may.
const FETCH_TIMEOUT: Duration = Duration::from_secs(3);

/// How often the provider may be asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct RefreshPolicy {
    /// The wait after a fetch, doubling while fetches fail or bring nothing new: a flood of made-up key ids
    /// costs the provider one request each `cap`, and a new key is found `cap` after its first token at the latest.
    pub(super) pause: Backoff,
    /// An older set is fetched again when it is used, so that a key taken back by the provider stops working.
    pub(super) max_age: Duration,
}

impl RefreshPolicy {
    pub(super) const DEFAULT: Self = Self {
        pause: Backoff { base: Duration::from_secs(1), cap: Duration::from_secs(30) },
        max_age: Duration::from_secs(600),
    };
}

/// A cached key set.
#[derive(Debug)]
pub(super) struct Jwks {
    url: String,
    http: HttpClient,
    policy: RefreshPolicy,
    current: RwLock<Arc<KeySet>>,
    /// Held while fetching: one fetch at a time, and whoever waits for it looks at what it brought.
    fetching: Mutex<Fetching>,
}

/// The keys of one fetch.
#[derive(Debug, Default)]
struct KeySet {
    by_id: HashMap<String, VerifyingKey>,
    without_id: Vec<VerifyingKey>,
    fetched_at: Option<Instant>,
}

/// What the next fetch has to know of the ones before.
#[derive(Debug, Default)]
struct Fetching {
    not_before: Option<Instant>,
    fruitless: i64,
}

/// Why a fetch brought no key set.
#[derive(Debug, Error)]
enum FetchError {
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("the answer's status is {0}")]
    Status(u16),
    #[error("the answer is no key set")]
    NotKeySet,
    #[error("the key set holds no key to check signatures with")]
    NoUsableKey,
}

impl Jwks {
    /// Fetches nothing yet.
    pub(super) fn new(url: &str, http: HttpClient, policy: RefreshPolicy) -> Result<Self, KeyError> {
        if !url.starts_with("https://") && !url.starts_with("http://") {
            return Err(KeyError::NotHttp);
        }
        Ok(Self { url: url.to_owned(), http, policy, current: RwLock::default(), fetching: Mutex::default() })
    }

    /// The key with this id; without an id, the set's only key.
    pub(super) async fn key(&self, id: Option<&str>) -> Result<VerifyingKey, TokenError> {
        let seen = self.snapshot();
        match seen.find(id) {
            Ok(_) => {
                self.renew_if_old(&seen).await;
                self.snapshot().find(id)
            }
            Err(TokenError::NoKeyId) => Err(TokenError::NoKeyId),
            Err(_) => {
                let fetching = self.fetching.lock().await;
                if self.snapshot().fetched_at == seen.fetched_at {
                    self.refresh(fetching).await;
                }
                self.snapshot().find(id)
            }
        }
    }

    /// One caller renews an old set; the others go on with it meanwhile.
    async fn renew_if_old(&self, seen: &KeySet) {
        let old = seen.fetched_at.is_none_or(|at| at.elapsed() >= self.policy.max_age);
        if old && let Ok(fetching) = self.fetching.try_lock() {
            self.refresh(fetching).await;
        }
    }

    /// Fetches, unless it is too soon. The old keys stay when that fails.
    async fn refresh(&self, mut fetching: MutexGuard<'_, Fetching>) {
        if fetching.not_before.is_some_and(|at| Instant::now() < at) {
            return;
        }
        // Counted before the fetch, so that callers who go away in the middle of it do not lift the limit.
        fetching.fruitless = fetching.fruitless.saturating_add(1);
        let pause = self.policy.pause.delay(fetching.fruitless);
        fetching.not_before = Instant::now().checked_add(pause);
        let fetched = self.fetch().await;
        // Counted again after it, so that those who waited for a slow failure do not repeat it one by one.
        fetching.not_before = Instant::now().checked_add(pause);
        match fetched {
            Ok(set) => {
                let before = self.snapshot();
                if !set.has_same_ids(&before) {
                    tracing::info!(keys = set.len(), "the identity provider's keys changed");
                    fetching.fruitless = 0;
                }
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(set);
            }
            Err(error) => {
                let kept = self.snapshot().len();
                tracing::warn!(%error, kept, "the identity provider's keys cannot be fetched");
            }
        }
    }

    async fn fetch(&self) -> Result<KeySet, FetchError> {
        let asking = self.http.get(&self.url, &[("accept", "application/json")]);
        let answer = timeout(FETCH_TIMEOUT, asking).await.map_err(|_elapsed| HttpError::TimedOut)??;
        if answer.status != 200 {
            return Err(FetchError::Status(answer.status));
        }
        let set = KeySet::read(&answer.body)?;
        if set.len() == 0 { Err(FetchError::NoUsableKey) } else { Ok(set) }
    }

    fn snapshot(&self) -> Arc<KeySet> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl KeySet {
    /// Reads key by key: one that nobody here understands must not hide the others.
    fn read(body: &[u8]) -> Result<Self, FetchError> {
        #[derive(Deserialize)]
        struct Answer {
            keys: Vec<Value>,
        }
        let answer: Answer = serde_json::from_slice(body).map_err(|_malformed| FetchError::NotKeySet)?;
        let mut set = Self { fetched_at: Some(Instant::now()), ..Self::default() };
        for jwk in answer.keys.into_iter().filter_map(|key| serde_json::from_value::<Jwk>(key).ok()) {
            match (VerifyingKey::published(&jwk), jwk.common.key_id) {
                (Some(key), Some(id)) => {
                    set.by_id.entry(id).or_insert(key);
                }
                (Some(key), None) => set.without_id.push(key),
                (None, _) => {}
            }
        }
        Ok(set)
    }

    fn find(&self, id: Option<&str>) -> Result<VerifyingKey, TokenError> {
        if self.fetched_at.is_none() {
            return Err(TokenError::KeysUnavailable);
        }
        match id {
            Some(id) => self.by_id.get(id).cloned().ok_or(TokenError::UnknownKey),
            None if self.len() == 1 => {
                self.by_id.values().chain(&self.without_id).next().cloned().ok_or(TokenError::NoKeyId)
            }
            None => Err(TokenError::NoKeyId),
        }
    }

    fn len(&self) -> usize {
        self.by_id.len() + self.without_id.len()
    }

    fn has_same_ids(&self, other: &Self) -> bool {
        self.len() == other.len() && self.by_id.keys().all(|id| other.by_id.contains_key(id))
    }
}

#[cfg(test)]
mod tests;
