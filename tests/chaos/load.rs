//! What the world wants of Paydesk meanwhile: payments, refunds, coins, registrations, events by SQL. Everybody asks
//! again, with the same key, until there is an answer.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use paydesk::auth::Role;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    broker,
    site::Site,
    support::{
        api::{Actor, token},
        messages::register,
        shop::{REQUEST, paid_at_bootpay, request},
    },
};

/// The time between two who want something, and how many are served at once: more would wait for each other rather than
/// for what breaks.
const PACE: Duration = Duration::from_millis(40);
const AT_ONCE: usize = 24;
/// Longest wait for one answer, and for the answer at last.
const ANSWER: Duration = Duration::from_secs(5);
const AT_LAST: Duration = Duration::from_secs(90);

const APPROVED: &str = "4330000000000001";
const DECLINED: &str = "4000000000000002";
const PAY: &str = "mutation ($input: CreateKeyInPaymentInput!) { createKeyInPayment(input: $input) {
    payment { id status } userErrors { code } } }";
const REFUND: &str = "mutation ($input: RefundPaymentInput!) { refundPayment(input: $input) {
    refund { id status } userErrors { code } } }";
const MEMBER: &str =
    "mutation { upsertMember(input: { nickname: \"Kim\" }) { member { id } userErrors { code } } }";
const VERIFY: &str = "mutation ($input: VerifyChargeInput!) { verify(input: $input) {
    charge { paymentStatus } userErrors { code } } }";

/// What was asked for, to be found in the books.
#[derive(Default)]
pub struct Asked {
    pub payments: AtomicI64,
    pub refunds: AtomicI64,
    pub purchases: AtomicI64,
    /// Events whose insertion was committed, and told so.
    pub inserted: Mutex<Vec<String>>,
    /// Messages that a queue took.
    pub registrations: Mutex<Vec<Value>>,
}

/// The load of a round.
pub struct Load {
    asked: Arc<Asked>,
    stop: Arc<AtomicBool>,
    running: tokio::task::JoinHandle<()>,
}

impl Asked {
    pub fn in_words(&self) -> String {
        let count = |number: &AtomicI64| number.load(Ordering::Relaxed);
        let (registrations, inserted) =
            (self.registrations.lock().unwrap().len(), self.inserted.lock().unwrap().len());
        format!(
            "{} payments, {} refunds, {} purchases, {registrations} registrations, {inserted} events by SQL",
            count(&self.payments),
            count(&self.refunds),
            count(&self.purchases),
        )
    }
}

impl Load {
    pub fn start(site: Arc<Site>, seed: u64) -> Self {
        let (asked, stop) = (Arc::new(Asked::default()), Arc::new(AtomicBool::new(false)));
        let running = {
            let (asked, stop) = (Arc::clone(&asked), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut random = fastrand::Rng::with_seed(seed);
                let mut wanting = JoinSet::new();
                for number in 1.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let customer = Customer {
                        site: Arc::clone(&site),
                        asked: Arc::clone(&asked),
                        number,
                        random: random.fork(),
                    };
                    if wanting.len() == AT_ONCE {
                        wanting.join_next().await.unwrap().unwrap();
                    }
                    wanting.spawn(customer.want());
                    tokio::time::sleep(PACE).await;
                }
                while let Some(ended) = wanting.join_next().await {
                    ended.unwrap();
                }
            })
        };
        Self { asked, stop, running }
    }

    /// Nobody wants anything new; waits until everybody has an answer.
    pub async fn stop(&mut self) -> Arc<Asked> {
        self.stop.store(true, Ordering::Relaxed);
        (&mut self.running).await.unwrap();
        Arc::clone(&self.asked)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.running.abort();
    }
}

struct Customer {
    site: Arc<Site>,
    asked: Arc<Asked>,
    number: i64,
    random: fastrand::Rng,
}

impl Customer {
    async fn want(mut self) {
        match self.random.u32(0..20) {
            0..=9 => self.pay().await,
            10..=13 => self.buy().await,
            14..=16 => self.register().await,
            _ => self.insert().await,
        }
    }

