//! Keyset pages: newest first, never OFFSET.

use crate::types::Instant;

/// Where a row stands in a list: its time, then its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keyset {
    /// The row's `created_at` (or `occurred_at`).
    pub at: Instant,
    /// The row's primary key.
    pub id: i64,
}

/// Which page of a list, as the API's arguments say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// Rows on the page, 1 to 100.
    pub limit: i64,
    /// Only rows that are older than this one.
    pub after: Option<Keyset>,
    /// Only rows that are newer than this one.
    pub before: Option<Keyset>,
    /// Whether the page is taken from the old end (`last`) instead of the new one (`first`).
    pub backwards: bool,
}

/// One page, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRows<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Whether older rows follow.
    pub has_next: bool,
    /// Whether newer rows come before.
    pub has_previous: bool,
}

impl PageRequest {
    /// How many rows to ask the database for: one more than the page holds tells whether there are more.
    pub fn fetch(&self) -> i64 {
        self.limit + 1
    }

    /// Cuts what [`PageRequest::fetch`] brought, in the order in which it was read, down to the page.
    pub fn page<T>(&self, mut rows: Vec<T>) -> PageRows<T> {
        let more = i64::try_from(rows.len()).unwrap_or(i64::MAX) > self.limit;
        rows.truncate(usize::try_from(self.limit).unwrap_or(usize::MAX));
        if self.backwards {
            rows.reverse();
            PageRows { rows, has_next: self.before.is_some(), has_previous: more }
        } else {
            PageRows { rows, has_next: more, has_previous: self.after.is_some() }
        }
    }
}
