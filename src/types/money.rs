use thiserror::Error;

/// The largest amount that every JSON client reads exactly: 2^53 − 1.
pub const MAX_WON: i64 = (1 << 53) - 1;

/// A positive amount of money in whole KRW.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Won(i64);

/// An amount that is not money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the amount must be a whole number of won from 1 to {MAX_WON}, not {0}")]
pub struct WonError(i64);

impl Won {
    /// Takes an amount from outside: 1 to 2^53 − 1.
    pub fn new(amount: i64) -> Result<Self, WonError> {
        if (1..=MAX_WON).contains(&amount) { Ok(Self(amount)) } else { Err(WonError(amount)) }
    }

    /// The amount in won.
    pub fn get(self) -> i64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_zero_negative_and_inexact_amounts() {
        for bad in [i64::MIN, -1, 0, MAX_WON + 1, i64::MAX] {
            assert_eq!(Won::new(bad), Err(WonError(bad)));
        }
        assert_eq!(Won::new(3_000_000_000).unwrap().get(), 3_000_000_000);
    }
}
