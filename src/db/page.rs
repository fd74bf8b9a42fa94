//! Keyset pages: what a store needs to fetch one, and what it gives back.
//!
//! Lists are newest first, by `(created_at, id)`. A page is found by the key of its neighbour, never by
//! counting rows, so that it stays valid and equally fast while rows come and go.

use crate::types::Instant;

/// The key of one row in a list: its time, and its id among rows of the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Keyset {
    /// The instant that the list is ordered by.
    pub at: Instant,
    /// The primary key, which breaks ties.
    pub id: i64,
}

/// Which page is wanted. A store asks the database for [`PageRequest::fetch`] rows: older than `after`,
/// newer than `before`, newest first; or oldest first when `backwards`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// How many rows the page holds at most; the one more that tells whether others follow is not in it.
    pub limit: i64,
    /// Only rows that come after this one in the list: the older ones.
    pub after: Option<Keyset>,
    /// Only rows that come before this one in the list: the newer ones.
    pub before: Option<Keyset>,
    /// Whether the page is the list's (or the window's) end, and so is read from its end.
    pub backwards: bool,
}

impl PageRequest {
    /// How many rows to fetch: one more than the page holds.
    pub fn fetch(&self) -> i64 {
        self.limit.saturating_add(1)
    }
}

/// One page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRows<T> {
    /// The rows, newest first.
    pub rows: Vec<T>,
    /// Whether older rows follow.
    pub has_next: bool,
    /// Whether newer rows precede.
    pub has_previous: bool,
}

impl<T> PageRows<T> {
    /// Makes a page of what was fetched for `request`, in the order that it asks for.
    pub fn from_fetched(mut fetched: Vec<T>, request: &PageRequest) -> Self {
        let limit = usize::try_from(request.limit).unwrap_or(0);
        let more = fetched.len() > limit;
        fetched.truncate(limit);
        if request.backwards {
            fetched.reverse();
            Self { rows: fetched, has_next: request.before.is_some(), has_previous: more }
        } else {
            Self { rows: fetched, has_next: more, has_previous: request.after.is_some() }
        }
    }
}

/// How many rows match, counted up to [`COUNT_CAP`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The number, or the cap where there are more.
    pub value: i64,
    /// Whether it is the number itself; otherwise there are at least so many.
    pub exact: bool,
    /// When it was counted.
    pub as_of: Instant,
}

/// Up to here a count is exact; counting further would read without end.
pub const COUNT_CAP: i64 = 10_000;

impl Counted {
    /// Makes a count of a number that was counted over at most `COUNT_CAP + 1` rows.
    pub fn bounded(counted: i64, as_of: Instant) -> Self {
        Self { value: counted.min(COUNT_CAP), exact: counted <= COUNT_CAP, as_of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::clock;

    fn request(limit: i64, backwards: bool, key: Option<Keyset>) -> PageRequest {
        let (after, before) = if backwards { (None, key) } else { (key, None) };
        PageRequest { limit, after, before, backwards }
    }

    #[test]
    fn one_row_too_many_tells_that_others_follow() {
        let page = PageRows::from_fetched(vec![5, 4, 3], &request(2, false, None));
        assert_eq!(page, PageRows { rows: vec![5, 4], has_next: true, has_previous: false });
        let page = PageRows::from_fetched(vec![5, 4], &request(2, false, None));
        assert!(!page.has_next);
    }

    #[test]
    fn a_page_read_from_the_end_is_newest_first_too() {
        let key = Some(Keyset { at: clock::now(), id: 1 });
        let page = PageRows::from_fetched(vec![1, 2, 3], &request(2, true, key));
        assert_eq!(page, PageRows { rows: vec![2, 1], has_next: true, has_previous: true });
    }

    #[test]
    fn a_count_over_the_cap_says_at_least() {
        let now = clock::now();
        assert!(Counted::bounded(10_000, now).exact);
        assert_eq!(Counted::bounded(10_001, now), Counted { value: 10_000, exact: false, as_of: now });
    }
}
