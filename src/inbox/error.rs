use thiserror::Error;

use crate::db::DbError;

/// Why a message was not carried out. A *business* refusal is none of these: it is an outcome, and acknowledged.
#[derive(Debug, Error)]
pub enum HandlingError {
    /// The message is wrong: trying again changes nothing.
    #[error("{message}")]
    Data {
        /// For machines.
        code: String,
        /// For people.
        message: String,
    },
    /// Somebody else failed, or nobody knows yet what became of it: worth trying again.
    #[error("{message}")]
    System {
        /// For machines.
        code: String,
        /// For people.
        message: String,
    },
    /// The database did not do what it was asked.
    #[error(transparent)]
    Database(#[from] DbError),
    /// The process stops; the message is delivered again.
    #[error("the process is stopping")]
    Stopped,
}

impl From<diesel::result::Error> for HandlingError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

/// What follows from an error (domain.md, "Messages consumed").
#[derive(Debug)]
pub(super) enum Consequence {
    /// Dead-lettered at once.
    Data(Trouble),
    /// Tried again a few times, then dead-lettered.
    System(Trouble),
    /// The transaction did nothing: again at once, without counting.
    Again(Trouble),
    /// Nothing is tried until the database is back.
    Pause(DbError),
    /// The message is left to the next process.
    Leave,
}

/// What was wrong, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) code: String,
    pub(super) message: String,
}

impl HandlingError {
    /// A wrong message.
    pub fn data(code: &str, message: impl Into<String>) -> Self {
        Self::Data { code: code.to_owned(), message: message.into() }
    }

    /// A failure that is not the message's.
    pub fn system(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::System { code: code.into(), message: message.into() }
    }

    pub(super) fn consequence(self) -> Consequence {
        match self {
            Self::Data { code, message } => Consequence::Data(Trouble { code, message }),
            Self::System { code, message } => Consequence::System(Trouble { code, message }),
            Self::Stopped => Consequence::Leave,
            Self::Database(error) if error.is_connection_loss() => Consequence::Pause(error),
            Self::Database(error) if error.is_retryable() => {
                Consequence::Again(trouble("DATABASE_CONFLICT", &error))
            }
            Self::Database(error) if error.is_data_error() => {
                Consequence::Data(trouble("DATABASE_REFUSED", &error))
            }
            Self::Database(error) => Consequence::System(trouble("DATABASE_ERROR", &error)),
        }
    }
}

fn trouble(code: &str, error: &DbError) -> Trouble {
    Trouble { code: code.to_owned(), message: format!("the database refused it: {error}") }
}
