//! Who is sent first: a fresh event before the backlog, and an aggregate's events in the order of their commits; and
//! that several processes share a backlog without sending anything twice.

use std::collections::{BTreeMap, BTreeSet};

use paydesk::outbox::NewOutboxEvent;
use uuid::Uuid;

use crate::support::{TestApp, eventually, process::Process};

/// A backlog as an outage leaves it, each event about something else.
async fn backlog(test: &TestApp, events: i64) {
    let sql = format!(
        "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
         SELECT 'BACKLOG', 'TEST', n::text, '{}', 'x', '1' FROM generate_series(1, {events}) n",
        test.exchange()
    );
    test.db.run(&sql).await;
}

/// Waits for a long backlog step by step, as long as it gets on.
async fn all_published(test: &TestApp, events: i64) {
    for step in 1..=20 {
        eventually(&format!("{step} of 20 parts of the backlog are published"), async || {
            let published = test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await;
            (published * 20 >= events * step).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn however_wide_the_window_one_claim_takes_five_hundred_at_most() {
    const BACKLOG: i64 = 3_000;
    let settings = [("outbox-window", 20_000), ("outbox-publishers", 1), ("outbox-publishers-max", 1)];
    let builder =
        settings.into_iter().fold(TestApp::builder(), |builder, (flag, value)| builder.set(flag, value));
    let test = builder.start().await;
    let _inbox = test.inbox(&["x"]).await;
    backlog(&test, BACKLOG).await;
    all_published(&test, BACKLOG).await;
    let widest =
        "SELECT max(events) FROM (SELECT count(*) AS events FROM payment_outbox GROUP BY claim_token) claims";
    assert!((100..=500).contains(&test.db.value::<i64>(widest).await));
    test.stop().await;
}

/// Writes an event as a use case does, and commits.
async fn commit(test: &TestApp, aggregate: &str, number: u32) {
    let mut tx = test.app.db.begin().await.unwrap();
    let event = NewOutboxEvent {
        event_type: "FRESH",
        aggregate_type: "TEST",
        aggregate_id: aggregate.to_owned(),
        exchange: test.exchange(),
        routing_key: "x",
        flow_id: Uuid::new_v4(),
        occurred_at: chrono::DateTime::UNIX_EPOCH,
        traceparent: None,
        data: number,
    };
    test.app.outbox.enqueue(&mut tx, event).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lone_event_overtakes_the_backlog_that_is_being_drained_heavy() {
    const BACKLOG: i64 = 20_000;
    let test = TestApp::start().await;
    let inbox = test.inbox(&["x"]).await;
    backlog(&test, BACKLOG).await;
    eventually("the backlog is being drained", async || (inbox.len() > 500).then_some(())).await;
    commit(&test, "lone", 0).await;
    all_published(&test, BACKLOG + 1).await;
    inbox.settled().await;
    let messages = inbox.all();
    let lone = messages.iter().position(|message| message.event_type == "FRESH").unwrap();
    let behind = messages.len() - lone;
    assert!(behind > 2_000, "only {behind} of {BACKLOG} events of the backlog came after the lone one");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_one_aggregate_arrive_in_the_order_of_their_commits_also_when_hints_are_dropped() {
    const EVENTS: u32 = 60;
    // So small a queue drops most hints, so small a window makes many batches.
    let test = TestApp::builder()
        .set("outbox-queue", 2)
        .set("outbox-window", 16)
        .set("outbox-pending-batch", 4)
        .start()
        .await;
    let inbox = test.inbox(&["x"]).await;
    let aggregates: Vec<String> = (0..8).map(|number| format!("aggregate-{number}")).collect();
    let writers = aggregates.iter().map(|aggregate| async {
        for number in 0..EVENTS {
            commit(&test, aggregate, number).await;
        }
    });
    futures_util::future::join_all(writers).await;
    all_published(&test, 480).await;
    inbox.settled().await;
    let mut arrived: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for message in inbox.all() {
        let aggregate = message.body["aggregateId"].as_str().unwrap().to_owned();
        arrived.entry(aggregate).or_default().push(message.body["data"].as_u64().unwrap());
    }
    assert_eq!(arrived.len(), 8);
    for (aggregate, numbers) in arrived {
        assert_eq!(numbers, (0..u64::from(EVENTS)).collect::<Vec<_>>(), "{aggregate}");
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_processes_share_a_backlog_and_send_each_event_once_heavy() {
    const BACKLOG: i64 = 20_000;
    let test = TestApp::builder().set("workers", false).start().await;
    let inbox = test.inbox(&["x"]).await;
    backlog(&test, BACKLOG).await;
    let settings = [("outbox-pending-interval", "200ms"), ("log", "error")];
    let mut processes = Vec::new();
    for instance in ["one", "two", "three"] {
        let named = [settings[0], settings[1], ("instance", instance)];
        processes.push(Process::start(&test, &named).await);
    }
    all_published(&test, BACKLOG).await;
    inbox.settled().await;
    let counts = inbox.counts();
    assert_eq!((inbox.len(), counts.len()), (20_000, 20_000), "each event once");
    let events: Vec<String> = test.db.values("SELECT event_id::text FROM payment_outbox").await;
    assert_eq!(events.into_iter().collect::<BTreeSet<_>>(), counts.into_keys().collect());
    let senders: Vec<String> =
        test.db.values("SELECT DISTINCT claimed_by FROM payment_outbox ORDER BY 1").await;
    assert!(senders.len() > 1, "only {senders:?} had a share");
    for process in processes {
        assert_eq!(process.terminate().await, Some(0));
    }
    test.stop().await;
}
