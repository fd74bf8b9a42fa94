//! A backlog delivered, beside bare confirms of the same messages.

use std::time::Instant;

use futures_util::future::join_all;
use lapin::{BasicProperties, Channel, options::BasicPublishOptions};

use uuid::Uuid;

use crate::{ROUNDS, Scale, latency::data, report::Figure, setup::Bench};

/// As many as the publisher has, and its messages in flight.
const CHANNELS: usize = 4;
const WINDOW: usize = 256;

pub async fn measure(scale: Scale) -> [Figure; 3] {
    let events = scale.pick(100_000, 20_000);
    let (mut product, mut confirms, mut marks) = (Vec::new(), Vec::new(), Vec::new());
    for _round in 0..ROUNDS {
        product.push(f64::from(events) / drain(events).await);
        confirms.push(f64::from(events) / bare_confirms(events).await);
        marks.push(f64::from(events) / bare_marks(events).await);
    }
    // Broker, database and publisher share the machine: what confirms and claims take one after the other is the floor of both.
    let both =
        confirms.iter().zip(&marks).map(|(confirms, marks)| 1.0 / (1.0 / confirms + 1.0 / marks)).collect();
    let figure = |beside: &str, limit, target| Figure {
        name: format!("drain of {events}, beside {beside}"),
        unit: "per s",
        product: product.clone(),
        limit,
        target,
    };
    [
        figure("confirms", confirms, "≥ 0.70"),
        figure("claims and marks", marks, "–"),
        figure("both", both, "–"),
    ]
}

/// PENDING events that nobody has handed over, with ids in the order of time as Paydesk's own are.
pub async fn backlog(bench: &Bench, events: i32) {
    let sql = "INSERT INTO payment_outbox (event_id, flow_id, event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
               SELECT id, id, 'BENCH', 'BENCH', n::text, $1, 'bench', $2::text::json
               FROM (SELECT n, ('019b0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id FROM generate_series(1, $3) n) s";
    bench.client.execute(sql, &[&bench.exchange(), &data().to_string(), &events]).await.unwrap();
    bench.settle().await;
}

/// Seconds from the first claim to the last mark, by the database's clock.
async fn drain(events: i32) -> f64 {
    let bench = Bench::new().await;
    backlog(&bench, events).await;
    let app = bench.app(&[]).await;
    bench.all_published().await;
    let took = "SELECT extract(epoch FROM max(published_at) - min(processing_started_at))::float8 FROM payment_outbox
                WHERE status = 'PUBLISHED' HAVING count(*) = $1";
    let seconds = bench.client.query_one(took, &[&i64::from(events)]).await.unwrap().get(0);
    assert!(app.shut_down().await);
    bench.remove().await;
    seconds
}

/// The publisher's two statements on the same rows, as many at a time, without a broker.
async fn bare_marks(events: i32) -> f64 {
    let bench = Bench::new().await;
    backlog(&bench, events).await;
    let share = events / i32::try_from(CHANNELS).unwrap();
    let worker = async |first: i32| {
        let client = crate::setup::connect(&bench.database_url).await;
        let claim = "WITH due AS MATERIALIZED (
                 SELECT id FROM payment_outbox WHERE id = ANY($1) AND NOT suspect AND status = 'PENDING' ORDER BY id FOR UPDATE SKIP LOCKED
             )
             UPDATE payment_outbox o SET status = 'PROCESSING', claim_token = $2::text::uuid, claimed_by = 'bench', processing_started_at = now(),
                 updated_at = now(), claim_trigger = 'SCHEDULED'
             FROM due WHERE o.id = due.id RETURNING o.id, event_id, payload::text";
        let claim = client.prepare(claim).await.unwrap();
        let mark = "UPDATE payment_outbox o SET status = 'PUBLISHED', published_at = now(), updated_at = now()
             FROM unnest($1::bigint[]) AS mark (id) WHERE o.id = mark.id AND o.claim_token = $2::text::uuid AND (o.status <> 'PUBLISHED') IS TRUE";
        let mark = client.prepare(mark).await.unwrap();
        for start in (first..first + share).step_by(WINDOW) {
            let ids: Vec<i64> =
                (start..(first + share).min(start + i32::try_from(WINDOW).unwrap())).map(i64::from).collect();
            let token = Uuid::new_v4().to_string();
            client.query(&claim, &[&ids, &token]).await.unwrap();
            client.execute(&mark, &[&ids, &token]).await.unwrap();
        }
    };
    let started = Instant::now();
    join_all((0..CHANNELS).map(|number| worker(1 + i32::try_from(number).unwrap() * share))).await;
    let seconds = started.elapsed().as_secs_f64();
    bench.remove().await;
    seconds
}

async fn bare_confirms(events: i32) -> f64 {
    let bench = Bench::new().await;
    let (exchange, body) = (bench.exchange(), data().to_string().into_bytes());
    let mut channels = Vec::new();
    for _ in 0..CHANNELS {
        channels.push(bench.confirm_channel().await);
    }
    let started = Instant::now();
    let share = usize::try_from(events).unwrap() / CHANNELS;
    join_all(channels.iter().map(|channel| send(channel, &exchange, &body, share))).await;
    let seconds = started.elapsed().as_secs_f64();
    bench.remove().await;
    seconds
}

async fn send(channel: &Channel, exchange: &str, body: &[u8], mut messages: usize) {
    while messages > 0 {
        let batch = messages.min(WINDOW);
        let mut confirms = Vec::with_capacity(batch);
        for number in 0..batch {
            let properties =
                BasicProperties::default().with_delivery_mode(2).with_message_id(number.to_string().into());
            let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
            let sent = channel.basic_publish(exchange.into(), "bench".into(), options, body, properties);
            confirms.push(sent.await.unwrap());
        }
        for confirm in confirms {
            assert!(confirm.await.unwrap().is_ack());
        }
        messages -= batch;
    }
}
