//! What spans the contexts: the overview, the books, retention.

mod invariants;
mod overview;
mod retention;

pub use invariants::{Books, Checked, Patience, check_invariants};
pub use overview::{Overview, OverviewFeed, OverviewRefresher};
pub use retention::Retention;
