//! Messages that cannot be consumed: kept as they came, seen by operators, replayed or discarded once.

use paydesk::auth::Role;
use serde_json::{Value, json};

use crate::{
    consumers::{REGISTER, done},
    payments::APPROVED,
    support::{TestApp, Toss, api::token, eventually, messages::register},
};

const LIST: &str = "query ($status: [InboundDeadLetterStatus!]) { inboundDeadLetters(status: $status) {
    count { value } nodes { id queue eventId bodyText bodyBase64 headers errorClass errorCode error status
    availableActions { action allowed reason } failures { kind code } } } }";
const REPLAY: &str = "mutation ($input: OperatorActionInput!) { replayInboundDeadLetter(input: $input) {
    inboundDeadLetter { id status error } userErrors { code message } } }";
const DISCARD: &str = "mutation ($input: OperatorActionInput!) { discardInboundDeadLetter(input: $input) {
    inboundDeadLetter { id status } userErrors { code message } } }";

async fn start(toss: &Toss) -> TestApp {
    let test = TestApp::builder().toss(toss).test_card(APPROVED).set("provider-timeout", "1s").start().await;
    test.consuming().await;
    test
}

async fn letters(test: &TestApp, count: usize) -> Vec<Value> {
    eventually("the dead letters are kept", async || {
        let data = test.operator().data(LIST, json!({ "status": ["OPEN"] })).await;
        let nodes = data["inboundDeadLetters"]["nodes"].as_array().unwrap().clone();
        (nodes.len() == count).then_some(nodes)
    })
    .await
}

