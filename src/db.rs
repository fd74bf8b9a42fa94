//! PostgreSQL: pools, transactions with after-commit actions, hand-written statements, keyset pages.

mod answer;
mod connect;
mod constraint;
mod daily;
mod error;
mod json;
mod listener;
pub mod migrations;
mod minute;
pub mod page;
mod pool;
mod recording;
#[expect(missing_docs, reason = "generated from the database")]
pub mod schema;
mod statement;
mod transaction;
mod watch;

pub use connect::Connector;
pub use constraint::violated_constraint;
pub use daily::{DailyRun, Day};
pub use error::DbError;
pub use json::StoredJson;
pub use listener::{Hint, Hints};
pub use minute::Minute;
pub use pool::{Database, PoolUse, PooledConnection};
pub use recording::Recording;
pub use statement::{Counting, Statement};
pub use transaction::Transaction;
pub use watch::{RowSource, Watcher, Watching};
