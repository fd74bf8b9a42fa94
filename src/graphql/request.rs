//! The JSON around a query.
//!
//! Errors say where the JSON is wrong and never what stands there: it may be a card number.

use serde::Deserialize;
use serde_json::{error::Category, value::RawValue};

use super::error::ApiError;

/// Queries in one POST.
pub const MAX_BATCH: usize = 10;

/// One query as it came.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Incoming {
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    document_id: Option<String>,
    #[serde(default)]
    operation_name: Option<String>,
    #[serde(default)]
    variables: Option<serde_json::Map<String, serde_json::Value>>,
}

impl Incoming {
    /// The query's text; empty when there is none, which no query is.
    pub(super) fn query(&self) -> &str {
        self.query.as_deref().unwrap_or_default()
    }

    /// The name of a query that the server has.
    pub(super) fn document_id(&self) -> Option<&str> {
        self.document_id.as_deref()
    }

    /// Which operation is to run; clients that have none write null, nothing, or an empty string.
    pub(super) fn operation_name(&self) -> Option<&str> {
        self.operation_name.as_deref().filter(|name| !name.is_empty())
    }

    /// The variables, taken out.
    pub(super) fn take_variables(&mut self) -> async_graphql::Variables {
        let variables = self.variables.take().unwrap_or_default();
        async_graphql::Variables::from_json(serde_json::Value::Object(variables))
    }
}

/// A body: one query, or several.
#[derive(Debug)]
pub(super) enum Body {
    Single(Incoming),
    Batch(Vec<Incoming>),
}

/// Reads the body of a POST.
pub(super) fn read(body: &[u8]) -> Result<Body, ApiError> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'[') {
        return read_one(body).map(Body::Single);
    }
    let entries: Vec<&RawValue> = serde_json::from_slice(body).map_err(|error| not_json(&error))?;
    if entries.is_empty() || entries.len() > MAX_BATCH {
        return Err(ApiError::bad_request(format!("A batch holds from 1 to {MAX_BATCH} queries.")));
    }
    let entries = entries.into_iter().map(|entry| read_one(entry.get().as_bytes()));
    entries.collect::<Result<_, _>>().map(Body::Batch)
}

/// Reads one query's JSON object.
pub(super) fn read_one(json: &[u8]) -> Result<Incoming, ApiError> {
    let incoming: Incoming = serde_json::from_slice(json).map_err(|error| not_json(&error))?;
    if incoming.query().is_empty() {
        return Err(ApiError::bad_user_input(["query"], "query is required."));
    }
    Ok(incoming)
}

fn not_json(error: &serde_json::Error) -> ApiError {
    let at = format!("line {}, column {}", error.line(), error.column());
    match error.classify() {
        Category::Data => ApiError::bad_request(format!(
            "A query is an object with query (a string), operationName (a string) and variables (an object): {at}."
        )),
        _ => ApiError::bad_request(format!("Not valid JSON: {at}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphql::error::Code;

    fn refusal(body: &str) -> String {
        let error = read(body.as_bytes()).unwrap_err();
        assert_eq!(error.code(), Code::BadUserInput);
        error.message().to_owned()
    }

    #[test]
    fn reads_what_clients_send() {
        let body = br#" {"query":"{a}","operationName":"","variables":null,"extensions":{"x":1}}"#;
        let Ok(Body::Single(incoming)) = read(body) else { panic!("one query") };
        assert_eq!((incoming.query(), incoming.operation_name()), ("{a}", None));
        assert!(
            matches!(read(br#"[{"query":"{a}"},{"query":"{b}"}]"#), Ok(Body::Batch(all)) if all.len() == 2)
        );
    }

    #[test]
    fn refuses_the_rest_without_repeating_it() {
        for bad in [
            "",
            "{",
            "null",
            "5",
            "\"{a}\"",
            "[]",
            "[1]",
            "{}",
            r#"{"query":5}"#,
            r#"{"query":"{a}","variables":[4000000000000002]}"#,
        ] {
            assert!(!refusal(bad).contains("4000000000000002"), "{bad}");
        }
        let entry = r#"{"query":"{a}"}"#;
        assert!(refusal(&format!("[{}]", [entry; 11].join(","))).contains("1 to 10"));
        assert!(refusal(&format!("[{}]", [entry; 200].join(","))).contains("1 to 10"));
    }

    #[test]
    fn deeply_nested_variables_are_refused() {
        let deep =
            format!(r#"{{"query":"{{a}}","variables":{{"v":{}{}}}}}"#, "[".repeat(5_000), "]".repeat(5_000));
        refusal(&deep);
        refusal(&format!("[{deep}]"));
        refusal(&"[".repeat(500_000));
    }
}
