//! Small value types that every other room uses: money, card, backoff, text that is safe to store.

mod backoff;
mod card;
pub mod clock;
mod id;
mod money;
mod stored_enum;
pub mod text;

pub use backoff::Backoff;
pub use card::{Card, CardError, CardFields};
pub use clock::millis;
pub use id::{IdError, parse_id};
pub use money::{MAX_WON, Won, WonError};
pub(crate) use stored_enum::stored_enum;

/// An instant in UTC. Rows carry the database's clock.
pub type Instant = chrono::DateTime<chrono::Utc>;
