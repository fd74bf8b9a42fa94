//! Lists: Relay connections over keyset pages, newest first.

mod connection;
mod cursor;
mod list;

pub use connection::{COUNT_CAP, Connection, Count, CountPrecision, Counted, Counter, Edge, Node, PageInfo};
pub use cursor::{decode as decode_cursor, encode as encode_cursor};
pub use list::{Listed, connection};

use super::error::ApiError;
use crate::db::page::PageRequest;

/// Rows of a page when `first` and `last` are left out.
pub const DEFAULT_PAGE: u64 = 50;
/// Rows of a page at most.
pub const MAX_PAGE: u64 = 100;

/// The four arguments of every list, as the caller wrote them.
#[derive(Debug, Clone, Default)]
pub struct PageArgs {
    /// So many from the start.
    pub first: Option<i32>,
    /// Only what comes after this cursor.
    pub after: Option<String>,
    /// So many from the end.
    pub last: Option<i32>,
    /// Only what comes before this cursor.
    pub before: Option<String>,
}

impl PageArgs {
    /// Reads them for the list of `N`. `before` without a size reads backwards from there, since that is
    /// the page that one left.
    pub fn request<N: Node>(&self) -> Result<PageRequest, ApiError> {
        if self.first.is_some() && self.last.is_some() {
            return Err(ApiError::bad_user_input(["last"], "Give either first or last, not both."));
        }
        if self.after.is_some() && self.before.is_some() {
            return Err(ApiError::bad_user_input(["before"], "Give either after or before, not both."));
        }
        let backwards = self.last.is_some() || (self.before.is_some() && self.first.is_none());
        let limit = match (self.first, self.last) {
            (Some(first), _) => size("first", first)?,
            (None, Some(last)) => size("last", last)?,
            (None, None) => i64::try_from(DEFAULT_PAGE).unwrap_or(i64::MAX),
        };
        let key = |name, cursor: &Option<String>| {
            cursor.as_deref().map(|cursor| cursor::decode(N::LIST, name, cursor)).transpose()
        };
        Ok(PageRequest {
            limit,
            after: key("after", &self.after)?,
            before: key("before", &self.before)?,
            backwards,
        })
    }
}

/// The refusal of a page size.
pub(super) fn out_of_range(name: &'static str) -> ApiError {
    ApiError::bad_user_input([name], format!("{name} must be from 1 to {MAX_PAGE}."))
}

fn size(name: &'static str, asked: i32) -> Result<i64, ApiError> {
    match u64::try_from(asked) {
        Ok(1..=MAX_PAGE) => Ok(i64::from(asked)),
        _ => Err(out_of_range(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{db::page::Keyset, graphql::testing::Item, types::clock};

    fn field(args: &PageArgs) -> Option<String> {
        args.request::<Item>().err().map(|error| error.field().join("."))
    }

    #[test]
    fn without_arguments_it_is_the_newest_fifty() {
        let request = PageArgs::default().request::<Item>().unwrap();
        assert_eq!(request, PageRequest { limit: 50, after: None, before: None, backwards: false });
    }

    #[test]
    fn each_wrong_argument_is_named() {
        for bad in [0, -1, 101, 1_000_000, i32::MIN] {
            assert_eq!(
                field(&PageArgs { first: Some(bad), ..PageArgs::default() }).as_deref(),
                Some("first")
            );
            assert_eq!(field(&PageArgs { last: Some(bad), ..PageArgs::default() }).as_deref(), Some("last"));
        }
        let both = PageArgs { first: Some(1), last: Some(1), ..PageArgs::default() };
        assert_eq!(field(&both).as_deref(), Some("last"));
        let cursor = Some(encode_cursor(Item::LIST, Keyset { at: clock::now(), id: 1 }));
        let both = PageArgs { after: cursor.clone(), before: cursor, ..PageArgs::default() };
        assert_eq!(field(&both).as_deref(), Some("before"));
        let bad = Some("bad".to_owned());
        assert_eq!(field(&PageArgs { after: bad.clone(), ..PageArgs::default() }).as_deref(), Some("after"));
        assert_eq!(field(&PageArgs { before: bad, ..PageArgs::default() }).as_deref(), Some("before"));
    }

    #[test]
    fn last_and_a_lone_before_read_backwards() {
        let before = Some(encode_cursor(Item::LIST, Keyset { at: clock::now(), id: 1 }));
        for (first, last, backwards) in [(None, Some(5), true), (None, None, true), (Some(5), None, false)] {
            let args = PageArgs { first, last, before: before.clone(), after: None };
            assert_eq!(args.request::<Item>().unwrap().backwards, backwards);
        }
    }
}
