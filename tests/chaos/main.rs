//! Chaos: three real processes take payments, give them back, sell coins and grant bonuses while what they stand on
//! really breaks; after each round the books are equal, and nothing is lost, claimed twice or stuck.
//!
//! `PAYDESK_CHAOS_ROUNDS` says how many rounds (a few unless given), `PAYDESK_CHAOS_SEED` what the first one does; the
//! next has the next seed. A round that fails is told with its seed and leaves its logs in `target/chaos/`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_methods, reason = "tests read their environment, and spawn what they stop")]

mod books;
mod broker;
mod faults;
mod load;
mod plan;
mod site;

#[expect(dead_code, reason = "shared with the other integration tests, which use the rest")]
#[path = "../it/support/mod.rs"]
mod support;

use std::{
    panic::AssertUnwindSafe,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;

use crate::{load::Load, plan::Plan, site::Site, support::own::OwnServices};

/// Rounds of the short form, and where it begins: known rounds, so that a failure is the code's.
const SHORT: (u64, u64) = (3, 1);

fn setting(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().filter(|value| !value.is_empty()).map(|value| value.parse().unwrap())
}

/// What the round was like, in one line.
async fn round(services: Arc<OwnServices>, plan: Plan, folder: PathBuf) -> String {
    let started = Instant::now();
    let mut times = String::new();
    let mut done = |what: &str| times += &format!(", {what} {:.0?}", started.elapsed());
    let site = Site::start(services, &plan, folder).await;
    done("began after");
    let mut load = Load::start(Arc::clone(&site), plan.seed);
    faults::strike(&site, &plan).await;
    site.heal().await;
    done("well after");
    let asked = load.stop().await;
    done("all answered after");
    books::come_to_their_end(&site, &plan, &asked).await;
    done("at its end after");
    books::are_equal(&site, &plan, &asked).await;
    site.stop().await;
    books::nothing_is_claimed(&site).await;
    asked.in_words() + &times
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_breaks_nothing_is_lost_claimed_twice_or_stuck_heavy() {
    let rounds = setting("PAYDESK_CHAOS_ROUNDS").unwrap_or(SHORT.0);
    let first = setting("PAYDESK_CHAOS_SEED").unwrap_or(match setting("PAYDESK_CHAOS_ROUNDS") {
        Some(_) => fastrand::u64(1..1_000_000),
        None => SHORT.1,
    });
    let logs = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("chaos");
    let services = Arc::new(OwnServices::start("test-chaos"));
    // The machine itself does not break, so that what PostgreSQL has written need not reach the disk; rounds are many.
    let (admin, connection) =
        tokio_postgres::connect(&services.database_url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    admin.batch_execute("ALTER SYSTEM SET fsync = off").await.unwrap();
    admin.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    drop(admin);
    let mut failed = Vec::new();
    for (number, seed) in (first..).enumerate().take(usize::try_from(rounds).unwrap()) {
        let plan = Plan::new(seed);
        println!("round {} of {rounds}, seed {seed}: {plan}", number + 1);
        let (folder, started) = (logs.join(format!("seed-{seed}")), Instant::now());
        match AssertUnwindSafe(round(Arc::clone(&services), plan, folder.clone())).catch_unwind().await {
            Ok(words) => {
                println!("  equal books after {:.0?}: {words}", started.elapsed());
                std::fs::remove_dir_all(folder).unwrap();
            }
            Err(_panic) => {
                println!("  FAILED: PAYDESK_CHAOS_SEED={seed}; logs in {}", folder.display());
                failed.push(seed);
                // The next round begins on services that are well, whatever this one left.
                for service in ["postgres", "rabbitmq"] {
                    services.tell("restart", service);
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
    assert!(failed.is_empty(), "{} of {rounds} rounds failed, with the seeds {failed:?}", failed.len());
}
