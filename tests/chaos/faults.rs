//! Breaking things, and mending them again.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use tokio::{sync::Mutex, time::sleep};

use crate::{
    broker,
    plan::{Fault, Kind, Plan},
    site::{Node, Site},
    support::{Proxy, process::faketime, wait::within},
};

/// Longer than the lease (`site::SETTINGS`): when it goes on, its claims are another's.
const BEYOND_THE_LEASE: Duration = Duration::from_secs(6);
/// How long the broker's or the database's other users may be kept waiting by the round's other faults.
const PATIENCE: Duration = Duration::from_secs(60);

/// All faults of the round, each at its time; returns when all are mended.
pub async fn strike(site: &Site, plan: &Plan) {
    // A service that is stopped is not frozen at the same time.
    let (postgres, rabbitmq) = (Mutex::new(()), Mutex::new(()));
    let strikes = plan.faults.iter().map(async |fault| {
        sleep(fault.after).await;
        strike_one(site, *fault, &postgres, &rabbitmq).await;
    });
    join_all(strikes).await;
    // What was under way when the last one was mended is part of the round.
    sleep(Duration::from_millis(500)).await;
}

async fn strike_one(site: &Site, fault: Fault, postgres: &Mutex<()>, rabbitmq: &Mutex<()>) {
    let node = &site.nodes[fault.node];
    match fault.kind {
        Kind::ProcessKilled => {
            let mut process = node.process.lock().await;
            process.kill();
            sleep(fault.lasts / 4).await;
            *process = node.again().await;
        }
        Kind::ProcessTerminated => terminate(node).await,
        Kind::ProcessPaused => {
            let process = node.process.lock().await;
            process.signal("-STOP");
            sleep(BEYOND_THE_LEASE).await;
            process.signal("-CONT");
        }
        Kind::ClockSkewed => skew(node, fault).await,
        Kind::BrokerRestarted | Kind::BrokerFrozen => {
            let _alone = rabbitmq.lock().await;
            let (ill, well) = ill_and_well(fault.kind);
            service(site, ill, "rabbitmq").await;
            sleep(fault.lasts).await;
            service(site, well, "rabbitmq").await;
        }
        Kind::DatabaseRestarted | Kind::DatabaseFrozen => {
            let _alone = postgres.lock().await;
            let (ill, well) = ill_and_well(fault.kind);
            service(site, ill, "postgres").await;
            sleep(fault.lasts).await;
            service(site, well, "postgres").await;
        }
        Kind::BrokerOutOfMemory => {
            let _alone = rabbitmq.lock().await;
            let limit = |limit: &'static str| {
                tokio::task::block_in_place(|| site.services.ctl(&["set_vm_memory_high_watermark", limit]));
            };
            limit("0.000001");
            sleep(fault.lasts).await;
            limit("0.4");
        }
        Kind::ExchangeDeleted => {
            let url = &site.services.amqp_url;
            let exchange = site.exchange();
            until("the exchange is deleted", async || broker::delete_exchange(url, &exchange).await).await;
            until("the exchange is declared anew", async || broker::exchange_is_there(url, &exchange).await)
                .await;
            sleep(fault.lasts / 4).await;
            until("the listener is bound again", async || site.listener.bind().await).await;
        }
        Kind::QueueDeleted => {
            let (url, queue) = (&site.services.amqp_url, site.queue());
            until("the queue is deleted", async || broker::delete_queue(url, &queue).await).await;
        }
        Kind::ListenerUnbound => {
            until("the listener is unbound", async || site.listener.unbind().await).await;
            sleep(fault.lasts / 2).await;
            until("the listener is bound again", async || site.listener.bind().await).await;
        }
        Kind::BackendsTerminated => {
            for _ in 0..5 {
                terminate_backends(site).await;
                sleep(fault.lasts / 5).await;
            }
        }
        Kind::BrokerLineCut | Kind::BrokerLineSlow | Kind::BrokerLineLossy | Kind::BrokerLineSilent => {
            bad_line(&node.broker, fault).await;
        }
        Kind::DatabaseLineCut
        | Kind::DatabaseLineSlow
        | Kind::DatabaseLineLossy
        | Kind::DatabaseLineSilent => bad_line(&node.database, fault).await,
    }
}

async fn until(what: &str, mut done: impl AsyncFnMut() -> bool) {
    within(PATIENCE, what, async || done().await.then_some(())).await;
}

fn ill_and_well(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::BrokerFrozen | Kind::DatabaseFrozen => ("freeze", "thaw"),
        _ => ("stop", "start"),
    }
}

async fn service(site: &Site, what: &'static str, which: &'static str) {
    let services = Arc::clone(&site.services);
    tokio::task::spawn_blocking(move || services.tell(what, which)).await.unwrap();
}

async fn terminate(node: &Node) {
    let mut process = node.process.lock().await;
    if process.ended().is_none() {
        // It may not have come as far as to heed the signal.
        process.ready().await;
        process.signal("-TERM");
        let status = within(Duration::from_secs(45), "the process ends", async || process.ended()).await;
        assert_eq!(status.code(), Some(0), "told to stop under load, it did not end well");
    }
    *process = node.again().await;
}

async fn skew(node: &Node, fault: Fault) {
    let Some(library) = faketime() else {
        println!("  libfaketime is not installed: no clock is wrong");
        return;
    };
    let by = if fault.lasts.as_millis().is_multiple_of(2) { "+600" } else { "-600" };
    node.with_variables(vec![
        ("LD_PRELOAD", library),
        ("FAKETIME", by.to_owned()),
        // Only what time it is; how fast it goes by stays.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
    ])
    .await;
    let mut process = node.process.lock().await;
    process.kill();
    *process = node.again().await;
    sleep(fault.lasts).await;
}

/// Everybody's: a session of our own that comes and goes.
async fn terminate_backends(site: &Site) {
    let Ok((client, connection)) = tokio_postgres::connect(&site.db.url, tokio_postgres::NoTls).await else {
        return;
    };
    tokio::spawn(connection);
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    let _terminated = client.execute(sql, &[]).await;
}

async fn bad_line(line: &Proxy, fault: Fault) {
    match fault.kind {
        Kind::BrokerLineCut | Kind::DatabaseLineCut => {
            for _ in 0..3 {
                line.refuse();
                sleep(fault.lasts / 6).await;
                line.pass();
                sleep(fault.lasts / 6).await;
            }
            return;
        }
        Kind::BrokerLineSlow => line.delay(Duration::from_millis(300)),
        Kind::DatabaseLineSlow => line.delay(Duration::from_millis(50)),
        Kind::BrokerLineLossy | Kind::DatabaseLineLossy => line.lose(),
        _ => line.freeze(),
    }
    sleep(fault.lasts).await;
    line.pass();
}
