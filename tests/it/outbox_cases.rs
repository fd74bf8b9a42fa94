//! Rows in odd states, at odd moments: each comes to its end, once.

use std::time::Duration;

use crate::{
    payments::{APPROVED, CREATE, input},
    support::{TestApp, Toss, eventually, proxy::Proxy, service_url},
};

async fn all_published(test: &TestApp, count: i64) {
    eventually("every event is published", async || {
        (test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await == count).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_lost_connection_what_nobody_wants_is_still_not_published() {
    let (proxy, url) = Proxy::before(&service_url("AMQP_URL")).await;
    let test = TestApp::builder().amqp_url(url).set("outbox-backoff-base", "10m").start().await;
    let _inbox = test.inbox(&["x"]).await;
    let wanted = test.insert_event("x").await;
    test.reaches(wanted, "PUBLISHED").await;
    proxy.refuse();
    let states = test.app.broker.state();
    eventually("the connection is lost", async || (!states.borrow().is_up()).then_some(())).await;
    proxy.pass();
    test.broker_is_up().await;
    // The new connection's channels must be in confirm mode too: a reopened one is not by itself.
    let (unwanted, wanted) = (test.insert_event("nobody").await, test.insert_event("x").await);
    test.reaches(wanted, "PUBLISHED").await;
    test.reaches(unwanted, "FAILED").await;
    let code: String =
        test.db.value(&format!("SELECT last_error_code FROM payment_outbox WHERE id = {unwanted}")).await;
    assert_eq!(code, "UNROUTABLE");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_failure_does_not_undo_what_was_published_meanwhile() {
    let (proxy, url) = Proxy::before(&service_url("AMQP_URL")).await;
    let test = TestApp::builder().amqp_url(url).set("outbox-confirm-timeout", "15s").start().await;
    let _inbox = test.inbox(&["x"]).await;
    let warm = test.insert_event("x").await;
    test.reaches(warm, "PUBLISHED").await;
    proxy.freeze();
    let id = test.insert_event("nobody").await;
    test.reaches(id, "PROCESSING").await;
    // Another had its confirm under the same claim; ours comes back as unroutable.
    let published = format!(
        "UPDATE payment_outbox SET status = 'PUBLISHED', published_at = now(), attempt_count = 7 WHERE id = {id}"
    );
    test.db.run(&published).await;
    proxy.pass();
    // Sent after it on the same way: what was to be marked has been.
    let next = test.insert_event("nobody").await;
    test.reaches(next, "FAILED").await;
    let row = format!("SELECT status || ' ' || attempt_count FROM payment_outbox WHERE id = {id}");
    assert_eq!(test.db.value::<String>(&row).await, "PUBLISHED 7");
    assert_eq!(test.db.count(&format!("failure WHERE subject_id = '{id}'")).await, 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_of_one_takes_one_whatever_the_plan() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let name = test.db.url.rsplit_once('/').unwrap().1.to_owned();
    test.db
        .run(&format!(
            "ALTER DATABASE {name} SET enable_hashjoin = off; ALTER DATABASE {name} SET enable_mergejoin = off;
             ALTER DATABASE {name} SET enable_material = off;
             CREATE TABLE claim_seen (token uuid, id bigint);
             CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN INSERT INTO claim_seen VALUES (NEW.claim_token, NEW.id); RETURN NULL; END $$;
             CREATE TRIGGER see AFTER UPDATE ON payment_outbox FOR EACH ROW WHEN (NEW.status = 'PROCESSING')
                 EXECUTE FUNCTION see();
             INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, suspect)
             SELECT 'TESTED', 'TEST', n::text, '{}', 'x', '1', true FROM generate_series(1, 300) n",
            test.exchange()
        ))
        .await;
    let inbox = test.inbox(&["x"]).await;
    // Suspects go one at a time: the claim with a limit. Three processes share them.
    let mut beside = Vec::new();
    for _ in 0..3 {
        beside.push(TestApp::builder().start_beside(&test).await);
    }
    all_published(&test, 300).await;
    inbox.settled().await;
    assert_eq!((inbox.counts().len(), inbox.len()), (300, 300), "each was sent once");
    let most: i64 = test
        .db
        .value("SELECT max(rows) FROM (SELECT count(*) AS rows FROM claim_seen GROUP BY token) claims")
        .await;
    assert_eq!(most, 1, "no claim takes more than it asks for");
    assert_eq!(test.db.count("claim_seen").await, 300, "each was claimed once");
    for app in beside {
        app.stop().await;
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_never_arrives_before_its_payment_can_be_read() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).set("outbox-pending-interval", "20ms").start().await;
    // A commit that takes its time, after everything has been written.
    test.db
        .run(
            "CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON payment_outbox DEFERRABLE INITIALLY DEFERRED
                 FOR EACH ROW EXECUTE FUNCTION dawdle();",
        )
        .await;
    let inbox = test.inbox(&["payment.#"]).await;
    let service = test.service();
    let paying = tokio::spawn(async move { service.data(CREATE, input("k", 1, 1, APPROVED)).await });
    let message = eventually("the event arrives", async || inbox.all().pop()).await;
    let paid = format!("payment WHERE id = {} AND status = 'COMPLETED'", message.body["data"]["paymentId"]);
    assert_eq!(test.db.count(&paid).await, 1);
    paying.await.unwrap();

    test.db
        .run(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN IF NEW.routing_key = 'payment.refused' THEN RAISE 'no'; END IF; RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON payment_outbox DEFERRABLE INITIALLY DEFERRED
                 FOR EACH ROW EXECUTE FUNCTION refuse();",
        )
        .await;
    let refused = format!(
        "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
         VALUES ('TESTED', 'TEST', '1', '{}', 'payment.refused', '1')",
        test.exchange()
    );
    assert!(test.db.client.batch_execute(&refused).await.is_err());
    inbox.settled().await;
    assert_eq!(inbox.len(), 1, "what was rolled back is not sent");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_to_a_missing_exchange_are_tried_once_for_each_step() {
    let test = TestApp::builder().set("outbox-backoff-base", "1s").start().await;
    let _inbox = test.inbox(&["x"]).await;
    for _ in 0..20 {
        test.insert_event_to("no.such.exchange", "x").await;
    }
    eventually("all are given up", async || {
        (test.db.count("payment_outbox WHERE status = 'DEAD_LETTERED'").await == 20).then_some(())
    })
    .await;
    let thrice =
        "payment_outbox WHERE attempt_count = 3 AND retry_count = 3 AND last_error_code = 'EXCHANGE_MISSING'";
    assert_eq!(test.db.count(thrice).await, 20, "three tries each, no more");
    assert_eq!(test.db.count("failure WHERE subject_type = 'OUTBOX_EVENT'").await, 60);
    let neighbour = test.insert_event("x").await;
    test.reaches(neighbour, "PUBLISHED").await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_exchange_comes_back_when_it_is_deleted() {
    let test = TestApp::builder().set("amqp-redeclare-interval", "200ms").start().await;
    let inbox = test.inbox(&["x"]).await;
    let before = test.insert_event("x").await;
    test.reaches(before, "PUBLISHED").await;
    test.rabbit.delete_exchange(&test.exchange()).await;
    let there = async || test.rabbit.has_exchange(&test.exchange()).await.then_some(());
    eventually("the exchange is there again", there).await;
    // Its bindings are its listeners' own.
    test.rabbit.bind(&inbox, &test.exchange(), "x").await;
    let after = test.insert_event("x").await;
    test.reaches(after, "PUBLISHED").await;
    eventually("it arrives", async || (inbox.len() == 2).then_some(())).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_that_fail_do_not_hold_up_one_that_is_good() {
    let test = TestApp::builder()
        .set("outbox-max-retries", "1000000")
        .set("outbox-backoff-cap", "200ms")
        .start()
        .await;
    let _inbox = test.inbox(&["x"]).await;
    test.db
        .run(&format!(
            "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, retry_count,
                                         next_retry_at, created_at)
             SELECT 'TESTED', 'TEST', n::text, '{}', 'nobody', '1', 'FAILED', 1, now() - interval '1 hour', now() - interval '2 hours'
             FROM generate_series(1, 500) n",
            test.exchange()
        ))
        .await;
    eventually("they fail", async || {
        (test.db.count("payment_outbox WHERE attempt_count > 0").await == 500).then_some(())
    })
    .await;
    let good = test.insert_event("x").await;
    test.reaches(good, "PUBLISHED").await;
    assert_eq!(test.db.count("payment_outbox WHERE status = 'PUBLISHED' AND attempt_count = 1").await, 1);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_in_every_state_and_combination_come_to_their_end() {
    let test = TestApp::builder()
        .set("db-checkout-timeout", "300ms")
        .set("outbox-confirm-timeout", "1s")
        .set("outbox-stuck-after", "3s")
        .set("outbox-recovery-interval", "200ms")
        .start()
        .await;
    let inbox = test.inbox(&["x"]).await;
    test.db
        .run(&format!(
            "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, suspect, retry_count,
                 lone_connection_losses, next_retry_at, claim_token, processing_started_at, created_at)
             SELECT 'TESTED', 'TEST', '1', '{}', 'x', '1', status, suspect, retries, losses, retry_at, token, started, now() - interval '1 hour'
             FROM unnest(ARRAY['PENDING', 'PROCESSING', 'FAILED']) status, unnest(ARRAY[true, false]) suspect, unnest(ARRAY[0, 2, 3]) retries,
                  unnest(ARRAY[0, 2]) losses, unnest(ARRAY[NULL, now() - interval '1 minute']) retry_at,
                  unnest(ARRAY[NULL, gen_random_uuid()]) token, unnest(ARRAY[NULL, now() - interval '1 hour']) started",
            test.exchange()
        ))
        .await;
    let rows = test.db.count("payment_outbox").await;
    eventually("every row is at its end", async || {
        let ended = "payment_outbox WHERE status IN ('PUBLISHED', 'DEAD_LETTERED')";
        (test.db.count(ended).await == rows).then_some(())
    })
    .await;
    // Those that had a try left were sent; only failures that had none are given up.
    let sent = test.db.count("payment_outbox WHERE status = 'PUBLISHED'").await;
    inbox.settled().await;
    assert_eq!(i64::try_from(inbox.counts().len()).unwrap(), sent);
    assert_eq!(test.db.count("payment_outbox WHERE status = 'DEAD_LETTERED' AND retry_count < 3").await, 0);
    assert_eq!(test.db.count("payment_outbox WHERE suspect AND status = 'PUBLISHED'").await, 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_that_is_held_up_is_not_joined_by_others_and_no_burst_follows() {
    let test = TestApp::builder().set("outbox-pending-interval", "20ms").start().await;
    let inbox = test.inbox(&["x"]).await;
    let warm = test.insert_event("x").await;
    test.reaches(warm, "PUBLISHED").await;
    let holder = test.db.session().await;
    holder.batch_execute("BEGIN; LOCK TABLE payment_outbox IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let waiting = "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND query LIKE '%status = ''PENDING'' AND NOT suspect AND (created_at, id)%'";
    eventually("the look is held up", async || (test.db.count(waiting).await == 1).then_some(())).await;
    for _ in 0..20 {
        // Many intervals go by.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(test.db.count(waiting).await <= 1);
    }
    holder.batch_execute("COMMIT").await.unwrap();
    let next = test.insert_event("x").await;
    test.reaches(next, "PUBLISHED").await;
    inbox.settled().await;
    assert_eq!(inbox.len(), 2, "each was sent once");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_altered_under_load_costs_no_event_and_no_payment() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let inbox = test.inbox(&["payment.#"]).await;
    for number in 1..=30_i64 {
        if number % 5 == 0 {
            test.db
                .run(&format!(
                    "ALTER TABLE payment_outbox ADD COLUMN note{number} text; ALTER TABLE payment ADD COLUMN note{number} text;
                     ALTER TABLE payment ALTER COLUMN order_name TYPE {}; ALTER TABLE payment_outbox ALTER COLUMN exchange TYPE {}",
                    if number % 2 == 0 { "varchar(1000)" } else { "text" },
                    if number % 2 == 0 { "varchar(1000)" } else { "text" },
                ))
                .await;
        }
        // A statement whose plan has changed under it is told to be tried again, at most once for each connection.
        let variables = input(&format!("k{number}"), number, number, APPROVED);
        eventually("the payment is made", async || {
            let answer = test.service().query(CREATE, variables.clone()).await;
            (answer["data"]["createKeyInPayment"]["payment"]["status"] == "COMPLETED").then_some(())
        })
        .await;
    }
    all_published(&test, 30).await;
    inbox.settled().await;
    assert_eq!(inbox.counts().len(), 30);
    test.stop().await;
}
