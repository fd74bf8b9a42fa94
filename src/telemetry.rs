//! shim
#![expect(missing_docs, reason = "shim")]
use std::time::Duration;
pub fn worker_ran(_n: &'static str, _d: Duration, _ok: bool) {}
pub fn publish_latency(_d: Duration) {}
pub fn outbox_attempts(_o: &str, _n: usize) {}