fn input(letter: &Value, reason: &str) -> Value {
    json!({ "input": { "id": letter["id"], "reason": reason } })
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_data_is_dead_lettered_at_once_with_its_original_bytes() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    let mut socket = test.operator().socket().await;
    let feed = "subscription { failures(after: \"0\") { failure { kind subject {
        ... on InboundDeadLetter { queue errorClass } } } } }";
    socket.subscribe("feed", feed, json!({})).await;
    let mut bad: Vec<Vec<u8>> =
        vec![b"not json".to_vec(), b"\xff\x00 not even text".to_vec(), b"{}".to_vec(), Vec::new()];
    for (field, value) in [
        ("amount", json!(0)),
        ("amount", json!(-1)),
        ("amount", json!("15000")),
        ("amount", json!(1.5)),
        ("userId", json!(0)),
        ("meetingId", Value::Null),
        ("orderName", json!("x".repeat(101))),
        ("orderName", json!("a\0b")),
    ] {
        let mut message = register(7, 42);
        message["data"][field] = value;
        bad.push(message.to_string().into_bytes());
    }
    bad.push(format!("{}{}", "[".repeat(5_000), "]".repeat(5_000)).into_bytes());
    for body in &bad {
        test.send_bytes(REGISTER, body).await;
    }
    let found = letters(&test, bad.len()).await;
    assert!(found.iter().all(|letter| letter["errorClass"] == "DATA"), "{found:#?}");
    assert!(found.iter().all(|letter| letter["queue"] == "payment.participant.register"));
    assert!(found.iter().all(|letter| letter["headers"]["x-sender"] == "tests"));
    assert!(found.iter().all(|letter| letter["failures"][0]["kind"] == "INBOUND_DEAD_LETTERED"));
    let text = found.iter().find(|letter| letter["bodyText"] == "not json").unwrap();
    assert_eq!(text["bodyBase64"], "bm90IGpzb24=");
    assert_eq!(text["errorCode"], "NOT_JSON");
    assert_eq!(found.iter().filter(|letter| letter["bodyText"].is_null()).count(), 1);
    let dlq = test.name("payment.participant.register.dlq");
    eventually("all are in the dead-letter queue", async || {
        (test.rabbit.waiting(&dlq).await == u32::try_from(bad.len()).unwrap()).then_some(())
    })
    .await;
    let mut bodies = test.rabbit.bodies(&dlq).await;
    bodies.sort();
    bad.sort();
    assert_eq!(bodies, bad);
    let item = socket.data().await;
    assert_eq!(item["failures"]["failure"]["kind"], "INBOUND_DEAD_LETTERED");
    assert_eq!(item["failures"]["failure"]["subject"]["errorClass"], "DATA");
    assert_eq!(test.db.count("payment").await, 0);
    assert!(toss.calls().await.is_empty());
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_is_replayed_once_and_audited() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    toss.behave(
        json!({ "gateway": "toss", "operation": "key-in", "times": 4, "status": 500, "effect": false }),
    )
    .await;
    let message = register(7, 42);
    test.send(REGISTER, &message).await;
    let letter = letters(&test, 1).await.remove(0);
    assert_eq!(letter["eventId"], message["eventId"]);
    assert!(letter["availableActions"].as_array().unwrap().iter().all(|action| action["allowed"] == false));
    assert_eq!(test.operator().refused(REPLAY, input(&letter, "try")).await, "FORBIDDEN");
    let admin = test.admin();
    let (one, two) = tokio::join!(
        admin.data(REPLAY, input(&letter, "Toss is back")),
        admin.data(REPLAY, input(&letter, "me too"))
    );
    let answers = [&one["replayInboundDeadLetter"], &two["replayInboundDeadLetter"]];
    let refused = answers.iter().filter(|answer| answer["userErrors"][0]["code"] == "INVALID_STATE").count();
    assert_eq!(refused, 1, "{answers:#?}");
    assert!(answers.iter().any(|answer| answer["inboundDeadLetter"]["status"] == "REPLAYED"));
    done(&test, &message).await;
    assert_eq!(toss.payments().await.len(), 1);
    assert_eq!(test.db.count("payment WHERE status = 'COMPLETED'").await, 1);
    let again = admin.data(REPLAY, input(&letter, "again")).await;
    assert_eq!(again["replayInboundDeadLetter"]["userErrors"][0]["code"], "INVALID_STATE");
    let audited =
        "audit_entry WHERE action = 'replayInboundDeadLetter' AND reason IN ('Toss is back', 'me too')";
    assert_eq!(test.db.count(audited).await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_fails_again_leaves_the_letter_open_and_tells_why() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    let mut message = register(7, 42);
    message["data"]["amount"] = json!(0);
    test.send(REGISTER, &message).await;
    let letter = letters(&test, 1).await.remove(0);
    let answer = test.admin().data(REPLAY, input(&letter, "perhaps now")).await;
    let answer = &answer["replayInboundDeadLetter"];
    assert_eq!(answer["userErrors"][0]["code"], "INVALID_INPUT");
    assert_eq!(answer["inboundDeadLetter"]["status"], "OPEN");
    assert_eq!(test.db.count("failure WHERE kind = 'INBOUND_DEAD_LETTERED'").await, 2);
    let unknown = test.admin().data(REPLAY, json!({ "input": { "id": "99999", "reason": "x" } })).await;
    assert_eq!(unknown["replayInboundDeadLetter"]["userErrors"][0]["code"], "NOT_FOUND");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discarded_letter_is_never_replayed() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    test.send_bytes(REGISTER, b"not json").await;
    let letter = letters(&test, 1).await.remove(0);
    let admin = test.admin();
    let answer = admin.data(DISCARD, input(&letter, "spam")).await;
    assert_eq!(answer["discardInboundDeadLetter"]["inboundDeadLetter"]["status"], "DISCARDED");
    for mutation in [DISCARD, REPLAY] {
        let answer = admin.data(mutation, input(&letter, "again")).await;
        assert!(answer.to_string().contains("INVALID_STATE"), "{answer}");
    }
    assert_eq!(test.db.count("audit_entry WHERE action = 'discardInboundDeadLetter'").await, 1);
    test.stop().await;
}

