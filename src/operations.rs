//! What spans the contexts: the books, retention.

mod invariants;
mod retention;

pub use invariants::{Books, Checked, Patience, check_invariants};
pub use retention::Retention;
