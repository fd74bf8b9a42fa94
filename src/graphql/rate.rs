//! How many operations a second one subject may send.
//!
//! The generic cell rate algorithm: one instant per subject, the time at which its operations so far would
//! be paid off at the allowed rate. It is a token bucket without the bucket.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::error::ApiError;
use crate::auth::{Principal, Role};

/// Subjects remembered at once. One that is forgotten starts anew, with a full burst.
const MAX_SUBJECTS: usize = 10_000;
/// A burst may hold what this time allows.
const BURST: Duration = Duration::from_secs(2);

/// Operations a second, by the kind of caller.
#[derive(Debug, Clone, Copy)]
pub struct RateLimit {
    /// ADMIN and OPERATOR subjects: people and their consoles.
    pub operator: u32,
    /// SERVICE subjects.
    pub service: u32,
}

/// The limiter.
#[derive(Debug)]
pub(super) struct RateLimiter {
    limit: RateLimit,
    paid_off: Mutex<HashMap<(bool, String), Instant>>,
}

impl RateLimiter {
    pub(super) fn new(limit: RateLimit) -> Self {
        Self { limit, paid_off: Mutex::default() }
    }

    /// Takes one operation from the subject's share at `now`.
    pub(super) fn take(&self, principal: &Principal, now: Instant) -> Result<(), ApiError> {
        let service = principal.has(Role::Service);
        let rate = if service { self.limit.service } else { self.limit.operator };
        let each = Duration::from_secs(1) / rate.max(1);
        let mut paid_off = self.paid_off.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (service, principal.subject().to_owned());
        if paid_off.len() >= MAX_SUBJECTS && !paid_off.contains_key(&key) {
            forget(&mut paid_off, now);
        }
        let entry = paid_off.entry(key).or_insert(now);
        let after = (*entry).max(now) + each;
        if after > now + BURST.max(each) {
            return Err(ApiError::rate_limited(format!("More than {rate} operations a second.")));
        }
        *entry = after;
        Ok(())
    }
}

/// Forgets who has no debt; and if all have, everyone: bounded memory goes before exactness.
fn forget(paid_off: &mut HashMap<(bool, String), Instant>, now: Instant) {
    paid_off.retain(|_, at| *at > now);
    if paid_off.len() >= MAX_SUBJECTS {
        paid_off.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphql::{error::Code, testing::principal};

    fn limiter() -> RateLimiter {
        RateLimiter::new(RateLimit { operator: 20, service: 2_000 })
    }

    fn taken(limiter: &RateLimiter, principal: &Principal, now: Instant) -> usize {
        (0..10_000).take_while(|_| limiter.take(principal, now).is_ok()).count()
    }

    #[test]
    fn a_burst_is_two_seconds_worth_and_fills_again() {
        let (limiter, now) = (limiter(), Instant::now());
        let alice = principal("alice", &[Role::Operator]);
        assert_eq!(taken(&limiter, &alice, now), 40);
        let refused = limiter.take(&alice, now).map_err(|error| error.code());
        assert_eq!(refused, Err(Code::RateLimited));
        assert_eq!(taken(&limiter, &alice, now + Duration::from_secs(1)), 20);
        assert_eq!(taken(&limiter, &alice, now + Duration::from_secs(60)), 40);
    }

    #[test]
    fn subjects_do_not_share_and_services_have_their_own_rate() {
        let (limiter, now) = (limiter(), Instant::now());
        assert_eq!(taken(&limiter, &principal("alice", &[Role::Admin]), now), 40);
        assert_eq!(taken(&limiter, &principal("bob", &[Role::Admin]), now), 40);
        assert_eq!(taken(&limiter, &principal("alice", &[Role::Service]), now), 4_000);
    }

    #[test]
    fn memory_is_bounded() {
        let (limiter, now) = (limiter(), Instant::now());
        for n in 0..MAX_SUBJECTS + 500 {
            limiter.take(&principal(&format!("s{n}"), &[Role::Admin]), now).unwrap();
        }
        assert!(limiter.paid_off.lock().unwrap().len() <= MAX_SUBJECTS);
    }
}
