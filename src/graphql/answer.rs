//! The one way out: what async-graphql answers becomes JSON that tells no more than it may.
//!
//! Errors made by [`ApiError`] go out as they are. Those of async-graphql's own validation are the caller's
//! mistakes, told without anything about the schema. Everything else is INTERNAL, whatever its text says.
//! This is done here and not in an async-graphql extension because one extension of any kind makes every
//! field of every row take the slow path, and nobody else can reach the schema (see `api`).

use async_graphql::{PathSegment, Pos, Response, ServerError, Value};
use serde::Serialize;

use super::error::{ApiError, Cause, Code};

/// How answers are rendered: for whom, and how much may be said.
#[derive(Debug, Clone)]
pub(super) struct Rendering {
    /// Stands in INTERNAL errors and in the log.
    pub(super) request_id: String,
    /// Whether validation errors may speak of the schema: development only.
    pub(super) discloses_schema: bool,
}

/// An answer in JSON, and what the metrics and the websocket want to know of it.
pub(super) struct Rendered {
    pub(super) json: String,
    /// The errors alone, as a JSON array, when there is nothing but errors.
    pub(super) errors_only: Option<String>,
    pub(super) code: Option<Code>,
}

#[derive(Serialize)]
struct Envelope<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Value>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [ErrorJson<'a>],
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    locations: &'a [Pos],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    path: &'a [PathSegment],
    extensions: ExtensionsJson<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExtensionsJson<'a> {
    code: Code,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    field: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

/// An error of the response with what it is told as.
struct Judged {
    error: ApiError,
    locations: Vec<Pos>,
    path: Vec<PathSegment>,
}

impl Rendering {
    /// Renders what was executed.
    pub(super) fn response(&self, response: Response) -> Rendered {
        let Response { data, errors, .. } = response;
        let judged: Vec<Judged> = errors.into_iter().map(|error| self.judge(error)).collect();
        self.render(Some(&data), &judged)
    }

    /// Renders a refusal before anything was executed.
    pub(super) fn refusal(&self, error: ApiError) -> Rendered {
        let locations =
            error.position().map(|(line, column)| Pos { line, column }).into_iter().collect::<Vec<_>>();
        self.render(None, &[Judged { error, locations, path: Vec::new() }])
    }

    fn render(&self, data: Option<&Value>, judged: &[Judged]) -> Rendered {
        self.log_causes(judged);
        let errors: Vec<ErrorJson<'_>> = judged.iter().map(|judged| self.error_json(judged)).collect();
        let nothing_but_errors = !errors.is_empty() && matches!(data, None | Some(Value::Null));
        // A request that was refused has no data at all; one that ran and failed has `data: null`.
        let ran = judged.iter().any(|judged| !judged.path.is_empty());
        let data = data.filter(|data| errors.is_empty() || ran || **data != Value::Null);
        Rendered {
            json: to_json(&Envelope { data, errors: &errors }),
            errors_only: nothing_but_errors.then(|| to_json(&errors)),
            code: judged.first().map(|judged| judged.error.code()),
        }
    }

    fn error_json<'a>(&'a self, judged: &'a Judged) -> ErrorJson<'a> {
        let code = judged.error.code();
        ErrorJson {
            message: judged.error.message(),
            locations: &judged.locations,
            path: &judged.path,
            extensions: ExtensionsJson {
                code,
                field: judged.error.field(),
                request_id: (code == Code::Internal).then_some(self.request_id.as_str()),
            },
        }
    }

    fn judge(&self, error: ServerError) -> Judged {
        let judged = match error.source::<ApiError>() {
            Some(ours) => ours.clone(),
            None if error.source.is_none() && error.path.is_empty() => self.validation(&error.message),
            None if error.source.is_none() && is_coercion(&error.message) => {
                ApiError::bad_request("An argument of this field has an invalid value.")
            }
            None => ApiError::internal(error.message.as_str()),
        };
        Judged { error: judged, locations: error.locations, path: error.path }
    }

    /// async-graphql's validation texts name types, fields and the nearest match. What the caller wrote
    /// itself, the path of the argument, is the one thing worth keeping.
    fn validation(&self, message: &str) -> ApiError {
        let field = argument_path(message);
        let field = field.iter().map(String::as_str);
        if self.discloses_schema {
            return ApiError::bad_user_input(field, message.to_owned());
        }
        match argument_path(message).join(".") {
            path if path.is_empty() => ApiError::bad_request("The query does not match the schema."),
            path => ApiError::bad_user_input(field, format!("The value of \"{path}\" is not valid.")),
        }
    }

    /// Once per cause: one failed batch fails every field that waited for it.
    fn log_causes(&self, judged: &[Judged]) {
        let mut logged: Vec<&Cause> = Vec::new();
        for cause in judged.iter().filter_map(|judged| judged.error.cause()) {
            if !logged.iter().any(|known| std::sync::Arc::ptr_eq(known, cause)) {
                logged.push(cause);
                tracing::error!(request_id = %self.request_id, error = %chain(cause.as_ref()), "request failed");
            }
        }
    }
}

/// The error and everything behind it, in one line.
pub(super) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(next) = source {
        text.push_str(": ");
        text.push_str(&next.to_string());
        source = next.source();
    }
    text
}

