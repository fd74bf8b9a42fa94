//! Payments over GraphQL with a provider that answers at once, beside bare inserts of a payment and its event.

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
    graphql::token,
    report::Figure,
    setup::{Bench, connect},
};

const CONCURRENCY: usize = 32;
const PAYMENTS: u32 = 4_000;
/// Payments before, so that connections, plans and caches are there, as the limit's are.
const WARM_UP: u32 = 500;
const CREATE: &str = "mutation ($input: CreateKeyInPaymentInput!) { createKeyInPayment(input: $input) { payment { status } userErrors { code } } }";

pub async fn measure(scale: Scale) -> Vec<Figure> {
    let mut figures = Vec::new();
    for &delay in scale.of(&[0_u64, 200], &[0]) {
        let (mut product, mut limit) = (Vec::new(), Vec::new());
        for _round in 0..ROUNDS {
            product.push(f64::from(PAYMENTS) / paid(delay).await);
            limit.push(f64::from(PAYMENTS) / inserted().await);
        }
        let name = format!("payments at once {CONCURRENCY}, provider {delay} ms");
        let target = if delay == 0 { "≥ 0.45" } else { "–" };
        figures.push(Figure { name, unit: "per s", product, limit, target });
    }
    figures
}

/// Does `one` for each of `PAYMENTS` numbers after those of the warm-up, `CONCURRENCY` at a time; the seconds it took.
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

/// Answered mutations: the events are published meanwhile.
async fn paid(delay_ms: u64) -> f64 {
    let bench = Bench::new().await;
    let simulator = Simulator::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = HttpClient::new(Duration::from_secs(30), None).unwrap();
    if delay_ms > 0 {
        let behaviour = json!({ "gateway": "toss", "operation": "key-in", "times": PAYMENTS + WARM_UP, "delayMs": delay_ms });
        let url = format!("{}/_control/behaviours", simulator.base_url());
        client.post_json(&url, &[], behaviour.to_string().into_bytes()).await.unwrap();
    }
    let settings = [
        format!("toss-url={}/toss", simulator.base_url()),
        "toss-secret-key=test_sk_sim0000000000000000".to_owned(),
        "rate-limit-service=1000000".to_owned(),
    ];
    let app = bench.app(&settings).await;
    let server = app.listen().await.unwrap();
    let token = token();
    let (url, authorization) = (format!("http://{}/graphql", server.addr), format!("Bearer {token}"));
    let seconds = in_parallel(vec![client; CONCURRENCY], |client, number| {
        let (url, authorization) = (&url, &authorization);
        async move {
            let body = json!({ "query": CREATE, "variables": input(number) }).to_string().into_bytes();
            let headers = [("authorization", authorization.as_str())];
            let answer = client.post_json(url, &headers, body).await.unwrap();
            let answer: Value = serde_json::from_slice(&answer.body).unwrap();
            assert_eq!(answer["data"]["createKeyInPayment"]["payment"]["status"], "COMPLETED", "{answer}");
        }
    })
    .await;
    bench.all_published().await;
    assert!(server.stop().await && app.shut_down().await);
    simulator.stop().await;
    bench.remove().await;
    seconds
}

async fn inserted() -> f64 {
    let bench = Bench::new().await;
    let mut sessions = Vec::new();
    for _ in 0..CONCURRENCY {
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
