//! The provider's books and ours agree to the won, over bad lines and across kills.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use paydesk::auth::Role;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    invariants::assert_books_hold,
    payments::{APPROVED, CREATE, input},
    reconcile::{behave, hurried, pay},
    refunds::{REFUND, ask, refund},
    support::{
        TestApp, Toss,
        api::{Actor, token},
        db::TestDb,
        eventually,
        process::Process,
    },
};

/// So many calls of each operation go wrong in the ways in which lines and providers do.
async fn bad_lines(toss: &Toss, calls: u32) {
    let mut random = fastrand::Rng::with_seed(20_261_130);
    for operation in ["key-in", "cancel", "lookup"] {
        for _ in 0..calls {
            let how = match random.u32(0..6) {
                0 => json!({ "drop": true }),
                1 => json!({ "drop": true, "effect": false }),
                2 => json!({ "delayMs": random.u32(1..1500) }),
                3 => json!({ "status": 500, "effect": random.bool() }),
                4 => json!({ "status": 409, "effect": false }),
                _ => json!({}),
            };
            behave(toss, operation, how).await;
        }
    }
}

/// Waits for a payment to be COMPLETED; a while, since it may never be.
async fn settles(database: &TestDb, id: &str) {
    let paid = format!("payment WHERE id = {id} AND status = 'COMPLETED'");
    let started = Instant::now();
    while database.count(&paid).await == 0 && started.elapsed() < Duration::from_secs(5) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// What never reached the provider is given up by the provider's own word; everything else is found out.
async fn nothing_stays_unknown(test: &TestApp) {
    test.db
        .run(
            "UPDATE payment SET requested_at = requested_at - interval '1 hour' WHERE status = 'PENDING';
             UPDATE refund SET next_check_at = now() WHERE status = 'REQUESTED'",
        )
        .await;
    eventually("nothing is unknown any more", async || {
        test.db.run("UPDATE payment SET next_check_at = now() WHERE status = 'PENDING'").await;
        let open = test.db.count("payment WHERE status = 'PENDING'").await
            + test.db.count("refund WHERE status = 'REQUESTED'").await;
        (open == 0).then_some(())
    })
    .await;
}

/// Held and given back, to the won and payment by payment, with an event for each; and what must hold of our rows does.
async fn books_are_equal(test: &TestApp, toss: &Toss, payments: i64) {
    assert_eq!(test.db.count("refund WHERE status = 'FAILED'").await, 0);
    let books = toss.payments().await;
    let sum = |field: &str| books.iter().map(|row| row[field].as_i64().unwrap()).sum::<i64>();
    let ours = |sql: &str| format!("SELECT coalesce(sum(amount), 0)::bigint FROM {sql}");
    let held: i64 = test.db.value(&ours("payment WHERE status = 'COMPLETED'")).await;
    let back: i64 = test.db.value(&ours("refund WHERE status = 'COMPLETED'")).await;
    assert_eq!((held, back), (sum("paid") - sum("cancelled"), sum("cancelled")), "to the won");
    assert!(back > 0 && held > 0);
    let holds = |row: &&Value| row["paid"].as_i64().unwrap() > row["cancelled"].as_i64().unwrap();
    let mut kept: Vec<&str> =
        books.iter().filter(holds).map(|row| row["orderId"].as_str().unwrap()).collect();
    kept.sort_unstable();
    let mut completed: Vec<String> =
        test.db.values("SELECT order_id FROM payment WHERE status = 'COMPLETED'").await;
    completed.sort_unstable();
    assert_eq!(kept, completed, "who is charged has a payment, one for each meeting");
    let count =
        async |event: &str| test.db.count(&format!("payment_outbox WHERE event_type = '{event}'")).await;
    assert_eq!(count("PAYMENT_REFUNDED").await, test.db.count("refund WHERE status = 'COMPLETED'").await);
    assert_eq!(count("PAYMENT_COMPLETED").await + count("PAYMENT_FAILED").await, payments);
    assert_books_hold(&test.db);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_payments_and_refunds_over_bad_lines_leave_equal_books_heavy() {
    let toss = Toss::start().await;
    let test = hurried(&toss).start().await;
    let second = hurried(&toss).start_beside(&test).await;
    bad_lines(&toss, 120).await;
    let mut under_way = JoinSet::new();
    for number in 1..=200_i64 {
        let actor = if number % 2 == 0 { test.service() } else { second.service() };
        let database = Arc::clone(&test.db);
        under_way.spawn(async move {
            tokio::time::sleep(Duration::from_millis(u64::try_from(number * 10).unwrap())).await;
            let id = pay(&actor, number, 1).await["id"].as_str().unwrap().to_owned();
            settles(&database, &id).await;
            if number % 3 != 0 {
                ask(&actor, refund(&id, &id)).await;
            }
        });
    }
    under_way.join_all().await;
    nothing_stays_unknown(&test).await;
    books_are_equal(&test, &toss, 200).await;
    test.stop().await;
    second.stop().await;
}

/// The two processes that may be asked; one of them is killed again and again.
#[derive(Clone)]
struct Callers {
    victim: Arc<Mutex<String>>,
    survivor: String,
}

impl Callers {
    /// Asks both processes at once, again and again, until one answers with an id there.
    async fn ask_until(&self, query: &str, variables: &Value, id: &str) -> String {
        loop {
            let victim = self.victim.lock().unwrap().clone();
            let ask = async |base: String| {
                let actor = Actor::new(base, Some(token(&[Role::Service], "load")));
                actor.try_query(query, variables.clone()).await.unwrap_or_default()
            };
            let answers = tokio::join!(ask(victim), ask(self.survivor.clone()));
            if let Some(id) = answers.0.pointer(id).or(answers.1.pointer(id)).and_then(Value::as_str) {
                return id.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_20_times_amid_two_hundred_payments_and_refunds_over_bad_lines_the_books_are_equal_heavy() {
    let toss = Toss::start().await;
    let test = hurried(&toss).start().await;
    let url = toss.url();
    let settings = [
        ("toss-url", url.as_str()),
        ("toss-secret-key", "test_sk_sim0000000000000000"),
        ("payment-reconcile-interval", "50ms"),
        ("payment-reconcile-after", "200ms"),
        ("provider-timeout", "1s"),
        ("log", "off"),
    ];
    let mut victim = Process::start(&test, &settings).await;
    let callers = Callers { victim: Arc::new(Mutex::new(victim.base.clone())), survivor: test.base.clone() };
    bad_lines(&toss, 120).await;
    let mut under_way = JoinSet::new();
    for number in 1..=200_i64 {
        let (callers, database) = (callers.clone(), Arc::clone(&test.db));
        under_way.spawn(async move {
            tokio::time::sleep(Duration::from_millis(u64::try_from(number * 25).unwrap())).await;
            let variables = input(&format!("pay-{number}"), number, 1, APPROVED);
            let id = callers.ask_until(CREATE, &variables, "/data/createKeyInPayment/payment/id").await;
            settles(&database, &id).await;
            if number % 3 != 0
                && database.count(&format!("payment WHERE id = {id} AND status = 'COMPLETED'")).await == 1
            {
                callers
                    .ask_until(
                        REFUND,
                        &refund(&format!("back-{number}"), &id),
                        "/data/refundPayment/refund/id",
                    )
                    .await;
            }
        });
    }
    for round in 0..20_u64 {
        tokio::time::sleep(Duration::from_millis(100 + 37 * (round % 7))).await;
        victim.kill();
        victim = Process::start(&test, &settings).await;
        *callers.victim.lock().unwrap() = victim.base.clone();
    }
    under_way.join_all().await;
    nothing_stays_unknown(&test).await;
    books_are_equal(&test, &toss, 200).await;
    test.stop().await;
}
