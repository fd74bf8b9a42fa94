use std::time::Duration;

/// Exponential backoff without jitter: `base × 2^(attempt − 1)`, never above `cap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first failure.
    pub base: Duration,
    /// The longest wait.
    pub cap: Duration,
}

impl Backoff {
    /// The wait after failure number `attempt` (counted from 1; 0 and below count as 1). Never overflows.
    pub fn delay(&self, attempt: i64) -> Duration {
        let doublings = u32::try_from(attempt.max(1) - 1).unwrap_or(u32::MAX);
        let factor = 2_u32.checked_pow(doublings).unwrap_or(u32::MAX);
        self.base.checked_mul(factor).map_or(self.cap, |wait| wait.min(self.cap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DEFAULT: Backoff = Backoff { base: Duration::from_secs(10), cap: Duration::from_secs(300) };

    #[test]
    fn doubles_from_ten_seconds_up_to_five_minutes() {
        let waits: Vec<u64> = (1..=7).map(|attempt| DEFAULT.delay(attempt).as_secs()).collect();
        assert_eq!(waits, [10, 20, 40, 80, 160, 300, 300]);
    }

    proptest! {
        #[test]
        fn never_overflows_and_never_shrinks(attempt in any::<i64>(), base in 0_u64..=u64::MAX / 2) {
            let backoff = Backoff { base: Duration::from_millis(base), cap: Duration::from_secs(300) };
            let here = backoff.delay(attempt);
            prop_assert!(here <= backoff.cap);
            prop_assert!(backoff.delay(attempt.saturating_add(1)) >= here);
        }
    }
}