    /// Asks one process after the other until `answered` finds in the data what it looks for.
    async fn ask<T>(&mut self, query: &str, variables: Value, answered: impl Fn(&Value) -> Option<T>) -> T {
        let (started, mut last) = (Instant::now(), "nothing".to_owned());
        while started.elapsed() < AT_LAST {
            let base = self.random.choice(&self.site.nodes).unwrap().base();
            let actor = Actor::new(base, Some(token(&[Role::Service], "load")));
            if let Ok(Ok(answer)) =
                tokio::time::timeout(ANSWER, actor.try_query(query, variables.clone())).await
            {
                if let Some(found) = answered(&answer["data"]) {
                    return found;
                }
                last = answer.to_string();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("never answered: {query} {variables}; the last answer was {last}");
    }

    async fn pay(&mut self) {
        let card = if self.number % 10 == 0 { DECLINED } else { APPROVED };
        let input = json!({ "input": {
            "idempotencyKey": format!("pay-{}", self.number), "userId": self.number.to_string(), "meetingId": "1",
            "orderName": "A meeting", "amount": 15_000,
            "card": { "number": card, "expirationYear": "30", "expirationMonth": "12", "password": "12", "identityNumber": "900101" },
        } });
        self.asked.payments.fetch_add(1, Ordering::Relaxed);
        let (id, status) = self
            .ask(PAY, input, |data| {
                let payment = &data["createKeyInPayment"]["payment"];
                Some((payment["id"].as_str()?.to_owned(), payment["status"].as_str()?.to_owned()))
            })
            .await;
        if status == "COMPLETED" && self.random.bool() {
            let input = json!({ "input": { "idempotencyKey": format!("refund-{id}"), "paymentId": id, "reason": "ill" } });
            self.ask(REFUND, input, |data| data["refundPayment"]["refund"]["id"].as_str().map(str::to_owned))
                .await;
            self.asked.refunds.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn buy(&mut self) {
        let member = self
            .ask(MEMBER, json!({}), |data| data["upsertMember"]["member"]["id"].as_str().map(str::to_owned))
            .await;
        let variables = request(&format!("buy-{}", self.number), &member, "PG", "coin_100");
        let order = self
            .ask(REQUEST, variables, |data| {
                data["requestCharge"]["charge"]["orderId"].as_str().map(str::to_owned)
            })
            .await;
        let receipt = paid_at_bootpay(&self.site.shop, &order).await;
        let input = json!({ "input": { "orderId": order, "transactionId": receipt } });
        self.ask(VERIFY, input, |data| {
            (data["verify"]["charge"]["paymentStatus"] == "COMPLETE").then_some(())
        })
        .await;
        self.asked.purchases.fetch_add(1, Ordering::Relaxed);
    }

    /// As the meeting service does: until a queue has it.
    async fn register(&mut self) {
        let message = register(2, self.number);
        self.asked.registrations.lock().unwrap().push(message.clone());
        let (url, exchange) = (&self.site.services.amqp_url, format!("{}meeting.events", self.site.prefix));
        let (started, body) = (Instant::now(), message.to_string());
        while !broker::send(url, &exchange, "participant.register", body.as_bytes()).await {
            assert!(started.elapsed() < AT_LAST, "no queue takes registrations");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// As another program does, which thinks better of it every third time.
    async fn insert(&mut self) {
        // What it is told counts: after an error nobody knows, and the table alone says.
        let _unknown = self.insert_once().await;
    }

    async fn insert_once(&mut self) -> Result<(), tokio_postgres::Error> {
        let (mut client, connection) =
            tokio_postgres::connect(&self.site.db.url, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        let transaction = client.transaction().await?;
        let sql = "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
            VALUES ('TESTED', 'TEST', $1, $2, 'chaos.event', '{}') RETURNING event_id::text";
        let row = transaction.query_one(sql, &[&self.number.to_string(), &self.site.exchange()]).await?;
        if self.random.u32(0..3) == 0 {
            return transaction.rollback().await;
        }
        transaction.commit().await?;
        self.asked.inserted.lock().unwrap().push(row.get(0));
        Ok(())
    }
}
