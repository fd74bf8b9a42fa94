//! Many members, many charges at once, two processes, kills, and a session that locks the other way round: every balance
//! is the sum of its entries in the end, and nothing is lost to a deadlock.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use paydesk::auth::Role;
use serde_json::json;
use tokio::{sync::Semaphore, task::JoinSet};
use tokio_postgres::error::SqlState;

use crate::{
    charges::books_are_true,
    invariants::assert_books_hold,
    support::{
        Shop, TestApp,
        api::{Actor, token},
        eventually,
        process::{Process, free_port},
        shop::{REQUEST, member, promotion, request},
    },
};

const MEMBERS: usize = 50;
const CHARGES: usize = 64;
/// Purchases under way at once: what the test's own machine bears in sockets.
const AT_ONCE: usize = 256;
const KILLS: usize = 8;

/// What both processes are set to: short waits, so that the end comes soon.
const SETTINGS: [(&str, &str); 8] = [
    ("charge-job-interval", "200ms"),
    ("charge-job-backoff", "200ms"),
    ("charge-job-stuck-after", "2s"),
    ("charge-job-recovery-interval", "300ms"),
    ("charge-reconcile-interval", "500ms"),
    ("charge-reconcile-after", "1s"),
    ("first-charge-percent", "10"),
    ("rate-limit-service", "100000"),
];

/// How the deadlocks ended that were made on purpose.
#[derive(Default)]
struct Deadlocks {
    /// Paydesk's transaction was broken off, and did the whole again.
    ours: i64,
    /// The other session's was.
    others: i64,
}

