//! What claim and mark, a list's page, a count and a cleanup batch look at as the table grows: pages, cached or not,
//! by the database's own counters.

use std::time::Duration;

use paydesk::httpclient::HttpClient;
use serde_json::json;

use crate::{Scale, graphql::Api, report::Figure, setup::Bench};

/// Events that are claimed and marked, in one batch of the publisher as far as they come together.
const EVENTS: i32 = 1_000;
/// Times that each query is asked.
const ASKED: u32 = 20;
/// The statistics of the sessions are complete after this long without work.
const STATISTICS: Duration = Duration::from_secs(11);
const LIST: &str = "{ outboxEvents(first: 50) { nodes { id eventId eventType aggregateType aggregateId status retryCount createdAt updatedAt publishedAt exchange routingKey } } }";
const COUNT: &str = "{ outboxEvents(first: 1, filter: { status: [PUBLISHED] }) { count { value } } }";

pub async fn measure(scale: Scale) -> Vec<Figure> {
    let sizes = scale.of(&[10_000, 1_000_000, 5_000_000], &[10_000, 200_000]);
    let bench = Bench::new().await;
    let (mut few, mut figures) = (None, Vec::new());
    let mut rows = 0;
    for size in sizes {
        fill(&bench, rows, *size).await;
        rows = *size;
        let costs = costs(&bench).await;
        let limit = few.get_or_insert_with(|| costs.clone()).clone();
        for ((what, cost), (_, least)) in costs.into_iter().zip(limit) {
            let name = format!("{what}, {size} rows");
            figures.push(Figure {
                name,
                unit: "pages",
                product: vec![cost],
                limit: vec![least],
                target: "≤ 1.5",
            });
        }
    }
    bench.remove().await;
    figures
}

/// PUBLISHED rows up to `to`, ten a second, later ones after earlier ones; the indexes made anew, since that is quicker.
pub async fn fill(bench: &Bench, from: i32, to: i32) {
    let indexes = bench
        .client
        .query("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'payment_outbox' AND indexname NOT LIKE '%\\_pk'", &[])
        .await
        .unwrap();
    let definitions: Vec<(String, String)> = indexes.iter().map(|row| (row.get(0), row.get(1))).collect();
    let mut later = Vec::new();
    for (name, definition) in definitions {
        if bench.client.batch_execute(&format!("DROP INDEX {name}")).await.is_ok() {
            later.push(definition);
        }
    }
    for start in (from..to).step_by(500_000) {
        let end = (start + 500_000).min(to);
        let sql = format!(
            "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status,
                                         processing_started_at, published_at, created_at)
             SELECT 'BENCH', 'PAYMENT', n::text, '', 'bench', json_build_object('text', repeat('x', 300)), 'PUBLISHED', at, at, at
             FROM (SELECT n, date_trunc('week', now()) - interval '7 days' + n * interval '0.1 seconds' AS at FROM generate_series({start} + 1, {end}) n) s"
        );
        bench.client.batch_execute(&sql).await.unwrap();
    }
    for definition in later {
        bench.client.batch_execute(&definition).await.unwrap();
    }
    bench.settle().await;
}

/// Pages looked at: for an event's claim and mark, a page of the list, a count, a row's cleanup.
async fn costs(bench: &Bench) -> Vec<(&'static str, f64)> {
    let app = bench.app(&[]).await;
    let server = app.listen().await.unwrap();
    let api = Api::new(HttpClient::new(Duration::from_secs(30), None).unwrap(), &server.addr.to_string());
    // What is prepared and cached once is not part of it.
    for query in [LIST, COUNT] {
        api.query(query, json!({})).await;
    }
    let (idle, before) = (pages(bench).await, pages(bench).await);
    // What the process looks at by itself meanwhile: gauges, overview.
    let by_itself = before - idle;
    let sql = "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
               SELECT 'BENCH', 'BENCH', n::text, $1, 'bench', '1' FROM generate_series(1, $2) n";
    bench.client.execute(sql, &[&bench.exchange(), &EVENTS]).await.unwrap();
    let inserted = pages(bench).await;
    bench.all_published().await;
    let claimed = pages(bench).await;
    // As autovacuum keeps the table: the versions that were replaced are gone.
    bench.settle().await;
    let settled = pages(bench).await;
    for _ in 0..ASKED {
        api.query(LIST, json!({})).await;
    }
    let listed = pages(bench).await;
    for _ in 0..ASKED {
        api.query(COUNT, json!({})).await;
    }
    let counted = pages(bench).await;
    assert!(server.stop().await && app.shut_down().await);
    // As the cleanup deletes them, with as many that are old.
    let old = "WITH old AS (SELECT id FROM payment_outbox WHERE status = 'PUBLISHED' ORDER BY published_at, id LIMIT 1000)
               UPDATE payment_outbox SET published_at = published_at - interval '31 days' FROM old WHERE payment_outbox.id = old.id";
    bench.client.batch_execute(old).await.unwrap();
    let aged = pages(bench).await;
    let cleanup = "DELETE FROM payment_outbox WHERE status = 'PUBLISHED' AND id = ANY (ARRAY(
        SELECT id FROM payment_outbox WHERE status = 'PUBLISHED' AND published_at < now() - interval '30 days'
        ORDER BY published_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED))";
    let deleted = bench.client.execute(cleanup, &[]).await.unwrap();
    assert_eq!(deleted, 1000);
    let cleaned = pages(bench).await;
    let (events, asked) = (f64::from(EVENTS), f64::from(ASKED));
    vec![
        ("claim and mark, each event", ((claimed - inserted).max(inserted - before) - by_itself) / events),
        ("a list's page", (listed - settled - by_itself) / asked),
        ("a count", (counted - listed - by_itself) / asked),
        ("cleanup, each row", (cleaned - aged) / 1000.0),
    ]
}

/// Pages of the table and its indexes that all sessions have looked at so far.
async fn pages(bench: &Bench) -> f64 {
    bench.client.batch_execute("SELECT pg_stat_force_next_flush()").await.unwrap();
    tokio::time::sleep(STATISTICS).await;
    let sql = "SELECT (heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::float8
               FROM pg_statio_user_tables WHERE relname = 'payment_outbox'";
    bench.client.query_one(sql, &[]).await.unwrap().get(0)
}
