//! The bodies of dead letters: read when asked for, and only as many as one answer can bear.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use async_graphql::Context;

use super::{
    error::ApiError,
    loaders::{self, BodyOf, BodySizeOf},
    loads::Loads,
};

/// Bytes of bodies in one answer, unless it shows one alone.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// How a body is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    Text,
    Base64,
}

/// What the present answer of an operation shows.
pub(super) struct Bodies {
    loads: Loads,
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    answer: u64,
    bytes: u64,
    times: HashMap<(i64, Form), u32>,
}

impl Bodies {
    /// Nothing is shown yet; `loads` tells one answer from the next.
    pub(super) fn new(loads: Loads) -> Self {
        Self { loads, shown: Mutex::default() }
    }

    fn show(&self, id: i64, form: Form, size: u64) -> Result<(), ApiError> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = self.loads.answers();
        if shown.answer != answer {
            *shown = Shown { answer, ..Shown::default() };
        }
        shown.show(id, form, size)
    }
}

impl Shown {
    /// A letter's text and base64 count once; the same field under several names counts each time.
    fn show(&mut self, id: i64, form: Form, size: u64) -> Result<(), ApiError> {
        let times = |form| self.times.get(&(id, form)).copied().unwrap_or_default();
        let (before, now) = (times(Form::Text).max(times(Form::Base64)), times(form) + 1);
        let more = if now > before { size } else { 0 };
        let bytes = self.bytes.saturating_add(more);
        if self.bytes > 0 && more > 0 && bytes > MAX_BYTES {
            return Err(ApiError::too_complex(format!(
                "The bodies of these dead letters have more than {} MiB together. Ask for fewer of them at once.",
                MAX_BYTES / 1024 / 1024
            )));
        }
        self.bytes = bytes;
        self.times.insert((id, form), now);
        Ok(())
    }
}

/// A dead letter's body; none once it was cleaned up. QUERY_TOO_COMPLEX when the answer would grow too large.
pub(super) async fn load(ctx: &Context<'_>, id: i64, form: Form) -> Result<Option<Arc<[u8]>>, ApiError> {
    let Some(size) = loaders::load(ctx, BodySizeOf(id)).await? else { return Ok(None) };
    let bodies = ctx.data_opt::<Bodies>().ok_or_else(|| ApiError::internal("an operation without bodies"))?;
    bodies.show(id, form, size)?;
    loaders::load(ctx, BodyOf(id)).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphql::error::Code;

    const MIB: u64 = 1024 * 1024;

    #[test]
    fn the_bodies_of_one_answer_have_a_limit_together() {
        let mut shown = Shown::default();
        for id in 1..=2 {
            for form in [Form::Text, Form::Base64] {
                shown.show(id, form, 8 * MIB).unwrap();
            }
        }
        assert_eq!(shown.show(3, Form::Text, 1).unwrap_err().code(), Code::QueryTooComplex);
        assert_eq!(shown.show(1, Form::Text, 8 * MIB).unwrap_err().code(), Code::QueryTooComplex);
    }

    #[test]
    fn one_alone_is_shown_whatever_its_size_but_once() {
        let mut shown = Shown::default();
        shown.show(1, Form::Base64, 40 * MIB).unwrap();
        shown.show(1, Form::Text, 40 * MIB).unwrap();
        assert!(shown.show(1, Form::Text, 40 * MIB).is_err());
        assert!(shown.show(2, Form::Text, 1).is_err());
    }

    #[test]
    fn each_answer_of_a_subscription_counts_for_itself() {
        let loads = Loads::default();
        let bodies = Bodies::new(loads.clone());
        bodies.show(1, Form::Text, 10 * MIB).unwrap();
        assert!(bodies.show(2, Form::Text, 10 * MIB).is_err());
        loads.answered();
        bodies.show(2, Form::Text, 10 * MIB).unwrap();
    }
}
