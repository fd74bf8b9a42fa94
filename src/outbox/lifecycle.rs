//! The life of an event: what each step makes of its row. Pure, so that it can be checked exhaustively
//! (`lifecycle/model.rs`); what runs are the statements of `claim`, `mark`, `requeue` and `store`, and the chaos tests hold
//! every step that those take in a database against [`Life::after`].

#[cfg(test)]
mod model;

use std::time::Duration;

use super::OutboxStatus;
use crate::{config::OutboxConfig, types::Backoff};

/// How often and how fast a failed event is tried again.
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    /// Failed tries after which it is dead-lettered.
    pub max_retries: i32,
    /// The waits.
    pub backoff: Backoff,
}

/// What a failed try leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedTry {
    /// FAILED or `DEAD_LETTERED`.
    pub status: OutboxStatus,
    /// The count after this try.
    pub retry_count: i32,
    /// How long until it is due again; `None` when it is not.
    pub delay: Option<Duration>,
}

impl RetryPolicy {
    /// Reads the settings.
    pub fn new(config: &OutboxConfig) -> Self {
        let backoff = Backoff { base: config.outbox_backoff_base, cap: config.outbox_backoff_cap };
        Self { max_retries: config.outbox_max_retries, backoff }
    }

    /// What the next failed try leads to, for an event that failed `retry_count` times. Whatever stands in the
    /// row, nothing overflows.
    pub fn after_failure(&self, retry_count: i32) -> FailedTry {
        let retry_count = retry_count.max(0).saturating_add(1);
        if retry_count >= self.max_retries {
            return FailedTry { status: OutboxStatus::DeadLettered, retry_count, delay: None };
        }
        let delay = Some(self.backoff.delay(i64::from(retry_count)));
        FailedTry { status: OutboxStatus::Failed, retry_count, delay }
    }
}

/// A row, as far as its way is concerned. `T` is the claim's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Life<T> {
    /// Where it is.
    pub status: OutboxStatus,
    /// Failed tries since it was written or requeued.
    pub retry_count: i32,
    /// Whether it has a time of its next try.
    pub has_next_retry: bool,
    /// The last claim's.
    pub token: Option<T>,
}

/// What may befall a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step<T> {
    /// A publisher takes it, with a token that nobody has had before.
    Claim(T),
    /// The broker confirmed what was sent under this token.
    Confirm(T),
    /// The try under this token failed, or the recovery found its lease over.
    Fail(Option<T>),
    /// The try under this token ended without the event's fault.
    GiveBack(T),
    /// An operator wants it sent again.
    Requeue,
    /// The recovery found it where no scan looks.
    Mend,
}

impl OutboxStatus {
    /// Whether an operator may have it sent again.
    pub fn is_requeueable(self) -> bool {
        matches!(self, Self::Failed | Self::DeadLettered)
    }
}

impl<T: Copy + Eq> Life<T> {
    /// As an event is written.
    pub fn new() -> Self {
        Self { status: OutboxStatus::Pending, retry_count: 0, has_next_retry: false, token: None }
    }

    /// The row after this step; `None` where the step changes nothing: its claim is lost, or it came too late.
    pub fn after(self, step: Step<T>, policy: &RetryPolicy) -> Option<Self> {
        let Self { status, retry_count, has_next_retry, token } = self;
        let claimed = status == OutboxStatus::Processing;
        match step {
            Step::Claim(token) if matches!(status, OutboxStatus::Pending | OutboxStatus::Failed) => {
                Some(Self { status: OutboxStatus::Processing, token: Some(token), ..self })
            }
            // The broker's own word on the last claim is the truth, wherever the row went meanwhile.
            Step::Confirm(by) if token == Some(by) && status != OutboxStatus::Published => {
                Some(Self { status: OutboxStatus::Published, has_next_retry: false, ..self })
            }
            Step::Fail(by) if claimed && token == by => {
                let FailedTry { status, retry_count, delay } = policy.after_failure(retry_count);
                Some(Self { status, retry_count, has_next_retry: delay.is_some(), ..self })
            }
            Step::GiveBack(by) if claimed && token == Some(by) => {
                let status = if has_next_retry { OutboxStatus::Failed } else { OutboxStatus::Pending };
                Some(Self { status, ..self })
            }
            Step::Requeue if status.is_requeueable() => {
                Some(Self { status: OutboxStatus::Pending, retry_count: 0, has_next_retry: false, ..self })
            }
            Step::Mend if status == OutboxStatus::Failed && !has_next_retry => {
                Some(Self { has_next_retry: true, ..self })
            }
            _ => None,
        }
    }

    /// The step that led from this row to `later`, if one can have.
    pub fn step_to(self, later: Self, policy: &RetryPolicy) -> Option<Step<T>> {
        let claim = later.token.map(Step::Claim);
        let ends = self.token.into_iter().flat_map(|token| [Step::Confirm(token), Step::GiveBack(token)]);
        let steps = claim.into_iter().chain(ends).chain([Step::Fail(self.token), Step::Requeue, Step::Mend]);
        let is_new = |step: &Step<T>| !matches!(step, Step::Claim(token) if self.token == Some(*token));
        steps.filter(is_new).find(|step| self.after(*step, policy) == Some(later))
    }
}

impl<T: Copy + Eq> Default for Life<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BACKOFF: Backoff = Backoff { base: Duration::from_secs(10), cap: Duration::from_secs(300) };

    #[test]
    fn at_the_defaults_the_waits_are_10_and_20_seconds_and_the_third_failure_is_the_last() {
        let policy = RetryPolicy { max_retries: 3, backoff: BACKOFF };
        let delays: Vec<_> =
            (0..3).map(|count| policy.after_failure(count).delay.map(|wait| wait.as_secs())).collect();
        assert_eq!(delays, [Some(10), Some(20), None]);
        assert_eq!(policy.after_failure(2).status, OutboxStatus::DeadLettered);
    }

    proptest! {
        #[test]
        fn any_count_ends_capped_and_without_a_panic(count in any::<i32>(), max in 1_i32..) {
            let after = RetryPolicy { max_retries: max, backoff: BACKOFF }.after_failure(count);
            prop_assert!(after.retry_count >= 1);
            prop_assert!(after.delay.is_none_or(|wait| wait <= BACKOFF.cap));
            prop_assert_eq!(after.delay.is_none(), after.status == OutboxStatus::DeadLettered);
        }
    }
}