/// Texts of async-graphql for a value that validation let through and reading it refused (an `Int` beyond
/// 32 bits).
fn is_coercion(message: &str) -> bool {
    message.starts_with("Failed to parse \"") || message.starts_with("Expected input type \"")
}

/// The path in async-graphql's `Invalid value for argument "input.amount", expected type …`.
fn argument_path(message: &str) -> Vec<String> {
    message
        .strip_prefix("Invalid value for argument \"")
        .and_then(|rest| rest.split_once('"'))
        .map(|(path, _)| path.split('.').map(str::to_owned).collect())
        .unwrap_or_default()
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| {
        tracing::error!(%error, "an answer could not be written as JSON");
        r#"{"errors":[{"message":"Internal error.","extensions":{"code":"INTERNAL"}}]}"#.to_owned()
    })
}

/// An error answer made outside of GraphQL, in the same shape.
pub fn error_body(error: &ApiError, request_id: &str) -> String {
    let rendering = Rendering { request_id: request_id.to_owned(), discloses_schema: false };
    rendering.refusal(error.clone()).json
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendering(discloses_schema: bool) -> Rendering {
        Rendering { request_id: "r-1".to_owned(), discloses_schema }
    }

    fn json(errors: Vec<ServerError>, discloses_schema: bool) -> String {
        rendering(discloses_schema).response(Response::from_errors(errors)).json
    }

    fn at_field(error: async_graphql::Error) -> ServerError {
        error
            .into_server_error(Pos { line: 1, column: 1 })
            .with_path(vec![PathSegment::Field("a".to_owned())])
    }

    #[test]
    fn a_foreign_error_says_nothing_but_the_request_id() {
        let leaked = at_field(std::io::Error::other("password=hunter2").into());
        let json = json(vec![leaked], true);
        assert!(!json.contains("hunter2"), "{json}");
        assert!(json.contains(r#""code":"INTERNAL","requestId":"r-1""#), "{json}");
    }

    #[test]
    fn an_error_of_async_graphql_itself_in_a_resolver_is_internal_too() {
        let json = json(vec![at_field(async_graphql::Error::new("Data `Pool` does not exist."))], true);
        assert!(!json.contains("Pool"), "{json}");
        assert!(json.contains("INTERNAL"));
    }

    #[test]
    fn ours_keeps_its_code_text_and_field() {
        let ours = at_field(ApiError::bad_user_input(["first"], "too many").into());
        let json = json(vec![ours], false);
        assert!(json.contains(r#""message":"too many""#), "{json}");
        assert!(json.contains(r#""extensions":{"code":"BAD_USER_INPUT","field":["first"]}"#), "{json}");
        assert!(json.starts_with(r#"{"data":null,"#), "{json}");
    }

    #[test]
    fn validation_names_only_what_the_caller_wrote() {
        let unknown =
            ServerError::new(r#"Unknown field "paymnt" on type "Query". Did you mean "payment"?"#, None);
        let value =
            ServerError::new(r#"Invalid value for argument "input.amount", expected type "Long""#, None);
        let closed = json(vec![unknown.clone(), value.clone()], false);
        assert!(
            !closed.contains("Query") && !closed.contains("Did you mean") && !closed.contains("Long"),
            "{closed}"
        );
        assert!(closed.contains(r#""field":["input","amount"]"#), "{closed}");
        assert!(!closed.contains("\"data\""), "{closed}");
        assert!(json(vec![unknown], true).contains("Did you mean"));
    }

    #[test]
    fn the_log_has_the_whole_chain() {
        #[derive(Debug, thiserror::Error)]
        #[error("claim failed")]
        struct Outer(#[source] std::io::Error);
        assert_eq!(chain(&Outer(std::io::Error::other("socket closed"))), "claim failed: socket closed");
    }
}
