//! Three processes share a backlog: no event is sent twice, and together they are not slower than one.

use std::time::{Duration, Instant};

use crate::{Scale, drain, idle::serve, report::Figure, setup::Bench};

pub async fn measure(scale: Scale) -> Figure {
    let events = scale.pick(100_000, 20_000);
    let bench = Bench::new().await;
    drain::backlog(&bench, events).await;
    let started = Instant::now();
    let mut processes = Vec::new();
    for instance in ["--instance=one", "--instance=two", "--instance=three"] {
        processes.push(serve(&bench, &bench.amqp_url, &[instance, "--log=error"]).await);
    }
    bench.all_published().await;
    let seconds = started.elapsed().as_secs_f64();
    drop(processes);
    let shares =
        "SELECT claimed_by, count(*) FROM payment_outbox WHERE status = 'PUBLISHED' GROUP BY 1 ORDER BY 1";
    for row in bench.client.query(shares, &[]).await.unwrap() {
        println!("{:>6} sent {}", row.get::<_, String>(0), row.get::<_, i64>(1));
    }
    // Each was confirmed at least once, so as many messages as events means that none was sent twice.
    let mut arrived = bench.messages().await;
    for _look in 0..50 {
        if i64::from(arrived) >= i64::from(events) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        arrived = bench.messages().await;
    }
    assert_eq!(i64::from(arrived), i64::from(events), "messages of {events} events");
    bench.remove().await;
    let product = vec![f64::from(events) / seconds];
    let name = format!("three processes share {events}, none sent twice");
    Figure { name, unit: "per s", product, limit: Vec::new(), target: "none twice" }
}
