//! What spans the contexts: retention.

mod retention;

pub use retention::Retention;
