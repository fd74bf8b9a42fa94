//! What must hold after a round.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
    sync::atomic::Ordering,
    time::Duration,
};

use paydesk::{
    outbox::{
        OutboxStatus, RetryPolicy,
        lifecycle::{Life, Step},
    },
    types::Backoff,
};
use serde_json::{Value, json};
use tokio_postgres::Client;
use uuid::Uuid;

use crate::{
    broker,
    load::Asked,
    plan::{Kind, Plan},
    site::Site,
    support::wait::within,
};

/// Longest wait until everything has come to its end.
const AT_LAST: Duration = Duration::from_secs(60);

/// Notes each change of each event, so that none goes unseen.
pub const STEPS: &str = "
    CREATE TABLE chaos_step (n bigserial, id bigint, by text,
        was text, was_retries integer, was_waiting boolean, was_token text,
        became text, became_retries integer, became_waiting boolean, became_token text);
    CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO chaos_step (id, by, was, was_retries, was_waiting, was_token, became, became_retries, became_waiting, became_token)
        VALUES (NEW.id, NEW.claimed_by, OLD.status, OLD.retry_count, OLD.next_retry_at IS NOT NULL, OLD.claim_token,
            NEW.status, NEW.retry_count, NEW.next_retry_at IS NOT NULL, NEW.claim_token);
        RETURN NULL;
    END $$;
    CREATE TRIGGER chaos_note AFTER UPDATE ON payment_outbox FOR EACH ROW EXECUTE FUNCTION chaos_note();";

/// What is not at its end, in words.
const OPEN: &str = "
    SELECT format('event %s is %s, %s', id, status, last_error) FROM payment_outbox WHERE status <> 'PUBLISHED'
    UNION ALL SELECT format('payment %s is PENDING', id) FROM payment WHERE status = 'PENDING'
    UNION ALL SELECT format('refund %s is %s', id, status) FROM refund WHERE status <> 'COMPLETED'
    UNION ALL SELECT format('bonus job %s is %s', id, status) FROM charge_event_job WHERE status <> 'DONE'
    UNION ALL SELECT format('message %s is %s', event_id, state) FROM inbox WHERE state <> 'DONE'
    UNION ALL SELECT format('failure %s is not on the feed', id) FROM failure WHERE position IS NULL";

