//! Processes that die, and processes that are told to stop.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use paydesk::auth::Role;
use serde_json::json;

use crate::{
    payments::{APPROVED, CREATE, DECLINED, input},
    support::{
        TestApp, Toss,
        api::{Actor, token},
        eventually,
        process::Process,
    },
};

/// Asks again with the same key until there is an answer: what a client does whose server died.
async fn pay_until_answered(bases: &[String], number: i64) {
    let card = if number % 20 == 0 { DECLINED } else { APPROVED };
    let variables = input(&format!("key-{number}"), number, number, card);
    for attempt in 0_usize.. {
        let base = bases[attempt % bases.len()].clone();
        let actor = Actor::new(base, Some(token(&[Role::Service], "load")));
        if let Ok(answer) = actor.try_query(CREATE, variables.clone()).await
            && answer["data"]["createKeyInPayment"]["payment"]["status"].is_string()
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_20_times_under_load_nothing_is_lost_and_nothing_stays_claimed_heavy() {
    let toss = Toss::start().await;
    // It keeps the books and shares the work; the killed process is its neighbour.
    let test = TestApp::builder()
        .set("db-checkout-timeout", "300ms")
        .set("outbox-confirm-timeout", "500ms")
        .set("outbox-stuck-after", "2s")
        .set("outbox-recovery-interval", "500ms")
        .set("outbox-max-retries", "50")
        .toss(&toss)
        .set("provider-timeout", "1s")
        .start()
        .await;
    let inbox = test.inbox(&["payment.#"]).await;
    let url = toss.url();
    let settings = [
        ("toss-url", url.as_str()),
        ("toss-secret-key", "test_sk_sim0000000000000000"),
        ("provider-timeout", "1s"),
        ("outbox-max-retries", "50"),
        ("log", "error"),
    ];
    let mut victim = Process::start(&test, &settings).await;
    let killing = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let (base, own) = (Arc::new(std::sync::Mutex::new(victim.base.clone())), test.base.clone());
    let load = {
        let (killing, base) = (Arc::clone(&killing), Arc::clone(&base));
        tokio::spawn(async move {
            let mut number = 0_i64;
            let mut under_way = tokio::task::JoinSet::new();
            while killing.load(std::sync::atomic::Ordering::Relaxed) {
                number += 1;
                let bases = [base.lock().unwrap().clone(), own.clone()];
                under_way.spawn(async move { pay_until_answered(&bases, number).await });
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            while under_way.join_next().await.is_some() {}
            number
        })
    };
    for round in 0..20_u64 {
        tokio::time::sleep(Duration::from_millis(100 + 37 * (round % 7))).await;
        victim.kill();
        victim = Process::start(&test, &settings).await;
        *base.lock().unwrap() = victim.base.clone();
    }
    killing.store(false, std::sync::atomic::Ordering::Relaxed);
    let asked = load.await.unwrap();
    eventually("every payment is decided and every event delivered", async || {
        let open = test.db.count("payment_outbox WHERE status <> 'PUBLISHED'").await
            + test.db.count("payment WHERE status = 'PENDING'").await;
        (open == 0).then_some(())
    })
    .await;
    inbox.settled().await;
    let events: Vec<String> = test.db.values("SELECT event_id::text FROM payment_outbox").await;
    let arrived: BTreeSet<String> = inbox.counts().into_keys().collect();
    assert_eq!(
        events.iter().cloned().collect::<BTreeSet<_>>(),
        arrived,
        "every event, and no other, arrived"
    );
    assert_eq!(i64::try_from(events.len()).unwrap(), asked, "one event for each payment asked for");
    assert_eq!(test.db.count("payment").await, asked);
    let charged = toss.payments().await.len();
    let completed = test.db.count("payment WHERE status = 'COMPLETED'").await;
    assert_eq!(i64::try_from(charged).unwrap(), completed, "the provider charged what we say was paid");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_with_subscribers_and_payments_in_flight_ends_well() {
    let toss = Toss::start().await;
    let test = TestApp::builder().set("workers", "false").toss(&toss).start().await;
    let inbox = test.inbox(&["payment.#"]).await;
    let url = toss.url();
    let settings =
        [("toss-url", url.as_str()), ("toss-secret-key", "test_sk_sim0000000000000000"), ("log", "error")];
    let process = Process::start(&test, &settings).await;
    let reader = Actor::new(process.base.clone(), Some(token(&[Role::Operator], "reader")));
    let mut sockets = Vec::new();
    for _ in 0..20 {
        let mut socket = reader.socket().await;
        socket.subscribe("1", "subscription { failures { failure { id } lagged } }", json!({})).await;
        sockets.push(socket);
    }
    toss.behave(json!({ "gateway": "toss", "operation": "key-in", "times": 5, "delayMs": 1500 })).await;
    let service = Actor::new(process.base.clone(), Some(token(&[Role::Service], "service")));
    let mut under_way = tokio::task::JoinSet::new();
    for number in 1..=5 {
        let service = service.clone();
        under_way.spawn(async move {
            service.try_query(CREATE, input(&format!("k{number}"), number, number, APPROVED)).await
        });
    }
    eventually("the calls are under way", async || (toss.calls().await.len() == 5).then_some(())).await;
    assert_eq!(process.terminate().await, Some(0));
    for socket in &mut sockets {
        assert!(socket.next().await.is_none());
        assert_eq!(socket.close_code, Some(1012));
    }
    while let Some(answer) = under_way.join_next().await {
        let answer = answer.unwrap().unwrap();
        assert_eq!(
            answer["data"]["createKeyInPayment"]["payment"]["status"], "COMPLETED",
            "requests under way are answered"
        );
    }
    assert_eq!(test.db.count("payment WHERE status = 'COMPLETED'").await, 5);
    assert_eq!(test.db.count("payment_outbox WHERE status = 'PROCESSING'").await, 0);
    // What the stopping process did not send waits for the next one.
    let next = Process::start(&test, &settings).await;
    eventually("all five events arrive", async || (inbox.counts().len() == 5).then_some(())).await;
    drop(next);
    test.stop().await;
}
