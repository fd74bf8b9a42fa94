//! The memory of a process that drains a long backlog while one batch of a hundred is not confirmed in time.

use std::time::{Duration, Instant};

use crate::{
    Scale,
    idle::{resident_mib, serve},
    proxy::Proxy,
    report::{Figure, percentile},
    setup::Bench,
};

/// Events of one batch of the publisher at its defaults.
const BATCH: i64 = 256;
/// Batches that are in flight at once, and so time out together.
const TOGETHER: i64 = 4;
/// Inserted at a time, so that the table's own upkeep has a share of the time.
const PORTION: i64 = 20_000;

pub async fn measure(scale: Scale) -> Figure {
    let events: i64 = scale.pick(1_000_000, 100_000);
    let bench = Bench::new().await;
    let (proxy, amqp_url) = Proxy::before(&bench.amqp_url).await;
    let settings = ["--outbox-confirm-timeout=200ms", "--outbox-pending-interval=1s", "--log=error"];
    let server = serve(&bench, &amqp_url, &settings).await;
    let freeze_every = BATCH * 100 * TOGETHER;
    let (mut memory, mut next_freeze, mut timeouts) = (Vec::new(), freeze_every / 2, 0);
    let started = Instant::now();
    for portion in 1..=events / PORTION {
        let sql = "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
                   SELECT 'BENCH', 'BENCH', n::text, $1, 'bench', json_build_object('text', repeat('x', 900))
                   FROM generate_series(1, $2::bigint) n";
        bench.client.execute(sql, &[&bench.exchange(), &PORTION]).await.unwrap();
        while published(&bench).await < portion * PORTION {
            if published(&bench).await >= next_freeze {
                next_freeze += freeze_every;
                timeouts += TOGETHER;
                proxy.freeze();
                tokio::time::sleep(Duration::from_millis(600)).await;
                proxy.pass();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        memory.push(resident_mib(server.id()));
        let row = format!(
            "{:>9} events, {timeouts:>3} batches timed out, {:>6.1} MiB",
            portion * PORTION,
            memory[memory.len() - 1]
        );
        println!("{row}, {:.0} s", started.elapsed().as_secs_f64());
    }
    drop(server);
    bench.remove().await;
    // The first tenth warms up: pools, prepared statements, the allocator. The rest is held against its own median.
    let mut warm = memory.split_off(memory.len() / 10);
    let product = warm.clone();
    Figure {
        name: format!("memory over {events} events, 1 % timed out"),
        unit: "MiB",
        limit: vec![percentile(&mut warm, 50); product.len()],
        product,
        target: "0.9–1.1",
    }
}

async fn published(bench: &Bench) -> i64 {
    // By the ids, which are in order here: a count of a million rows would be work of its own.
    let sql = "SELECT coalesce(max(id), 0) - (SELECT count(*) FROM payment_outbox WHERE status IN ('PENDING', 'PROCESSING', 'FAILED'))
               FROM payment_outbox";
    bench.client.query_one(sql, &[]).await.unwrap().get(0)
}