/// A dead letter of a registration whose provider works on its replay for a while, under a lease far shorter than that.
async fn slowly_replayed(toss: &Toss, outcome: Value) -> (TestApp, Value) {
    let test = TestApp::builder()
        .toss(toss)
        .test_card(APPROVED)
        .set("provider-timeout", "15s")
        .set("consumer-replay-lease", "300ms")
        .start()
        .await;
    test.consuming().await;
    toss.behave(
        json!({ "gateway": "toss", "operation": "key-in", "times": 4, "status": 500, "effect": false }),
    )
    .await;
    test.send(REGISTER, &register(7, 42)).await;
    let letter = letters(&test, 1).await.remove(0);
    toss.behave(outcome).await;
    (test, letter)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_stays_taken_for_as_long_as_its_replay_goes_on() {
    let toss = Toss::start().await;
    let slow = json!({ "gateway": "toss", "operation": "key-in", "times": 1, "delayMs": 4_000 });
    let (test, letter) = slowly_replayed(&toss, slow).await;
    let (admin, question) = (test.admin(), input(&letter, "Toss is back"));
    let replay = tokio::spawn(async move { admin.data(REPLAY, question).await });
    let begun = "inbound_dead_letter WHERE replaying_until IS NOT NULL";
    eventually("the replay has begun", async || (test.db.count(begun).await == 1).then_some(())).await;
    let begun: String = test.db.value("SELECT replaying_until::text FROM inbound_dead_letter").await;
    let over = format!("inbound_dead_letter WHERE now() > '{begun}'::timestamptz + interval '1 second'");
    eventually("the first lease is long over", async || (test.db.count(&over).await == 1).then_some(()))
        .await;
    for mutation in [DISCARD, REPLAY] {
        let answer = test.admin().data(mutation, input(&letter, "spam")).await.to_string();
        assert!(answer.contains("INVALID_STATE") && answer.contains("replayed now"), "{answer}");
    }
    let answer = replay.await.unwrap();
    assert_eq!(answer["replayInboundDeadLetter"]["inboundDeadLetter"]["status"], "REPLAYED", "{answer}");
    assert_eq!(toss.payments().await.len(), 1);
    assert_eq!(test.db.count("audit_entry WHERE action LIKE '%InboundDeadLetter'").await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_lost_its_letter_does_not_write_over_the_next_one() {
    let toss = Toss::start().await;
    let slow = json!({ "gateway": "toss", "operation": "key-in", "times": 1, "delayMs": 2_000, "status": 500,
        "effect": false });
    let (test, letter) = slowly_replayed(&toss, slow).await;
    let (admin, question) = (test.admin(), input(&letter, "Toss is back"));
    let replay = tokio::spawn(async move { admin.data(REPLAY, question).await });
    let begun = "inbound_dead_letter WHERE replaying_until IS NOT NULL";
    eventually("the replay has begun", async || (test.db.count(begun).await == 1).then_some(())).await;
    // Another process, which found the lease over.
    let next = "UPDATE inbound_dead_letter
        SET replay_token = gen_random_uuid(), replaying_until = now() + interval '1 hour', error = 'the next one''s'";
    test.db.run(next).await;
    let answer = replay.await.unwrap();
    assert_eq!(answer["replayInboundDeadLetter"]["userErrors"][0]["code"], "INVALID_STATE", "{answer}");
    let held = "inbound_dead_letter WHERE status = 'OPEN' AND error = 'the next one''s'
        AND replay_token IS NOT NULL AND replaying_until > now()";
    assert_eq!(test.db.count(held).await, 1);
    assert_eq!(test.db.count("failure WHERE kind = 'INBOUND_DEAD_LETTERED'").await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_whose_replay_died_is_free_after_the_lease() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    test.send_bytes(REGISTER, b"not json").await;
    let letter = letters(&test, 1).await.remove(0);
    let died =
        "UPDATE inbound_dead_letter SET replay_token = gen_random_uuid(), replaying_until = now() + interval";
    test.db.run(&format!("{died} '1 hour'")).await;
    let answer = test.admin().data(DISCARD, input(&letter, "spam")).await.to_string();
    assert!(answer.contains("INVALID_STATE"), "{answer}");
    test.db.run(&format!("{died} '-1 second'")).await;
    let answer = test.admin().data(DISCARD, input(&letter, "spam")).await;
    assert_eq!(answer["discardInboundDeadLetter"]["inboundDeadLetter"]["status"], "DISCARDED", "{answer}");
    test.stop().await;
}

/// Keeps this many dead letters whose bodies have this many MiB; tells their ids.
async fn big_letters(test: &TestApp, count: usize, mib: usize) -> Vec<i64> {
    let sql = format!(
        "INSERT INTO inbound_dead_letter (queue, body, error_class, error_code, error)
         SELECT 'payment.participant.register', convert_to(repeat('a', {mib} * 1024 * 1024), 'UTF8'), 'DATA', 'NOT_JSON', 'no'
         FROM generate_series(1, {count}) RETURNING id"
    );
    test.db.values(&sql).await
}

/// The answer to an operator's query, however long it is: the usual client has a limit of its own.
async fn whole(test: &TestApp, query: &str) -> Value {
    let sent = reqwest::Client::new()
        .post(format!("http://{}/graphql", test.base))
        .bearer_auth(token(&[Role::Operator], "operator"))
        .json(&json!({ "query": query }))
        .send();
    sent.await.unwrap().json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_too_large_together_are_refused() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let ids = big_letters(&test, 3, 7).await;
    let list = |field| format!("{{ inboundDeadLetters {{ nodes {{ id {field} }} }} }}");
    let aliases =
        format!("{{ inboundDeadLetter(id: {}) {{ a: bodyText b: bodyText c: bodyText }} }}", ids[0]);
    for query in [list("bodyText"), list("bodyBase64"), list("bodyText bodyBase64"), aliases] {
        let refusal = whole(&test, &query).await["errors"][0].take();
        assert_eq!(refusal["extensions"]["code"], "QUERY_TOO_COMPLEX", "{query}: {refusal}");
        assert!(refusal["message"].as_str().unwrap().contains("Ask for fewer"), "{refusal}");
    }
    let two = whole(&test, "{ inboundDeadLetters(first: 2) { nodes { bodyText bodyBase64 } } }").await;
    let shown = two["data"]["inboundDeadLetters"]["nodes"].as_array().unwrap();
    assert_eq!(shown.len(), 2);
    assert!(shown.iter().all(|letter| letter["bodyText"].as_str().unwrap().len() == 7 * 1024 * 1024));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_letter_is_shown_however_large_it_is() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let id = big_letters(&test, 1, 17).await[0];
    let one = whole(&test, &format!("{{ inboundDeadLetter(id: {id}) {{ bodyText bodyBase64 }} }}")).await;
    assert_eq!(one["data"]["inboundDeadLetter"]["bodyText"].as_str().unwrap().len(), 17 * 1024 * 1024);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_asked_for_is_not_read() {
    let toss = Toss::start().await;
    let test = start(&toss).await;
    test.send_bytes(REGISTER, b"not json").await;
    let letter = letters(&test, 1).await.remove(0);
    // Whoever reads the column fails from now on.
    test.db.run("ALTER TABLE inbound_dead_letter RENAME COLUMN body TO hidden").await;
    let operator = test.operator();
    let list = "{ inboundDeadLetters { count { value } nodes { id queue error headers failures { id
        subject { ... on InboundDeadLetter { id status } } } } } }";
    let data = operator.data(list, json!({})).await;
    assert_eq!(data["inboundDeadLetters"]["nodes"][0]["failures"][0]["subject"]["status"], "OPEN", "{data}");
    let one = "query ($id: ID!) { inboundDeadLetter(id: $id) { status } }";
    operator.data(one, json!({ "id": letter["id"] })).await;
    let mut socket = operator.socket().await;
    let feed =
        "subscription { failures(after: \"0\") { failure { subject { ... on InboundDeadLetter { id } } } } }";
    socket.subscribe("feed", feed, json!({})).await;
    assert_eq!(socket.data().await["failures"]["failure"]["subject"]["id"], letter["id"]);
    let answer = test.admin().data(DISCARD, input(&letter, "spam")).await;
    assert_eq!(answer["discardInboundDeadLetter"]["inboundDeadLetter"]["status"], "DISCARDED");
    let asked = "{ inboundDeadLetters { nodes { bodyText } } }";
    assert_eq!(operator.query(asked, json!({})).await["errors"][0]["extensions"]["code"], "INTERNAL");
    test.stop().await;
}
