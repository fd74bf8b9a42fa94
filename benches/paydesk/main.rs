//! `make bench`: what Paydesk reaches, beside what the machine can do, measured in turn in one run.
//!
//! Absolute figures drift from run to run; only a ratio of the same run says something, and none is asserted anywhere.
//! Arguments pick measurements; without any, all but `memory` are made, which takes long. `--quick` measures less of each.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]
#![expect(clippy::float_arithmetic, reason = "figures for people, no money")]
#![expect(
    clippy::disallowed_methods,
    reason = "it reads DATABASE_URL and AMQP_URL, and spawns what it waits for"
)]

mod drain;
mod feed;
mod graphql;
mod growth;
mod idle;
mod latency;
mod list;
mod memory;
mod payments;
#[expect(dead_code, reason = "the tests break connections in more ways")]
#[path = "../../tests/it/support/proxy.rs"]
mod proxy;
mod report;
mod setup;
mod share;

/// Product and limit are measured so often, in turn.
const ROUNDS: usize = 3;

/// As the server has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// What the targets speak of.
    Full,
    /// Enough to see whether something changed.
    Quick,
}

impl Scale {
    /// The sizes for each.
    pub fn of<T>(self, full: &'static [T], quick: &'static [T]) -> &'static [T] {
        self.pick(full, quick)
    }

    /// One of the two.
    pub fn pick<T>(self, full: T, quick: T) -> T {
        if self == Self::Full { full } else { quick }
    }
}

#[tokio::main]
async fn main() {
    let (options, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let quick = options.iter().any(|option| option == "--quick");
    let scale = if quick { Scale::Quick } else { Scale::Full };
    let names = ["idle", "latency", "payments", "drain", "share", "list", "feed", "growth", "memory"];
    if let Some(unknown) = wanted.iter().find(|wanted| !names.contains(&wanted.as_str())) {
        panic!("there is no measurement {unknown}; there are {}", names.join(", "));
    }
    let wants =
        |name: &str| wanted.iter().any(|wanted| wanted == name) || wanted.is_empty() && name != "memory";
    // Before any app: a process has one recorder, and the latency's measure needs the values, not buckets.
    latency::record_latencies();
    let mut figures = Vec::new();
    for name in names.into_iter().filter(|name| wants(name)) {
        eprintln!("{name} …");
        match name {
            "idle" => figures.extend(idle::measure().await),
            "latency" => figures.extend(latency::measure(scale).await),
            "payments" => figures.extend(payments::measure(scale).await),
            "drain" => figures.extend(drain::measure(scale).await),
            "share" => figures.push(share::measure(scale).await),
            "list" => figures.extend(list::measure(scale).await),
            "feed" => figures.extend(feed::measure(scale).await),
            "growth" => figures.extend(growth::measure(scale).await),
            _memory => figures.push(memory::measure(scale).await),
        }
    }
    report::print(&figures);
}
