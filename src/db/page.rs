//! Keyset pages: newest first, never OFFSET.

use diesel::QueryResult;
use diesel_async::AsyncPgConnection;

use crate::types::Instant;

/// A filter of a list, which knows the rows that it picks.
pub trait Listing: Clone + Send + Sync + 'static {
    /// What is listed.
    type Row: Send;

    /// A page, newest first.
    fn page(
        &self,
        conn: &mut AsyncPgConnection,
        request: &PageRequest,
    ) -> impl Future<Output = QueryResult<PageRows<Self::Row>>> + Send;

    /// How many match, counted up to `cap + 1`.
    fn count(&self, conn: &mut AsyncPgConnection, cap: i64) -> impl Future<Output = QueryResult<i64>> + Send;
}

/// Puts a page's bounds, order and limit on a boxed query, by the columns of its time and its id.
macro_rules! keyset_page {
    ($query:expr, $request:expr, $at:expr, $id:expr) => {{
        let mut query = $query.limit($request.fetch());
        // The comparison of the time alone is what bounds the index scan.
        if let Some($crate::db::page::Keyset { at, id }) = $request.after {
            query = query.filter($at.le(at)).filter($at.lt(at).or($at.eq(at).and($id.lt(id))));
        }
        if let Some($crate::db::page::Keyset { at, id }) = $request.before {
            query = query.filter($at.ge(at)).filter($at.gt(at).or($at.eq(at).and($id.gt(id))));
        }
        if $request.backwards {
            query.order(($at.asc(), $id.asc()))
        } else {
            query.order(($at.desc(), $id.desc()))
        }
    }};
}
pub(crate) use keyset_page;

/// Counts what a boxed query picks, up to `cap + 1`, in the list's order: unordered, the planner may prefer to read the
/// table from its oldest row, however far the first match is.
macro_rules! keyset_count {
    ($query:expr, $cap:expr, $at:expr, $id:expr) => {
        $crate::db::Counting(
            $query
                .select(diesel::dsl::sql::<diesel::sql_types::Integer>("1"))
                .order(($at.desc(), $id.desc()))
                .limit($cap + 1),
        )
    };
}
pub(crate) use keyset_count;

/// Where a row stands in a list: its time, then its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Keyset {
    /// The row's `created_at` (or `occurred_at`).
    pub at: Instant,
    /// The row's primary key.
    pub id: i64,
}

/// Which page of a list, as the API's arguments say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
