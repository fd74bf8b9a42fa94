//! The GraphQL API: schema, limits, guards, errors, pages. Outside of this room it is an opaque [`Api`].

mod answer;
mod api;
#[cfg(test)]
mod api_tests;
mod error;
pub mod guard;
mod limits;
pub mod page;
mod rate;
mod request;
pub mod scalars;
#[cfg(test)]
pub(crate) mod testing;

pub use answer::error_body;
pub use api::{Answer, Api, ApiOptions, Caller, Event, RequestId};
pub use error::{ApiError, Cause, Code};
pub use limits::{
    ASSUMED_LIST_LENGTH, MAX_ALIASES, MAX_COST, MAX_DEPTH, MAX_DIRECTIVES, MAX_FIELDS,
    MAX_INTROSPECTION_DEPTH, MAX_NESTING, MAX_OPERATIONS, MAX_QUERY_BYTES, MAX_ROOT_MUTATIONS,
    MAX_SELECTION_LEVELS, MAX_TOKENS,
};
pub use rate::RateLimit;
pub use request::MAX_BATCH;
