//! `make bench`: what Paydesk reaches, beside what the machine can do, measured in turn in one run.
//!
//! Absolute figures drift from run to run; only a ratio of the same run says something, and none is asserted anywhere.
//! Arguments pick measurements (`drain`, `latency`, `payments`, `idle`); without any, all are made.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]
#![expect(clippy::float_arithmetic, reason = "figures for people, no money")]
#![expect(
    clippy::disallowed_methods,
    reason = "it reads DATABASE_URL and AMQP_URL, and spawns what it waits for"
)]

mod drain;
mod idle;
mod latency;
mod payments;
mod report;
mod setup;

/// Product and limit are measured so often, in turn.
const ROUNDS: usize = 3;

/// As the server has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    // Before any app: a process has one recorder, and the latency's measure needs the values, not buckets.
    latency::record_latencies();
    let mut figures = Vec::new();
    if wants("idle") {
        figures.extend(idle::measure().await);
    }
    if wants("latency") {
        figures.extend(latency::measure().await);
    }
    if wants("payments") {
        figures.push(payments::measure().await);
    }
    if wants("drain") {
        figures.push(drain::measure().await);
    }
    report::print(&figures);
}
