//! From an event's commit to its PUBLISHED mark, beside a bare claim commit, confirm and mark commit.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use lapin::{BasicProperties, options::BasicPublishOptions};
use metrics::{Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use paydesk::{app::App, outbox::NewOutboxEvent};
use uuid::Uuid;

use crate::{
    ROUNDS, Scale,
    report::{Figure, percentile},
    setup::Bench,
};

/// How long each round goes on.
const SECONDS: u64 = 6;

static LATENCIES: Latencies = Latencies(Mutex::new(Vec::new()));

/// The publisher's own measure, value by value.
struct Latencies(Mutex<Vec<f64>>);

impl HistogramFn for Latencies {
    fn record(&self, seconds: f64) {
        LATENCIES.0.lock().unwrap().push(seconds);
    }
}

struct OnlyLatencies;

impl Recorder for OnlyLatencies {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        if key.name() == "paydesk_outbox_publish_seconds" {
            Histogram::from_arc(Arc::new(Latencies(Mutex::default())))
        } else {
            Histogram::noop()
        }
    }
}

/// Has every published event's latency kept.
pub fn record_latencies() {
    metrics::set_global_recorder(OnlyLatencies).unwrap_or_else(|error| panic!("{error}"));
}

fn milliseconds(seconds: f64) -> f64 {
    seconds * 1000.0
}

/// A body of about 1 KiB.
pub fn data() -> serde_json::Value {
    serde_json::json!({ "text": "x".repeat(900) })
}

pub async fn measure(scale: Scale) -> Vec<Figure> {
    let mut figures = Vec::new();
    for &rate in scale.of(&[50_u32, 200, 500], &[50, 200]) {
        let (mut p50, mut p99) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for _round in 0..ROUNDS {
            let mut product = product(rate).await;
            let mut bare = bare(rate).await;
            p50.0.push(milliseconds(percentile(&mut product, 50)));
            p50.1.push(milliseconds(percentile(&mut bare, 50)));
            p99.0.push(milliseconds(percentile(&mut product, 99)));
            p99.1.push(milliseconds(percentile(&mut bare, 99)));
        }
        let name = |which: &str| format!("commit → PUBLISHED at {rate}/s, {which}");
        figures
            .push(Figure { name: name("p50"), unit: "ms", product: p50.0, limit: p50.1, target: "≤ 1.5" });
        figures
            .push(Figure { name: name("p99"), unit: "ms", product: p99.0, limit: p99.1, target: "≤ 2.5" });
    }
    figures
}

fn events(rate: u32) -> u64 {
    u64::from(rate) * SECONDS
}

fn ticks(rate: u32) -> tokio::time::Interval {
    tokio::time::interval(Duration::from_secs(1) / rate)
}

async fn product(rate: u32) -> Vec<f64> {
    let bench = Bench::new().await;
    let app = bench.app(&[]).await;
    for _warm_up in 0..50 {
        enqueue(&app, &bench).await;
    }
    bench.all_published().await;
    LATENCIES.0.lock().unwrap().clear();
    let mut ticks = ticks(rate);
    for _ in 0..events(rate) {
        ticks.tick().await;
        enqueue(&app, &bench).await;
    }
    bench.all_published().await;
    assert!(app.shut_down().await);
    bench.remove().await;
    std::mem::take(&mut *LATENCIES.0.lock().unwrap())
}

async fn enqueue(app: &App, bench: &Bench) {
    let mut tx = app.db.begin().await.unwrap();
    let event = NewOutboxEvent {
        event_type: "BENCH",
        aggregate_type: "BENCH",
        aggregate_id: "1".to_owned(),
        exchange: bench.exchange(),
        routing_key: "bench",
        flow_id: Uuid::new_v4(),
        occurred_at: chrono::DateTime::UNIX_EPOCH,
        traceparent: None,
        data: data(),
    };
    app.outbox.enqueue(&mut tx, event).await.unwrap();
    tx.commit().await.unwrap();
}

/// The same table, messages and confirms, without anything around them.
async fn bare(rate: u32) -> Vec<f64> {
    let bench = Bench::new().await;
    let channel = bench.confirm_channel().await;
    let insert = "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
                  VALUES ('BENCH', 'BENCH', '1', $1, 'bench', $2::text::json) RETURNING id";
    let insert = bench.client.prepare(insert).await.unwrap();
    let claim = "UPDATE payment_outbox SET status = 'PROCESSING', claim_token = gen_random_uuid(), processing_started_at = now()
                 WHERE id = $1 AND status = 'PENDING' RETURNING payload::text";
    let claim = bench.client.prepare(claim).await.unwrap();
    let mark = "UPDATE payment_outbox SET status = 'PUBLISHED', published_at = now() WHERE id = $1";
    let mark = bench.client.prepare(mark).await.unwrap();
    let exchange = bench.exchange();
    let (mut latencies, mut ticks) = (Vec::new(), ticks(rate));
    for _ in 0..events(rate) {
        ticks.tick().await;
        let id: i64 =
            bench.client.query_one(&insert, &[&exchange, &data().to_string()]).await.unwrap().get(0);
        let committed = Instant::now();
        let payload: String = bench.client.query_one(&claim, &[&id]).await.unwrap().get(0);
        let properties =
            BasicProperties::default().with_delivery_mode(2).with_message_id(id.to_string().into());
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let published = channel.basic_publish(
            exchange.as_str().into(),
            "bench".into(),
            options,
            payload.as_bytes(),
            properties,
        );
        assert!(published.await.unwrap().await.unwrap().is_ack());
        bench.client.execute(&mark, &[&id]).await.unwrap();
        latencies.push(committed.elapsed().as_secs_f64());
    }
    bench.remove().await;
    latencies
}
