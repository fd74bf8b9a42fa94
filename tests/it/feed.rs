//! The live feed: every failure, in order, none twice, for every subscriber of every process.

use std::{process::Stdio, time::Duration};

use futures_util::StreamExt;
use paydesk::{
    db::Hints,
    failures::{FailureFeed, FailureFilter, FeedItem},
    httpclient::HttpClient,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{
    TestApp,
    api::{Actor, Socket, blamed, code},
    db::TestDb,
    eventually,
    process::Process,
};

const FEED: &str =
    "subscription ($after: String, $filter: FailureFilter) { failures(after: $after, filter: $filter) {
    lagged failure { id cursor code message } } }";

async fn subscribed(actor: &Actor, variables: Value) -> Socket {
    let mut socket = actor.socket().await;
    socket.subscribe("feed", FEED, variables).await;
    socket
}

/// The next failure, which must not be the word that it lagged.
async fn next(socket: &mut Socket) -> Value {
    let mut data = socket.data().await;
    assert_eq!(data["failures"]["lagged"], false, "{data}");
    data["failures"]["failure"].take()
}

fn cursor(failure: &Value) -> i64 {
    failure["cursor"].as_str().unwrap().parse().unwrap()
}

async fn cursors(socket: &mut Socket, until: i64) -> Vec<i64> {
    let mut all = Vec::new();
    while all.last() != Some(&until) {
        all.push(cursor(&next(socket).await));
    }
    all
}

/// Reads up to a position, subscribing again after its last cursor whenever it is told that it lagged; and how often
/// it was.
async fn resuming(socket: &mut Socket, until: i64) -> (Vec<i64>, usize) {
    let (mut seen, mut lags) = (Vec::new(), 0);
    while seen.last() != Some(&until) {
        let data = socket.data().await;
        if data["failures"]["lagged"] == false {
            seen.push(cursor(&data["failures"]["failure"]));
            continue;
        }
        assert_eq!(data["failures"]["failure"], Value::Null);
        assert_eq!(socket.next().await.unwrap()["type"], "complete", "it is cut off");
        lags += 1;
        let last = seen.last().unwrap().to_string();
        socket.subscribe("feed", FEED, json!({ "after": last })).await;
    }
    (seen, lags)
}

fn insert(code: &str, count: u32) -> String {
    format!(
        "INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt)
         SELECT 'WORKER_CRASHED', 'CRITICAL', 'WORKER', n::text, '{code}', 'm', '{code}', 1 FROM generate_series(1, {count}) n"
    )
}

