//! What spans the contexts: the overview, retention.

mod overview;
mod retention;

pub use overview::{Overview, OverviewFeed, OverviewRefresher};
pub use retention::Retention;
