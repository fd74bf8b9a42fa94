//! What a caller is told when a request fails, and what only the log is told.
//!
//! [`ApiError`] has no `Display` on purpose: async-graphql turns any `Display` into an error text, so with
//! one, a `?` on a database error would send its text to the caller. Here `?` works on an `ApiError` alone,
//! and whatever still arrives as another error is answered as INTERNAL (see `answer`).

use std::{borrow::Cow, sync::Arc};

use serde::Serialize;

/// `extensions.code` of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// No token, or one that is not valid.
    Unauthenticated,
    /// The token's roles do not allow it.
    Forbidden,
    /// The request itself is wrong.
    BadUserInput,
    /// No such thing.
    NotFound,
    /// The query is larger than the limits allow.
    QueryTooComplex,
    /// More operations a second than this caller may send.
    RateLimited,
    /// Something broke; the log has it under the request's id.
    Internal,
}

impl Code {
    /// The code as the API writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::BadUserInput => "BAD_USER_INPUT",
            Self::NotFound => "NOT_FOUND",
            Self::QueryTooComplex => "QUERY_TOO_COMPLEX",
            Self::RateLimited => "RATE_LIMITED",
            Self::Internal => "INTERNAL",
        }
    }
}

/// The cause of an INTERNAL error; shared, because one failed batch fails every field that waits for it.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// An error on its way to the caller.
#[derive(Debug, Clone)]
pub struct ApiError {
    code: Code,
    message: Cow<'static, str>,
    field: Vec<String>,
    position: Option<(usize, usize)>,
    cause: Option<Cause>,
}

impl ApiError {
    fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), field: Vec::new(), position: None, cause: None }
    }

    /// No token, or one that is not valid. It never says which.
    pub fn unauthenticated() -> Self {
        Self::new(Code::Unauthenticated, "A valid token is required.")
    }

    /// The caller's roles do not allow this.
    pub fn forbidden() -> Self {
        Self::new(Code::Forbidden, "Your role does not allow this.")
    }

    /// The request is wrong as a whole: no JSON, no query, a syntax error.
    pub fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::BadUserInput, message)
    }

    /// An argument is wrong; `field` is its path, from the argument's name on.
    pub fn bad_user_input<'a>(
        field: impl IntoIterator<Item = &'a str>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        let field = field.into_iter().map(str::to_owned).collect();
        Self { field, ..Self::new(Code::BadUserInput, message) }
    }

    /// There is no such thing.
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// The query is over a limit; the message names it.
    pub fn too_complex(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::QueryTooComplex, message)
    }

    /// The caller sends more than its share.
    pub fn rate_limited(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::RateLimited, message)
    }

    /// Something broke. The caller sees a request id; the log gets `cause` and everything behind it.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::internal_shared(Arc::from(cause.into()))
    }

    /// As [`ApiError::internal`], for a cause that several fields share: it is logged once.
    pub fn internal_shared(cause: Cause) -> Self {
        Self { cause: Some(cause), ..Self::new(Code::Internal, "Internal error.") }
    }

    /// The same error, pointing at a line and column of the query.
    pub(super) fn at(self, line: usize, column: usize) -> Self {
        Self { position: Some((line, column)), ..self }
    }

    /// Its code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Its text, as the caller reads it.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The path of the argument at fault; empty when it is none.
    pub fn field(&self) -> &[String] {
        &self.field
    }

    pub(super) fn position(&self) -> Option<(usize, usize)> {
        self.position
    }

    pub(super) fn cause(&self) -> Option<&Cause> {
        self.cause.as_ref()
    }
}

impl From<ApiError> for async_graphql::Error {
    fn from(error: ApiError) -> Self {
        let mut out = Self::new(error.message.clone());
        out.source = Some(Arc::new(error));
        out
    }
}
