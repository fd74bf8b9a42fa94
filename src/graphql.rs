//! The GraphQL API: schema, limits, guards, errors, pages. Outside of this room it is an opaque [`Api`].

#![expect(clippy::unused_async, reason = "resolvers are async, whether or not they wait")]
#![expect(clippy::doc_markdown, reason = "the documentation of objects and fields is the API's own")]

mod answer;
mod api;
#[cfg(test)]
mod api_tests;
mod bodies;
mod can_product;
mod charge;
mod charge_event;
mod charge_job;
mod documents;
mod error;
mod failure;
pub mod guard;
mod inbound_dead_letter;
mod input;
mod invariant;
mod limits;
mod loaders;
mod loads;
mod member;
mod outbox_event;
mod overview;
pub mod page;
mod payment;
mod provider_call;
mod publish;
mod rate;
mod refund;
mod request;
pub mod scalars;
mod schema;
#[cfg(test)]
pub(crate) mod testing;
mod viewer;
mod watch;

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
pub use schema::{Services, api, sdl};
