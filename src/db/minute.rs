use diesel::{
    QueryableByName,
    sql_types::{BigInt, Timestamptz},
};

use crate::types::Instant;

/// How many of something there were in the minute that begins at `at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, QueryableByName)]
pub struct Minute {
    /// The minute's beginning.
    #[diesel(sql_type = Timestamptz)]
    pub at: Instant,
    /// How many.
    #[diesel(sql_type = BigInt)]
    pub value: i64,
}
