//! Payments over GraphQL: with a provider that answers at once, beside bare inserts of a payment and its event; with a
//! slow one, beside as many as can be under way, and how long a query takes meanwhile.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use paydesk::{httpclient::HttpClient, simulator::Simulator};
use serde_json::{Value, json};

use crate::{
    ROUNDS, Scale,
    graphql::Api,
    report::{Figure, percentile},
    setup::{Bench, connect},
};

const PAYMENTS: u32 = 4_000;
/// Payments before, so that connections, plans and caches are there, as the limit's are.
const WARM_UP: u32 = 500;
const CREATE: &str = "mutation ($input: CreateKeyInPaymentInput!) { createKeyInPayment(input: $input) { payment { status } userErrors { code } } }";

/// How the payments come, and what they meet.
#[derive(Clone, Copy)]
struct Load {
    at_once: u16,
    /// What the provider takes for one.
    delay_ms: u32,
    /// Connections to the database.
    pool: u16,
}

const QUICK_PROVIDER: Load = Load { at_once: 32, delay_ms: 0, pool: 16 };
const SLOW_PROVIDERS: [Load; 2] =
    [Load { at_once: 32, delay_ms: 200, pool: 16 }, Load { at_once: 500, delay_ms: 1_000, pool: 8 }];

pub async fn measure(scale: Scale) -> Vec<Figure> {
    let (mut product, mut limit) = (Vec::new(), Vec::new());
    for _round in 0..ROUNDS {
        product.push(paid(QUICK_PROVIDER).await.0);
        limit.push(f64::from(PAYMENTS) / inserted(QUICK_PROVIDER.at_once).await);
    }
    let name = format!("payments, {} at once, provider 0 ms", QUICK_PROVIDER.at_once);
    let mut figures = vec![Figure { name, unit: "per s", product, limit, target: "≥ 0.45" }];
    for &load in scale.of(&SLOW_PROVIDERS, &[]) {
        let Load { at_once, delay_ms, pool } = load;
        let (mut product, mut queries) = (Vec::new(), Vec::new());
        for _round in 0..ROUNDS {
            let (rate, mut waits) = paid(load).await;
            product.push(rate);
            queries.push(percentile(&mut waits, 99));
        }
        let name = format!("payments, {at_once} at once, {delay_ms} ms, pool of {pool}");
        let limit = vec![f64::from(at_once) * 1000.0 / f64::from(delay_ms); ROUNDS];
        figures.push(Figure { name, unit: "per s", product, limit, target: "–" });
        let name = "a list meanwhile, p99".to_owned();
        figures.push(Figure { name, unit: "ms", product: queries, limit: Vec::new(), target: "–" });
    }
    figures
}

/// Does `one` for each of `PAYMENTS` numbers after those of the warm-up, one a worker at a time; the seconds it took.
async fn in_parallel<W, F>(workers: Vec<W>, one: impl Fn(Arc<W>, u32) -> F) -> f64
where
    F: Future<Output = ()>,
{
    let workers: Vec<Arc<W>> = workers.into_iter().map(Arc::new).collect();
    let work = async |numbers: std::ops::Range<u32>| {
        let (next, end) = (AtomicU32::new(numbers.start), numbers.end);
        let (next, one) = (&next, &one);
        let worker = |worker: &Arc<W>| {
            let worker = Arc::clone(worker);
            async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= end {
                        return;
                    }
                    one(Arc::clone(&worker), number).await;
                }
            }
        };
        join_all(workers.iter().map(worker)).await;
    };
    work(0..WARM_UP).await;
    let started = Instant::now();
    work(WARM_UP..WARM_UP + PAYMENTS).await;
    started.elapsed().as_secs_f64()
}

fn input(number: u32) -> Value {
    json!({ "input": {
        "idempotencyKey": format!("bench-{number}"), "userId": "1", "meetingId": (number + 1).to_string(), "orderName": "A meeting", "amount": 1000,
        "card": { "number": "4330000000000001", "expirationYear": "30", "expirationMonth": "12", "password": "12", "identityNumber": "900101" },
    } })
}

/// Answered mutations a second, while the events are published; and what a list took meanwhile, in milliseconds.
async fn paid(load: Load) -> (f64, Vec<f64>) {
    let bench = Bench::new().await;
    let simulator = Simulator::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = HttpClient::new(Duration::from_secs(30), None).unwrap();
    if load.delay_ms > 0 {
        let times = PAYMENTS + WARM_UP;
        let behaviour =
            json!({ "gateway": "toss", "operation": "key-in", "times": times, "delayMs": load.delay_ms });
        let url = format!("{}/_control/behaviours", simulator.base_url());
        client.post_json(&url, &[], behaviour.to_string().into_bytes()).await.unwrap();
    }
    let settings = [
        format!("toss-url={}/toss", simulator.base_url()),
        "toss-secret-key=test_sk_sim0000000000000000".to_owned(),
        "rate-limit-service=1000000".to_owned(),
        format!("db-pool-size={}", load.pool),
    ];
    let app = bench.app(&settings).await;
    let server = app.listen().await.unwrap();
    let api = Api::new(client, &server.addr.to_string());
    let (done, is_done) = tokio::sync::oneshot::channel();
    let queries = tokio::spawn(list_until(api.clone(), is_done));
    let seconds = in_parallel(vec![api; usize::from(load.at_once)], |api, number| async move {
        let answer = api.query(CREATE, input(number)).await;
        assert_eq!(answer["createKeyInPayment"]["payment"]["status"], "COMPLETED", "{answer}");
    })
    .await;
    done.send(()).unwrap();
    let waits = queries.await.unwrap();
    bench.all_published().await;
    assert!(server.stop().await && app.shut_down().await);
    simulator.stop().await;
    bench.remove().await;
    (f64::from(PAYMENTS) / seconds, waits)
}

/// Asks for a page of the payments twenty times a second.
async fn list_until(api: Api, mut is_done: tokio::sync::oneshot::Receiver<()>) -> Vec<f64> {
    let mut waits = Vec::new();
    let mut ticks = tokio::time::interval(Duration::from_millis(50));
    while is_done.try_recv().is_err() {
        ticks.tick().await;
        let asked = Instant::now();
        api.query("{ payments(first: 50) { nodes { id status amount createdAt } } }", json!({})).await;
        waits.push(asked.elapsed().as_secs_f64() * 1000.0);
    }
    waits
}

async fn inserted(sessions_at_once: u16) -> f64 {
    let bench = Bench::new().await;
    let mut sessions = Vec::new();
    for _ in 0..sessions_at_once {
        let client = connect(&bench.database_url).await;
        let payment = "INSERT INTO payment (order_id, user_id, meeting_id, order_name, amount, status, payment_key, idempotency_key, completed_at)
                       VALUES ($1, 1, $2, 'A meeting', 1000, 'COMPLETED', $1, $1, now())";
        let payment = client.prepare(payment).await.unwrap();
        let event = "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
                     VALUES ('PAYMENT_COMPLETED', 'PAYMENT', $1, 'payment.events', 'payment.completed', $2::text::json)";
        let event = client.prepare(event).await.unwrap();
        sessions.push((client, payment, event));
    }
    let seconds = in_parallel(sessions, |session, number| async move {
        let (client, payment, event) = &*session;
        let order = format!("bench-{number}");
        client.batch_execute("BEGIN").await.unwrap();
        client.execute(payment, &[&order, &i64::from(number + 1)]).await.unwrap();
        client.execute(event, &[&order, &input(number).to_string()]).await.unwrap();
        client.batch_execute("COMMIT").await.unwrap();
    })
    .await;
    bench.remove().await;
    seconds
}
