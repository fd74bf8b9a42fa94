//! A backlog delivered, beside bare confirms of the same messages.

use std::time::Instant;

use futures_util::future::join_all;
use lapin::{BasicProperties, Channel, options::BasicPublishOptions};

use crate::{ROUNDS, latency::data, report::Figure, setup::Bench};

const BACKLOG: u32 = 20_000;
/// As many as the publisher has, and its messages in flight.
const CHANNELS: usize = 4;
const WINDOW: usize = 256;

pub async fn measure() -> Figure {
    let (mut product, mut limit) = (Vec::new(), Vec::new());
    for _round in 0..ROUNDS {
        product.push(f64::from(BACKLOG) / drain().await);
        limit.push(f64::from(BACKLOG) / bare().await);
    }
    Figure { name: format!("drain of {BACKLOG} events"), unit: "per s", product, limit, target: "≥ 0.70" }
}

/// Seconds from the first claim to the last mark, by the database's clock.
async fn drain() -> f64 {
    let bench = Bench::new().await;
    let sql = "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
               SELECT 'BENCH', 'BENCH', n::text, $1, 'bench', $2::text::json FROM generate_series(1, $3) n";
    let rows = i32::try_from(BACKLOG).unwrap();
    bench.client.execute(sql, &[&bench.exchange(), &data().to_string(), &rows]).await.unwrap();
    bench.client.batch_execute("ANALYZE payment_outbox").await.unwrap();
    let app = bench.app(&[]).await;
    bench.all_published().await;
    let took = "SELECT extract(epoch FROM max(published_at) - min(processing_started_at))::float8 FROM payment_outbox
                WHERE status = 'PUBLISHED' HAVING count(*) = $1";
    let seconds = bench.client.query_one(took, &[&i64::from(BACKLOG)]).await.unwrap().get(0);
    assert!(app.shut_down().await);
    bench.remove().await;
    seconds
}

async fn bare() -> f64 {
    let bench = Bench::new().await;
    let (exchange, body) = (bench.exchange(), data().to_string().into_bytes());
    let mut channels = Vec::new();
    for _ in 0..CHANNELS {
        channels.push(bench.confirm_channel().await);
    }
    let started = Instant::now();
    let share = usize::try_from(BACKLOG).unwrap() / CHANNELS;
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