async fn texts(db: &Client, sql: &str) -> Vec<String> {
    db.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

async fn number(db: &Client, sql: &str) -> i64 {
    db.query_one(sql, &[]).await.unwrap().get(0)
}

/// Waits until everything is decided, delivered and carried out; helps as operators and senders do.
pub async fn come_to_their_end(site: &Site, plan: &Plan, asked: &Asked) {
    let db = site.db.session().await;
    // What never reached the provider is given up by the provider's own word, after an hour.
    let hour = "UPDATE payment SET requested_at = requested_at - interval '1 hour' WHERE status = 'PENDING'";
    db.batch_execute(hour).await.unwrap();
    let deadline = tokio::time::Instant::now() + AT_LAST;
    loop {
        db.batch_execute("UPDATE payment SET next_check_at = now() WHERE status = 'PENDING'").await.unwrap();
        if plan.costs_tries() {
            requeue_dead_letters(site, &db).await;
        }
        let mut open = texts(&db, OPEN).await;
        open.extend(not_carried_out(site, plan, asked, &db).await);
        open.extend(not_received(site, plan, &db).await);
        if open.is_empty() {
            return;
        }
        if tokio::time::Instant::now() > deadline {
            open.truncate(20);
            panic!("stuck: {open:#?}");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// As an operator does once there is somebody who listens.
async fn requeue_dead_letters(site: &Site, db: &Client) {
    let requeue = "mutation ($id: ID!) { requeueOutboxEvent(input: { id: $id, reason: \"bound again\" }) { userErrors { code } } }";
    for id in texts(db, "SELECT id::text FROM payment_outbox WHERE status = 'DEAD_LETTERED'").await {
        site.admin().data(requeue, json!({ "id": id })).await;
    }
}

/// Registrations that nobody carried out. A queue that is deleted takes its messages with it: they are sent again.
async fn not_carried_out(site: &Site, plan: &Plan, asked: &Asked, db: &Client) -> Vec<String> {
    let done = texts(db, "SELECT event_id::text FROM inbox WHERE state = 'DONE'").await;
    let registrations = asked.registrations.lock().unwrap().clone();
    let id = |message: &Value| message["eventId"].as_str().unwrap().to_owned();
    let missing: Vec<Value> =
        registrations.into_iter().filter(|message| !done.contains(&id(message))).collect();
    if plan.has(&[Kind::QueueDeleted]) {
        let exchange = format!("{}meeting.events", site.prefix);
        for message in &missing {
            let body = message.to_string();
            broker::send(&site.services.amqp_url, &exchange, "participant.register", body.as_bytes()).await;
        }
    }
    missing.iter().map(|message| format!("registration {} was not carried out", id(message))).collect()
}

/// Events that are PUBLISHED and did not arrive. Refunds are, by policy, also when nobody listens.
async fn not_received(site: &Site, plan: &Plan, db: &Client) -> Vec<String> {
    let unheard = "event_type = 'PAYMENT_REFUNDED' AND last_error_code = 'UNROUTABLE'";
    let unheard = if plan.costs_tries() { unheard } else { "false" };
    let sql =
        format!("SELECT event_id::text FROM payment_outbox WHERE status = 'PUBLISHED' AND NOT ({unheard})");
    let received = site.listener.received();
    let published = texts(db, &sql).await.into_iter();
    published.filter(|id| !received.contains_key(id)).map(|id| format!("event {id} did not arrive")).collect()
}

/// Ours, the provider's, and what arrived.
pub async fn are_equal(site: &Site, plan: &Plan, asked: &Asked) {
    let db = site.db.session().await;
    every_step_is_the_models(&db).await;
    arrived_as_sent(site, &db, asked).await;
    to_the_won(site, &db, asked).await;
    if !plan.costs_tries() {
        let given_up = "SELECT count(*) FROM failure WHERE kind = 'OUTBOX_DEAD_LETTERED'";
        assert_eq!(number(&db, given_up).await, 0, "nothing is given up because something was away");
    }
    assert_eq!(number(&db, "SELECT count(*) FROM inbound_dead_letter").await, 0, "no message is given up");
    let idle = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND state = 'idle in transaction' AND state_change < now() - interval '5 seconds'";
    assert_eq!(number(&db, idle).await, 0, "no transaction is left open");
    verify(site);
}

/// What the statements did to each event is what the checked model says that may befall one (`outbox::lifecycle`): no claim
/// of what is claimed, no end of another's claim, nothing that leaves its end by itself.
async fn every_step_is_the_models(db: &Client) {
    let backoff = Backoff { base: Duration::from_millis(200), cap: Duration::from_secs(300) };
    let policy = RetryPolicy { max_retries: 3, backoff };
    let token = |text: Option<String>| text.map(|text| Uuid::parse_str(&text).unwrap());
    let mut tokens = BTreeSet::new();
    for row in db.query("SELECT * FROM chaos_step ORDER BY n", &[]).await.unwrap() {
        let life = |when: &str| Life::<Uuid> {
            status: OutboxStatus::parse(row.get(when)).unwrap(),
            retry_count: row.get(format!("{when}_retries").as_str()),
            has_next_retry: row.get(format!("{when}_waiting").as_str()),
            token: token(row.get(format!("{when}_token").as_str())),
        };
        let (was, became) = (life("was"), life("became"));
        if was == became {
            continue;
        }
        let (id, by): (i64, Option<&str>) = (row.get("id"), row.get("by"));
        let step = was.step_to(became, &policy);
        let step = step.unwrap_or_else(|| {
            panic!("event {id}, last claimed by {by:?}: no step leads from {was:?} to {became:?}")
        });
        if let Step::Claim(token) = step {
            assert!(tokens.insert((id, token)), "event {id} was claimed twice with one token");
        }
    }
}

/// Each event that arrived was committed, and was sent once for each claim at most.
async fn arrived_as_sent(site: &Site, db: &Client, asked: &Asked) {
    let sql = "SELECT event_id::text, (SELECT count(*) FROM chaos_step s WHERE s.id = o.id AND s.became = 'PROCESSING')
        FROM payment_outbox o";
    let rows = db.query(sql, &[]).await.unwrap();
    let claims: BTreeMap<String, i64> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    for (id, (times, _again)) in site.listener.received() {
        let claims = claims.get(&id).unwrap_or_else(|| panic!("event {id} arrived and was never committed"));
        assert!(i64::try_from(times).unwrap() <= *claims, "event {id}: {claims} claims, sent {times} times");
    }
    for id in asked.inserted.lock().unwrap().iter() {
        assert!(claims.contains_key(id), "event {id} was committed and is not there");
    }
}

/// Held and given back, payment by payment, with an event for each; coins as many as were bought.
async fn to_the_won(site: &Site, db: &Client, asked: &Asked) {
    let books = site.toss.payments().await;
    let sum = |field: &str| books.iter().map(|row| row[field].as_i64().unwrap()).sum::<i64>();
    let ours = async |from: &str| {
        number(db, &format!("SELECT coalesce(sum(amount), 0)::bigint FROM {from} WHERE status = 'COMPLETED'"))
            .await
    };
    let (held, back) = (ours("payment").await, ours("refund").await);
    assert_eq!((held, back), (sum("paid") - sum("cancelled"), sum("cancelled")), "to the won");
    let kept = books.iter().filter(|row| row["paid"].as_i64().unwrap() > row["cancelled"].as_i64().unwrap());
    let mut kept: Vec<&str> = kept.map(|row| row["orderId"].as_str().unwrap()).collect();
    kept.sort_unstable();
    let completed = "SELECT order_id FROM payment WHERE status = 'COMPLETED' ORDER BY order_id COLLATE \"C\"";
    assert_eq!(kept, texts(db, completed).await, "who is charged has a payment");

    let count = async |from: &str| number(db, &format!("SELECT count(*) FROM {from}")).await;
    let wanted = asked.payments.load(Ordering::Relaxed)
        + i64::try_from(asked.registrations.lock().unwrap().len()).unwrap();
    let events = "payment_outbox WHERE event_type IN ('PAYMENT_COMPLETED', 'PAYMENT_FAILED')";
    assert_eq!(count(events).await, wanted, "one outcome is told for each payment that was asked for");
    let refunds = asked.refunds.load(Ordering::Relaxed);
    assert_eq!(count("payment_outbox WHERE event_type = 'PAYMENT_REFUNDED'").await, refunds);
    assert_eq!(count("refund").await, refunds);
    let purchases = asked.purchases.load(Ordering::Relaxed);
    assert_eq!(count("charge WHERE status = 'CHARGE' AND payment_status = 'COMPLETE'").await, purchases);
    assert_eq!(count("charge_event_job").await, purchases, "each purchase has its bonus");
    let wallets = "SELECT coalesce(sum(charge_can), 0)::bigint FROM wallet";
    assert_eq!(number(db, wallets).await, purchases * 100);
}

/// `paydesk verify` has nothing to say.
fn verify(site: &Site) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_paydesk"));
    let output = command.args(["verify", "--database-url", &site.db.url]).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

/// After every process has ended well.
pub async fn nothing_is_claimed(site: &Site) {
    let db = site.db.session().await;
    let claimed = "SELECT count(*) FROM payment_outbox WHERE status = 'PROCESSING'";
    within(Duration::from_secs(1), "nothing stays claimed", async || {
        (number(&db, claimed).await == 0).then_some(())
    })
    .await;
}
