use diesel::result::{DatabaseErrorKind, Error as DieselError};
use thiserror::Error;

/// How PostgreSQL words the class 22, data exceptions, that a statement of ours can meet.
const DATA_EXCEPTIONS: [&str; 9] = [
    "value too long for type",
    "out of range",
    "invalid byte sequence for encoding",
    "invalid input syntax for",
    "unsupported Unicode escape sequence",
    "numeric field overflow",
    "division by zero",
    "invalid text representation",
    "null value not allowed",
];

/// Why the database did not do what it was asked.
#[derive(Debug, Error)]
pub enum DbError {
    /// No connection became free in time, or none can be made: try again later.
    #[error("no database connection is free: {0}")]
    Unavailable(String),
    /// The statement failed.
    #[error(transparent)]
    Query(#[from] DieselError),
}

impl DbError {
    /// A deadlock or a serialisation failure: the transaction did nothing and may be run again at once.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Query(DieselError::DatabaseError(DatabaseErrorKind::SerializationFailure, _)) => true,
            // Diesel has no kind of its own for 40P01; its message is PostgreSQL's and not localised (lc_messages=C).
            Self::Query(DieselError::DatabaseError(_, info)) => info.message() == "deadlock detected",
            _ => false,
        }
    }

    /// The value itself is refused (classes 22 and 23): the same again will fare no better. Constraints that mean a business
    /// refusal are looked for before, by name.
    pub fn is_data_error(&self) -> bool {
        match self {
            Self::Query(DieselError::SerializationError(_)) => true,
            Self::Query(DieselError::DatabaseError(kind, info)) => match kind {
                DatabaseErrorKind::UniqueViolation
                | DatabaseErrorKind::ForeignKeyViolation
                | DatabaseErrorKind::NotNullViolation
                | DatabaseErrorKind::CheckViolation
                | DatabaseErrorKind::RestrictViolation
                | DatabaseErrorKind::ExclusionViolation => true,
                // Diesel keeps no SQLSTATE, so class 22 is known by PostgreSQL's own texts.
                DatabaseErrorKind::Unknown => {
                    DATA_EXCEPTIONS.iter().any(|text| info.message().contains(text))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The statement was cut off by `statement_timeout`.
    pub fn is_statement_timeout(&self) -> bool {
        matches!(self, Self::Query(DieselError::DatabaseError(_, info))
            if info.message() == "canceling statement due to statement timeout")
    }

    /// A table changed under a prepared statement; the next connection prepares it anew.
    pub fn is_outdated_plan(&self) -> bool {
        matches!(self, Self::Query(error) if is_outdated_plan(error))
    }

    /// Somebody else held a lock for too long.
    pub fn is_lock_timeout(&self) -> bool {
        matches!(self, Self::Query(DieselError::DatabaseError(_, info))
            if info.message() == "canceling statement due to lock timeout")
    }

    /// Nothing is wrong with the statement: it may succeed in a moment, here or after a failover.
    pub fn is_transient(&self) -> bool {
        let read_only = matches!(
            self,
            Self::Query(DieselError::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _))
        );
        self.is_retryable()
            || self.is_connection_loss()
            || self.is_outdated_plan()
            || self.is_lock_timeout()
            || self.is_statement_timeout()
            || read_only
    }

    /// The connection went away, or none can be had: nothing is wrong with the statement.
    pub fn is_connection_loss(&self) -> bool {
        match self {
            Self::Unavailable(_) => true,
            Self::Query(DieselError::DatabaseError(DatabaseErrorKind::ClosedConnection, _)) => true,
            Self::Query(DieselError::DatabaseError(DatabaseErrorKind::UnableToSendCommand, _)) => true,
            Self::Query(DieselError::BrokenTransactionManager) => true,
            Self::Query(DieselError::DatabaseError(_, info)) => {
                info.message().starts_with("terminating connection") || info.message() == "connection closed"
            }
            Self::Query(_) => false,
        }
    }
}

/// A prepared statement's result is not what it was.
pub(super) fn is_outdated_plan(error: &DieselError) -> bool {
    matches!(error, DieselError::DatabaseError(_, info) if info.message() == "cached plan must not change result type")
}
