//! What the process tells of itself: metrics.
//!
//! Metrics are recorded through `record`, so that names and labels are spelt in this room only.

mod metrics;
pub mod names;
pub mod record;

pub use metrics::{Metrics, metrics};
