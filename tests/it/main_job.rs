//! The main job, end to end: a thousand payments become delivered events, and every failure is seen live.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    payments::{APPROVED, CREATE, DECLINED, input},
    support::{
        TestApp, Toss,
        api::{Actor, Socket},
        eventually,
    },
};

const FEED: &str =
    "subscription ($after: String) { failures(after: $after) { failure { id cursor kind } lagged } }";

/// Reads the feed until `cursor` has come; the cursors in the order of their arrival.
async fn read_until(socket: &mut Socket, until: i64) -> Vec<i64> {
    let mut cursors = Vec::new();
    while cursors.last() != Some(&until) {
        let item = socket.data().await;
        assert_eq!(item["failures"]["lagged"], false);
        cursors.push(item["failures"]["failure"]["cursor"].as_str().unwrap().parse().unwrap());
    }
    cursors
}

async fn subscribed(actor: &Actor, after: &str) -> Socket {
    let mut socket = actor.socket().await;
    socket.subscribe("feed", FEED, json!({ "after": after })).await;
    socket
}

async fn pay_all(test: &TestApp, count: i64, concurrency: usize) {
    let service = test.service();
    let mut under_way = tokio::task::JoinSet::new();
    for number in 1..=count {
        if under_way.len() == concurrency {
            under_way.join_next().await.unwrap().unwrap();
        }
        let service = service.clone();
        let card = if number % 20 == 0 { DECLINED } else { APPROVED };
        under_way.spawn(async move {
            let data = service.data(CREATE, input(&format!("key-{number}"), number, number, card)).await;
            assert!(data["createKeyInPayment"]["payment"]["id"].is_string(), "{data}");
        });
    }
    while let Some(done) = under_way.join_next().await {
        done.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_payments_are_delivered_and_every_failure_reaches_two_subscribers_heavy() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let second = TestApp::builder().toss(&toss).start_beside(&test).await;
    // Nobody listens for declined payments: their events are unroutable.
    let inbox = test.inbox(&["payment.completed"]).await;
    let mut steady = subscribed(&test.operator(), "0").await;
    let mut restless = subscribed(&second.operator(), "0").await;
    let seen_before_the_cut = async {
        let cursors = read_until(&mut restless, 30).await;
        drop(restless);
        cursors
    };
    let ((), mut seen) = tokio::join!(pay_all(&test, 1000, 32), seen_before_the_cut);
    eventually("every event has its final state", async || {
        let open = test.db.count("payment_outbox WHERE status NOT IN ('PUBLISHED', 'DEAD_LETTERED')").await;
        (open == 0).then_some(())
    })
    .await;
    inbox.settled().await;

    let published: Vec<String> =
        test.db.values("SELECT event_id::text FROM payment_outbox WHERE status = 'PUBLISHED'").await;
    let counts: BTreeMap<String, usize> = inbox.counts();
    assert_eq!(
        published.iter().cloned().collect::<BTreeSet<_>>(),
        counts.keys().cloned().collect::<BTreeSet<_>>()
    );
    assert!(counts.values().all(|count| *count == 1), "each message exactly once");
    assert_eq!((published.len(), inbox.len()), (950, 950));
    let dead = "payment_outbox WHERE status = 'DEAD_LETTERED' AND event_type = 'PAYMENT_FAILED' AND retry_count = 3 AND last_error LIKE '312%'";
    assert_eq!(test.db.count(dead).await, 50);

    // 50 declines, and 3 failed tries of each of their 50 events.
    let total = eventually("every failure has its position", async || {
        let numbered = test.db.count("failure WHERE position IS NOT NULL").await;
        (numbered == test.db.count("failure").await && numbered >= 200).then_some(numbered)
    })
    .await;
    assert_eq!(total, 200);
    let everything: Vec<i64> = (1..=total).collect();
    assert_eq!(read_until(&mut steady, total).await, everything, "in order, none twice, none missing");
    let mut again = subscribed(&second.operator(), "30").await;
    seen.extend(read_until(&mut again, total).await);
    assert_eq!(seen, everything, "also for the one that came back with its cursor");
    let books: Value =
        test.operator().data("{ payments(first: 1) { count { value precision } } }", json!({})).await;
    assert_eq!(books["payments"]["count"], json!({ "value": 1000, "precision": "EXACT" }));
    test.stop().await;
    second.stop().await;
}
