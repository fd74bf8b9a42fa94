//! What several aggregates read from their arguments and answer with.

use async_graphql::{Enum, ID, InputObject, SimpleObject};

use super::{error::ApiError, page::Counted, scalars::DateTime};
use crate::{
    db::DbError,
    types::{Instant, clock, parse_id},
};

/// A stretch of time: from inclusive, to exclusive; either may be open.
#[derive(Debug, Clone, Copy, Default, InputObject)]
pub struct TimeRange {
    /// From this instant on.
    pub from: Option<DateTime>,
    /// Before this instant.
    pub to: Option<DateTime>,
}

impl TimeRange {
    /// Both ends of an optional range.
    pub fn ends(range: Option<Self>) -> (Option<Instant>, Option<Instant>) {
        let range = range.unwrap_or_default();
        (range.from.map(|at| at.0), range.to.map(|at| at.0))
    }
}

/// What the viewer may do to this row now, and if not, why.
#[derive(Debug, Clone, SimpleObject)]
pub struct AvailableAction {
    /// The mutation's name.
    pub action: String,
    /// Whether it would be carried out now.
    pub allowed: bool,
    /// Why not.
    pub reason: Option<String>,
}

impl AvailableAction {
    /// Allowed unless there is a reason against it.
    pub fn new(action: &str, reason: Option<String>) -> Self {
        Self { action: action.to_owned(), allowed: reason.is_none(), reason }
    }
}

/// Why a business action was refused; the state is unchanged.
#[derive(Debug, Clone, SimpleObject)]
pub struct UserError {
    /// For machines.
    pub code: UserErrorCode,
    /// For people.
    pub message: String,
    /// The path of the input field at fault, if it is one.
    pub field: Option<Vec<String>>,
}

impl UserError {
    /// A refusal that no single field is to blame for.
    pub fn new(code: UserErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None }
    }

    /// A field of the `input` argument that cannot be worked with.
    pub fn invalid(path: &[&str], message: impl Into<String>) -> Self {
        let field = std::iter::once("input").chain(path.iter().copied()).map(str::to_owned).collect();
        Self { field: Some(field), ..Self::new(UserErrorCode::InvalidInput, message) }
    }
}

/// Why a business action was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub enum UserErrorCode {
    /// There is no such thing.
    NotFound,
    /// A field of the input cannot be worked with; `field` names it.
    InvalidInput,
    /// The row's state does not allow it.
    InvalidState,
    /// The user that the service acts for is not the payer.
    UnauthorizedRefund,
    /// Only a COMPLETED payment can be refunded.
    RefundNotAllowed,
    /// The provider refused; the refund is there, FAILED.
    RefundRefused,
    /// The user has paid for this meeting.
    AlreadyPaid,
    /// A payment of the user for this meeting is under way, or its outcome is unknown; another payment of the charge is
    /// being approved.
    PaymentInProgress,
    /// The meeting was deleted.
    MeetingClosed,
    /// The payment is there, FAILED.
    PaymentDeclined,
    /// The gateway knows of no payment.
    ChargeNotPaid,
    /// The purchase is not paid yet; the gateway is asked again.
    PurchasePending,
    /// The purchase was cancelled, or given back.
    PurchaseCanceled,
    /// Another amount was paid.
    AmountMismatch,
    /// It was paid in another currency.
    CurrencyMismatch,
    /// Another product was bought, or several of it.
    ProductMismatch,
    /// The purchase is for another order, or was made for somebody else.
    OwnerMismatch,
    /// The charge was requested for another gateway.
    GatewayMismatch,
    /// The purchase was made in a test environment, where no money moves.
    SandboxRefused,
    /// What was presented is not the gateway's word.
    SignatureInvalid,
    /// The purchase has paid another charge.
    TransactionAlreadyUsed,
    /// Another purchase has paid this charge; if this one is paid too, operators are told.
    OrderAlreadyPaid,
    /// The gateway is not configured, or does not answer now.
    GatewayUnavailable,
    /// The gateway refuses our key or contract; no money moved.
    GatewayMisconfigured,
    /// The idempotency key was used with another input.
    IdempotencyKeyReused,
    /// The first request with this idempotency key is still at work: ask again.
    IdempotentRequestInProgress,
}