/// Takes locks in the order wallet → member, against ours, until told to stop: it holds a wallet until somebody, who
/// has that member's lock, waits for it, and then asks for the member, which is a deadlock. It is more patient than the
/// database: ours is the victim.
async fn lock_the_other_way_round(test: &TestApp, stop: &AtomicBool) -> Deadlocks {
    let (mut session, watch) = (test.db.session().await, test.db.session().await);
    session.batch_execute("SET deadlock_timeout = '10s'").await.unwrap();
    let pid: i32 = session.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let mut made = Deadlocks::default();
    while !stop.load(Ordering::Relaxed) {
        let transaction = session.transaction().await.unwrap();
        let wallet =
            "SELECT member_id FROM wallet WHERE container = 'PG' ORDER BY random() LIMIT 1 FOR UPDATE";
        let Some(row) = transaction.query_opt(wallet, &[]).await.unwrap() else { continue };
        let member: i64 = row.get(0);
        if is_waited_for(&watch, pid, stop).await {
            let lock = "SELECT FROM member WHERE id = $1 FOR UPDATE";
            match transaction.execute(lock, &[&member]).await.map_err(|error| error.code().cloned()) {
                Ok(_) => made.ours += 1,
                Err(code) => {
                    assert_eq!(code, Some(SqlState::T_R_DEADLOCK_DETECTED));
                    made.others += 1;
                }
            }
        }
        let _over = transaction.rollback().await;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    made
}

/// Whether somebody comes to wait for what this session holds; a member who is not buying any more is given up.
async fn is_waited_for(watch: &tokio_postgres::Client, pid: i32, stop: &AtomicBool) -> bool {
    let blocked = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND $1 = ANY (pg_blocking_pids(pid)))";
    for _ in 0..100 {
        if watch.query_one(blocked, &[&pid]).await.unwrap().get(0) {
            return true;
        }
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

/// Buys once, with whichever process answers, until it is known to be complete.
async fn buy_once(shop: &Shop, servers: &[Actor; 2], member: &str, key: &str) {
    let mut asked = 0;
    let mut ask = async |query: &str, variables: serde_json::Value| {
        loop {
            asked += 1;
            match servers[asked % 2].try_query(query, variables.clone()).await {
                Ok(answer) if answer["data"].is_object() => break answer,
                // Killed, starting, or busy: ask the other one.
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    let answer = ask(REQUEST, request(key, member, "PG", "coin_100")).await;
    let order_id = answer["data"]["requestCharge"]["charge"]["orderId"].as_str().unwrap().to_owned();
    let receipt = shop.buy(json!({ "gateway": "bootpay", "orderId": order_id, "amount": 11_000 })).await;
    let verify = "mutation ($input: VerifyChargeInput!) { verify(input: $input) { charge { paymentStatus } userErrors { code } } }";
    let input = json!({ "input": { "orderId": order_id, "transactionId": receipt } });
    loop {
        let answer = ask(verify, input.clone()).await;
        if answer["data"]["verify"]["charge"]["paymentStatus"] == "COMPLETE" {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_charges_with_kills_and_deadlocks_leave_true_books_heavy() {
    let shop = Arc::new(Shop::start().await);
    // The test's own server only makes names and reads.
    let test = Arc::new(TestApp::builder().shop(&shop).set("workers", false).start().await);
    // Time for the other session to close the circle before one of ours looks for it, once.
    let name = test.db.url.rsplit_once('/').unwrap().1.to_owned();
    test.db.run(&format!("ALTER DATABASE {name} SET deadlock_timeout = '300ms'")).await;
    promotion(&test.admin(), 10, 0).await;
    promotion(&test.admin(), 20, 5).await;
    let mut members = Vec::new();
    for _ in 0..MEMBERS {
        members.push(member(&test.service()).await);
    }
    let shop_settings = shop.settings();
    let mut settings: Vec<(&str, &str)> =
        shop_settings.iter().map(|(flag, value)| (*flag, value.as_str())).collect();
    settings.extend(SETTINGS);
    let ports = [free_port(), free_port()].map(|port| format!("127.0.0.1:{port}"));
    let start = async |base: &str| {
        let mut settings = settings.clone();
        settings.push(("listen", base));
        Process::start(&test, &settings).await
    };
    let mut processes = [start(&ports[0]).await, start(&ports[1]).await];

    let stop = Arc::new(AtomicBool::new(false));
    let against = {
        let (test, stop) = (Arc::clone(&test), Arc::clone(&stop));
        tokio::spawn(async move { lock_the_other_way_round(&test, &stop).await })
    };
    let service = |base: &String| Actor::new(base.clone(), Some(token(&[Role::Service], "load")));
    let servers = Arc::new([service(&ports[0]), service(&ports[1])]);
    let sockets = Arc::new(Semaphore::new(AT_ONCE));
    let mut buying = JoinSet::new();
    for member in &members {
        for number in 0..CHARGES {
            let (shop, servers, sockets) = (Arc::clone(&shop), Arc::clone(&servers), Arc::clone(&sockets));
            let (member, key) = (member.clone(), format!("{member}-{number}"));
            buying.spawn(async move {
                let _one_of_many = sockets.acquire().await.unwrap();
                buy_once(&shop, &servers, &member, &key).await;
            });
        }
    }
    for _ in 0..KILLS {
        tokio::time::sleep(Duration::from_millis(fastrand::u64(300..1200))).await;
        let victim = fastrand::usize(0..2);
        processes[victim].kill();
        processes[victim] = start(&ports[victim]).await;
    }
    buying.join_all().await;
    stop.store(true, Ordering::Relaxed);
    let made = against.await.unwrap();
    assert!(
        made.ours > 0,
        "no transaction of ours was broken off; {} of the other session's were",
        made.others
    );
    // The server counts them with a delay of seconds.
    eventually("the server tells of the deadlocks, ours among them", async || {
        let counted = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        (test.db.value::<i64>(counted).await > made.others).then_some(())
    })
    .await;
    eventually("every bonus is granted", async || {
        (test.db.count("charge_event_job WHERE status <> 'DONE'").await == 0).then_some(())
    })
    .await;

    books_are_true(&test).await;
    assert_books_hold(&test.db);
    let bought = i64::try_from(MEMBERS * CHARGES).unwrap();
    assert_eq!(test.db.count("charge WHERE status = 'CHARGE' AND payment_status = 'COMPLETE'").await, bought);
    assert_eq!(test.db.count("failure WHERE kind = 'CHARGE_JOB_FAILED'").await, 0);
    assert_eq!(test.db.count("failure WHERE message LIKE '%deadlock%'").await, 0, "a deadlock uses no retry");
    // Each member: 10 % of each charge, 20 % of five of them, 10 % of the first.
    let each = 100 * i64::try_from(CHARGES).unwrap();
    let wrong = format!("wallet WHERE charge_can <> {each} OR bonus_can <> {}", each / 10 + 5 * 20 + 10);
    assert_eq!(test.db.count(&wrong).await, 0);
    test.stop().await;
}
