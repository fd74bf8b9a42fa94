//! What the process tells of itself: log lines, metrics, and traces when a collector is configured.
//!
//! Metrics are recorded through `record`, so that names and labels are spelt in this room only.

mod line;
mod logs;
mod metrics;
pub mod names;
pub mod record;
mod traces;

pub use logs::init_logs;
pub use metrics::{Metrics, metrics};
pub use traces::{current_traceparent, shutdown};
