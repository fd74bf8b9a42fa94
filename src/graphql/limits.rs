//! What a query may cost, decided before it can cost anything.
//!
//! First the raw text, because the parser itself is not safe: it recurses once per bracket and aborts the
//! process when the stack ends. Then the parsed document, before validation, because validation walks
//! fragments again and again. Every number that bounds a query stands in this file.

mod document;
mod raw;
mod shape;

pub(super) use document::{Checked, check as check_document};
pub(super) use raw::check as check_text;
pub(super) use shape::Shape;

/// Bytes of one query's text.
pub const MAX_QUERY_BYTES: usize = 100_000;
/// Brackets of any kind, open at once, outside strings and comments. A query needs about twice its depth.
pub const MAX_NESTING: usize = 64;
/// Names, numbers, strings and punctuation marks of one query.
pub const MAX_TOKENS: usize = 8_000;
/// Operations in one document; only one of them runs.
pub const MAX_OPERATIONS: usize = 10;
/// Aliases, those in fragments counted wherever they are spread.
pub const MAX_ALIASES: u64 = 30;
/// Directives, likewise.
pub const MAX_DIRECTIVES: u64 = 50;
/// Fields, after fragments are spread.
pub const MAX_FIELDS: u64 = 1_000;
/// Fields inside fields.
pub const MAX_DEPTH: u64 = 12;
/// The same for introspection, whose usual query unwraps nine levels of list and non-null.
pub const MAX_INTROSPECTION_DEPTH: u64 = 20;
/// Selection sets inside selection sets, fragments counted: what validation recurses over.
pub const MAX_SELECTION_LEVELS: u64 = 40;
/// async-graphql counts inline fragments twice over; nothing that passed the bound above reaches this.
pub(super) const MAX_RECURSION: usize = 64;
/// Mutations in one request; they run one after the other.
pub const MAX_ROOT_MUTATIONS: u64 = 10;
/// Values that the answer may hold: one per field, times the page size for whatever is in a list.
pub const MAX_COST: u64 = 50_000;
/// The length that a list without `first` is taken for.
pub const ASSUMED_LIST_LENGTH: u64 = 10;
