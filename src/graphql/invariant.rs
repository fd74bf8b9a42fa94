//! The books.

use async_graphql::{Context, ID, Object};

use super::{
    error::ApiError,
    guard, input,
    scalars::{DateTime, Long},
    schema::Services,
};
use crate::operations::Checked;

/// A check with its outcome, as the API shows it.
pub struct Invariant(Checked);

/// Something that must hold of the stored rows whatever happened.
#[Object]
impl Invariant {
    /// For machines.
    async fn name(&self) -> &str {
        self.0.name
    }

    /// What must hold.
    async fn description(&self) -> &str {
        self.0.description
    }

    /// Whether it does.
    async fn holds(&self) -> bool {
        self.0.violations == 0
    }

    /// How many rows break it, counted up to 10,000.
    async fn violations(&self) -> Long {
        Long::clamped(self.0.violations)
    }

    /// Ten of their ids at most.
    async fn sample_ids(&self) -> Vec<ID> {
        self.0.sample_ids.iter().map(ID::from).collect()
    }

    /// When it was checked.
    async fn checked_at(&self) -> DateTime {
        DateTime(self.0.checked_at)
    }
}

/// Reads of the books.
#[derive(Default)]
pub struct InvariantQuery;

#[Object]
impl InvariantQuery {
    /// What must hold of the stored rows, and whether it does, as of half a minute ago at most. Of tables that grow with
    /// history the newest 10,000 rows are looked at; `paydesk verify` looks at all. ADMIN, OPERATOR.
    async fn invariants(&self, ctx: &Context<'_>) -> Result<Vec<Invariant>, ApiError> {
        guard::reader(ctx)?;
        let checked = Services::of(ctx)?.books.checked().await.map_err(input::slow_or_failed)?;
        Ok(checked.iter().cloned().map(Invariant).collect())
    }
}