async fn is_subscribed(test: &TestApp, count: usize) {
    eventually("the subscription is there", async || (test.app.feed.subscribers() == count).then_some(()))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subscribers_of_two_processes_see_all_in_order_and_one_may_come_back_in_the_middle() {
    let first = TestApp::start().await;
    let second = TestApp::builder().start_beside(&first).await;
    let mut steady = subscribed(&first.operator(), json!({ "after": "0" })).await;
    let mut restless = subscribed(&second.operator(), json!({ "after": "0" })).await;
    let mut writers = Vec::new();
    // Failures of both processes' publishers, and of another program.
    for number in 0..40 {
        first.insert_event(&format!("nobody.{number}")).await;
    }
    for _ in 0..4 {
        let session = first.db.session().await;
        writers.push(tokio::spawn(async move {
            for _ in 0..50 {
                session.batch_execute(&insert("SQL", 1)).await.unwrap();
            }
        }));
    }
    let mut seen = cursors(&mut restless, 60).await;
    drop(restless);
    for writer in writers {
        writer.await.unwrap();
    }
    eventually("every event has failed for good", async || {
        (first.db.count("payment_outbox WHERE status = 'DEAD_LETTERED'").await == 40).then_some(())
    })
    .await;
    let total = first.db.count("failure").await;
    assert_eq!(total, 40 * 3 + 4 * 50);
    let everything: Vec<i64> = (1..=total).collect();
    assert_eq!(cursors(&mut steady, total).await, everything);
    let mut again = subscribed(&second.operator(), json!({ "after": "60" })).await;
    seen.extend(cursors(&mut again, total).await);
    assert_eq!(seen, everything);
    let positions: Vec<i64> = first.db.values("SELECT position FROM failure ORDER BY position").await;
    assert_eq!(positions, everything, "gap-free");
    let workers: i64 =
        first.db.value("SELECT count(DISTINCT detail->>'worker') FROM failure WHERE code <> 'SQL'").await;
    assert!((1..=2).contains(&workers));
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_stays_open_stalls_nobody_and_its_failure_comes_after_its_commit() {
    let test = TestApp::start().await;
    let mut socket = subscribed(&test.operator(), json!({ "after": "0" })).await;
    let late = test.db.session().await;
    late.batch_execute(&format!("BEGIN; {}", insert("LATE", 1))).await.unwrap();
    test.db.run(&insert("EARLY", 1)).await;
    assert_eq!(next(&mut socket).await["code"], "EARLY");
    late.batch_execute("COMMIT").await.unwrap();
    let failure = next(&mut socket).await;
    assert_eq!((&failure["code"], cursor(&failure)), (&json!("LATE"), 2));
    // Its id is the lower one: the list is in the feed's order all the same.
    let list = "{ failures { nodes { id code cursor } } }";
    let data = test.operator().data(list, json!({})).await;
    assert_eq!(data["failures"]["nodes"][0]["code"], "LATE");
    let ids: Vec<i64> = test.db.values("SELECT id FROM failure ORDER BY position DESC").await;
    assert!(ids[0] < ids[1], "{ids:?}");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_is_rolled_back_never_appears() {
    let test = TestApp::start().await;
    let mut socket = subscribed(&test.operator(), json!({ "after": "0" })).await;
    test.db.run(&format!("BEGIN; {}; ROLLBACK", insert("NEVER", 3))).await;
    test.db.run(&insert("REAL", 1)).await;
    let failure = next(&mut socket).await;
    assert_eq!((&failure["code"], cursor(&failure)), (&json!("REAL"), 1));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_cursor_only_what_comes_from_now_on_is_sent() {
    let test = TestApp::start().await;
    test.db.run(&insert("OLD", 5)).await;
    eventually("the old ones are numbered", async || {
        (test.db.count("failure WHERE position IS NOT NULL").await == 5).then_some(())
    })
    .await;
    let mut socket = subscribed(&test.operator(), json!({})).await;
    is_subscribed(&test, 1).await;
    test.db.run(&insert("NEW", 2)).await;
    assert_eq!(next(&mut socket).await["code"], "NEW");
    assert_eq!(cursor(&next(&mut socket).await), 7);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_numbered_before_this_one_first_looked_is_not_missed() {
    let test = TestApp::start().await;
    let numbered = async |count: i64| {
        eventually("they are numbered", async || {
            (test.db.count("failure WHERE position IS NOT NULL").await == count).then_some(())
        })
        .await;
    };
    test.db.run(&insert("REPLAYED", 2)).await;
    numbered(2).await;
    // The feed of a process that has just started and could not look yet.
    let feed = FailureFeed::new(test.app.db.clone(), Hints::new(test.app.db.connector().clone()));
    let mut items = Box::pin(feed.subscribe(0, FailureFilter::default()));
    let position = |item: Option<Result<FeedItem, _>>| match item {
        Some(Ok(FeedItem::Failure(failure))) => failure.position.unwrap(),
        _ => panic!("no failure"),
    };
    let mut seen = vec![position(items.next().await), position(items.next().await)];
    assert!(futures_util::poll!(items.next()).is_pending(), "the replay is over");
    test.db.run(&insert("BETWEEN", 2)).await;
    numbered(4).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (feed, stop) = (feed.clone(), stop.clone());
        async move { feed.run(stop).await }
    });
    let mut total = 4;
    while seen.len() == 2 {
        total += 1;
        test.db.run(&insert("LIVE", 1)).await;
        numbered(total).await;
        if let Ok(item) = tokio::time::timeout(Duration::from_secs(2), items.next()).await {
            seen.push(position(item));
        }
    }
    while seen.last() != Some(&total) {
        seen.push(position(items.next().await));
    }
    assert_eq!(seen, (1..=total).collect::<Vec<i64>>());
    stop.cancel();
    running.await.unwrap();
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_lets_through_live_and_replayed_what_the_list_would_show() {
    let test = TestApp::start().await;
    let sql = "INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt) VALUES
        ('OUTBOX_FAILED', 'WARNING', 'OUTBOX_EVENT', '1', 'A', 'm', 'f', 1), ('PAYMENT_FAILED', 'INFO', 'PAYMENT', '1', 'B', 'm', 'f', 1),
        ('PAYMENT_UNKNOWN', 'WARNING', 'PAYMENT', '2', 'C', 'm', 'f', 1), ('WORKER_CRASHED', 'CRITICAL', 'WORKER', 'w', 'D', 'm', 'f', 1)";
    test.db.run(sql).await;
    eventually("they are numbered", async || {
        (test.db.count("failure WHERE position = 4").await == 1).then_some(())
    })
    .await;
    let filters = [
        (json!({ "kind": ["OUTBOX_FAILED", "PAYMENT_UNKNOWN"] }), "AC"),
        (json!({ "severity": ["CRITICAL"] }), "D"),
        (json!({ "subjectType": "PAYMENT" }), "BC"),
        (json!({ "subjectType": "PAYMENT", "subjectId": "1" }), "B"),
        (json!({ "code": ["D", "A"] }), "AD"),
        (json!({ "occurredAt": { "from": "2020-01-01T00:00:00Z" } }), "ABCD"),
    ];
    let mut sockets = Vec::new();
    for (filter, expected) in &filters {
        let mut socket = subscribed(&test.operator(), json!({ "after": "0", "filter": filter })).await;
        for code in expected.chars() {
            assert_eq!(next(&mut socket).await["code"], code.to_string(), "replayed {filter}");
        }
        sockets.push(socket);
    }
    let none = json!({ "after": "0", "filter": { "occurredAt": { "to": "2020-01-01T00:00:00Z" } } });
    let mut silent = subscribed(&test.operator(), none).await;
    test.db.run(sql).await;
    for (socket, (filter, expected)) in sockets.iter_mut().zip(&filters) {
        for code in expected.chars() {
            assert_eq!(next(socket).await["code"], code.to_string(), "live {filter}");
        }
    }
    silent.send(json!({ "type": "ping" })).await;
    silent
        .send(json!({ "id": "other", "type": "subscribe", "payload": { "query": "{ viewer { subject } }" } }))
        .await;
    assert_eq!(silent.next().await.unwrap()["id"], "other", "nothing came before");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_is_none_is_bad_user_input_that_names_it() {
    let test = TestApp::start().await;
    test.db.run(&insert("X", 1)).await;
    eventually("it is numbered", async || {
        (test.db.count("failure WHERE position = 1").await == 1).then_some(())
    })
    .await;
    let mut socket = test.operator().socket().await;
    for bad in ["", "x", "-1", "1.5", "2", "9223372036854775808", "MTpmYWlsdXJlczox"] {
        socket.subscribe("1", FEED, json!({ "after": bad })).await;
        let errors = socket.errors().await;
        assert_eq!((code(&errors), blamed(&errors).as_str()), ("BAD_USER_INPUT", "after"), "{bad}: {errors}");
    }
    let wrong = json!({ "filter": { "subjectId": "a\0b" } });
    socket.subscribe("1", FEED, wrong).await;
    assert_eq!(blamed(&socket.errors().await), "filter.subjectId");
    is_subscribed(&test, 0).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_shows_only_what_has_its_place_in_the_feed() {
    let test = TestApp::start().await;
    test.db.run(&insert("SEEN", 1)).await;
    eventually("it is numbered", async || {
        (test.db.count("failure WHERE position = 1").await == 1).then_some(())
    })
    .await;
    // Nobody can number while the feed's row is held.
    let holding = test.db.session().await;
    holding.batch_execute("BEGIN; SELECT last FROM failure_feed FOR UPDATE").await.unwrap();
    test.db.run(&insert("UNSEEN", 1)).await;
    let list = "{ failures { nodes { code } count { value } } }";
    let data = test.operator().data(list, json!({})).await;
    assert_eq!(data["failures"], json!({ "nodes": [{ "code": "SEEN" }], "count": { "value": 1 } }));
    holding.batch_execute("ROLLBACK").await.unwrap();
    eventually("it appears", async || {
        let data = test.operator().data(list, json!({})).await;
        (data["failures"]["count"]["value"] == 2).then_some(())
    })
    .await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_arrive_although_the_listening_backends_are_terminated() {
    let test = TestApp::start().await;
    let mut socket = subscribed(&test.operator(), json!({ "after": "0" })).await;
    test.db.run(&insert("BEFORE", 10)).await;
    cursors(&mut socket, 10).await;
    let listening =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    for round in 1..=3 {
        eventually("a backend listens", async || (test.db.value::<i64>(listening).await > 0).then_some(()))
            .await;
        test.db
            .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'paydesk'")
            .await;
        test.db.run(&insert("AFTER", 10)).await;
        let expected: Vec<i64> = (round * 10 + 1..=round * 10 + 10).collect();
        assert_eq!(cursors(&mut socket, round * 10 + 10).await, expected);
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_count_what_is_there_and_keep_the_newest_as_their_sample() {
    let first = TestApp::start().await;
    let second = TestApp::builder().start_beside(&first).await;
    let mut writers = Vec::new();
    for writer in 0..4 {
        let session = first.db.session().await;
        writers.push(tokio::spawn(async move {
            for round in 0..30 {
                session.batch_execute(&insert(&format!("G{}", (writer + round) % 3), 7)).await.unwrap();
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    eventually("all are numbered", async || {
        (first.db.count("failure WHERE position IS NOT NULL").await == 4 * 30 * 7).then_some(())
    })
    .await;
    let differences =
        "(SELECT fingerprint, count(*), min(occurred_at), max(occurred_at) FROM failure GROUP BY 1
        EXCEPT SELECT fingerprint, count, first_seen_at, last_seen_at FROM failure_group) difference";
    assert_eq!(first.db.count(differences).await, 0);
    assert_eq!(first.db.count("failure_group").await, 3);
    assert_eq!(
        first
            .db
            .count("failure_group g JOIN failure f ON f.id = g.sample AND f.fingerprint = g.fingerprint")
            .await,
        3
    );
    assert_eq!(first.db.value::<i64>("SELECT last FROM failure_feed").await, 840);
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_does_not_read_is_told_that_it_lagged_and_resumes_without_a_gap_heavy() {
    let test = TestApp::start().await;
    let mut slow = subscribed(&test.operator(), json!({ "after": "0" })).await;
    let mut quick = subscribed(&test.operator(), json!({ "after": "0" })).await;
    is_subscribed(&test, 2).await;
    // Enough to fill every buffer on the way, and then more than the feed keeps for anybody.
    test.db
        .run("INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt)
              SELECT 'WORKER_CRASHED', 'CRITICAL', 'WORKER', n::text, 'X', repeat('x', CASE WHEN n <= 500 THEN 60000 ELSE 1 END), 'f', 1
              FROM generate_series(1, 7000) n")
        .await;
    let everything: Vec<i64> = (1..=7000).collect();
    let (seen, lags) = resuming(&mut quick, 7000).await;
    assert_eq!(seen, everything, "one that reads gets all, whatever the other does");
    assert!(lags <= 7, "{lags}");
    let (seen, lags) = resuming(&mut slow, 7000).await;
    assert_eq!(seen, everything);
    assert!(lags >= 1, "it was cut off");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_clients_that_die_leave_nothing_behind_heavy() {
    let test = TestApp::start().await;
    let operator = test.operator();
    for _ in 0..10 {
        let mut sockets = Vec::new();
        for number in 0..100 {
            let mut socket = operator.socket().await;
            if number % 2 == 0 {
                socket.subscribe("feed", FEED, json!({ "after": "0" })).await;
            } else {
                socket.subscribe("feed", FEED, json!({})).await;
                socket.send(json!({ "id": "feed", "type": "complete" })).await;
            }
            sockets.push(socket);
        }
        eventually("half of them are subscribed", async || (test.app.feed.subscribers() >= 50).then_some(()))
            .await;
        // Without a close: as a process that dies.
        drop(sockets);
    }
    is_subscribed(&test, 0).await;
    let mut socket = subscribed(&operator, json!({ "after": "0" })).await;
    test.db.run(&insert("STILL", 1)).await;
    assert_eq!(next(&mut socket).await["code"], "STILL");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_numbers_at_its_first_look_reaches_who_was_there_before() {
    let db = std::sync::Arc::new(TestDb::new().await);
    // One failure waits for its position, which nobody can give while somebody holds the groups.
    db.run(
        "INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt)
         VALUES ('WORKER_CRASHED', 'INFO', 'WORKER', 'w', 'ALONE', 'm', 'f', 1)",
    )
    .await;
    let holder = db.session().await;
    holder.batch_execute("BEGIN; LOCK TABLE failure_group IN EXCLUSIVE MODE").await.unwrap();
    let test = TestApp::builder().start_on(std::sync::Arc::clone(&db)).await;
    let mut socket = subscribed(&test.operator(), json!({ "after": "0" })).await;
    eventually("the first look waits for the groups", async || {
        let waiting = "pg_locks WHERE relation = 'failure_group'::regclass AND NOT granted";
        (db.count(waiting).await > 0).then_some(())
    })
    .await;
    holder.batch_execute("COMMIT").await.unwrap();
    assert_eq!(next(&mut socket).await["code"], "ALONE");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_failure_is_logged_and_counted_once_among_all_processes_whoever_wrote_it() {
    let test = TestApp::start().await;
    // Its own feed would take some.
    test.stop().await;
    let logs = [1, 2].map(|n| std::env::temp_dir().join(format!("{}log{n}", test.prefix)));
    let mut processes = Vec::new();
    for log in &logs {
        let file = Stdio::from(std::fs::File::create(log).unwrap());
        processes.push(Process::start_with_log(&test, &[("log-format", "json")], file).await);
    }
    test.db
        .run(
            "INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt)
             SELECT 'PAYMENT_UNKNOWN', severity, 'PAYMENT', '7', 'TOLD', 'no answer', 'f', 1
             FROM unnest(ARRAY['INFO', 'WARNING', 'CRITICAL']) severity",
        )
        .await;
    let client = HttpClient::new(Duration::from_secs(2), None).unwrap();
    eventually("all are counted", async || {
        let mut counted = 0;
        for process in &processes {
            let metrics = client.get(&format!("http://{}/metrics", process.base), &[]).await.ok()?;
            let series = "paydesk_failures_total{kind=\"PAYMENT_UNKNOWN\"} ";
            let text = String::from_utf8(metrics.body.to_vec()).unwrap();
            let value = text.lines().find_map(|line| line.strip_prefix(series)).unwrap_or("0");
            counted += value.parse::<u32>().unwrap();
        }
        assert!(counted <= 3);
        (counted == 3).then_some(())
    })
    .await;
    for process in processes {
        assert_eq!(process.terminate().await, Some(0));
    }
    let written: String = logs.iter().map(|log| std::fs::read_to_string(log).unwrap()).collect();
    logs.iter().for_each(|log| std::fs::remove_file(log).unwrap());
    let mut told: Vec<Value> = written
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["code"] == "TOLD")
        .collect();
    told.sort_by_key(|line| line["level"].to_string());
    let levels: Vec<_> = told.iter().map(|line| line["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["ERROR", "INFO", "WARN"]);
    assert!(told.iter().all(|line| line["kind"] == "PAYMENT_UNKNOWN"
        && line["subject_id"] == "7"
        && line["error"] == "no answer"));
}
