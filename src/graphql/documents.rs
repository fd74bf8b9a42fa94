//! The console's own queries, each by the name that its build gives it.

use std::{collections::HashMap, sync::LazyLock};

use super::{api::Caller, error::ApiError, request::Incoming};

/// Written by `npm run generate` in `web/`.
const WRITTEN: &str = include_str!("../../web/src/gql/persisted-documents.json");

static DOCUMENTS: LazyLock<HashMap<String, String>> =
    LazyLock::new(|| serde_json::from_str(WRITTEN).unwrap_or_default());

/// The query's text. Where browsers may send the console's queries alone, it is ours under the name that they send, and
/// whatever text they send along counts for nothing.
pub(super) fn text<'a>(
    incoming: &'a Incoming,
    caller: &Caller,
    console_queries_only: bool,
) -> Result<&'a str, ApiError> {
    if !(console_queries_only && caller.is_browser) {
        return Ok(incoming.query());
    }
    let known = incoming.document_id().and_then(|id| DOCUMENTS.get(id));
    known.map(String::as_str).ok_or_else(|| {
        ApiError::bad_request("Only the console's own queries are taken from browsers: reload the page.")
    })
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;

    use super::*;

    #[test]
    fn every_query_of_the_console_has_a_name_and_can_be_read() {
        assert!(DOCUMENTS.len() > 30, "{}", DOCUMENTS.len());
        for (id, text) in &*DOCUMENTS {
            assert!(id.starts_with("sha256:"), "{id}");
            parse_query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}