/// An operator's action on one row.
#[derive(Debug, Clone, InputObject)]
pub struct OperatorActionInput {
    /// The row.
    pub id: ID,
    /// Why; it goes into the audit log.
    pub reason: String,
}

impl OperatorActionInput {
    /// The row's id and the reason, or what is wrong with them.
    pub fn read(&self) -> Result<(i64, &str), UserError> {
        let id = parse_id(&self.id).map_err(|error| UserError::invalid(&["id"], format!("id {error}")))?;
        let reason = self.reason.trim();
        match reason.chars().count() {
            1..=1_000 => Ok((id, reason)),
            _ => Err(UserError::invalid(&["reason"], "a reason of 1 to 1,000 characters is required")),
        }
    }
}

/// Reads an id of an argument.
pub fn id(field: &[&str], text: &ID) -> Result<i64, ApiError> {
    let name = field.last().copied().unwrap_or("id").to_owned();
    parse_id(text)
        .map_err(|error| ApiError::bad_user_input(field.iter().copied(), format!("{name} {error}.")))
}

/// Reads an optional id of a filter.
pub fn filter_id(field: &'static str, text: Option<&ID>) -> Result<Option<i64>, ApiError> {
    text.map(|text| id(&["filter", field], text)).transpose()
}

/// Reads an optional text of a filter.
pub fn filter_text(field: &'static str, text: Option<String>) -> Result<Option<String>, ApiError> {
    text.map(|text| storable(field, text)).transpose()
}

/// Reads optional texts of a filter.
pub fn filter_texts(
    field: &'static str,
    texts: Option<Vec<String>>,
) -> Result<Option<Vec<String>>, ApiError> {
    texts.map(|texts| texts.into_iter().map(|text| storable(field, text)).collect()).transpose()
}

/// PostgreSQL takes no NUL in a text, not even to compare with.
fn storable(field: &'static str, text: String) -> Result<String, ApiError> {
    if text.contains('\0') {
        let message = format!("{field} must not contain the character NUL.");
        return Err(ApiError::bad_user_input(["filter", field], message));
    }
    Ok(text)
}

/// What the caller is told when a read fails; `narrow` names the filters that an index serves.
pub fn read_failed(error: impl Into<DbError>, narrow: &'static str) -> ApiError {
    let error = error.into();
    if error.is_statement_timeout() {
        let message = format!("This combination of filters takes too long. Narrow it with one of: {narrow}.");
        return ApiError::bad_user_input(["filter"], message);
    }
    failed(error)
}

/// What the caller is told when a read without filters fails.
pub fn slow_or_failed(error: DbError) -> ApiError {
    if error.is_statement_timeout() { slow(&error) } else { failed(error) }
}

/// What the caller is told when a read takes too long that no filter could narrow.
pub fn slow(error: &DbError) -> ApiError {
    tracing::warn!(%error, "a read took too long");
    ApiError::rate_limited("The server is busy. Try again in a moment.")
}

/// What the caller is told when the database fails.
pub fn failed(error: impl Into<DbError>) -> ApiError {
    match error.into() {
        locked if locked.is_lock_timeout() => {
            tracing::warn!(error = %locked, "a request waited too long for a lock");
            ApiError::rate_limited("The server is busy. Try again in a moment.")
        }
        DbError::Unavailable(why) => {
            tracing::warn!(%why, "no database connection for a request");
            ApiError::rate_limited("The server is busy. Try again in a moment.")
        }
        other => ApiError::internal(other),
    }
}

/// A count with its moment.
pub fn counted(value: i64) -> Counted {
    Counted { value, as_of: clock::now() }
}

/// A stored name that this version does not know: the row was written by a newer one.
pub fn unknown_value(what: &'static str) -> ApiError {
    ApiError::internal(format!("a stored {what} that this version does not know"))
}
