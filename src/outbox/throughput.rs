use std::time::Duration;

use diesel::{
    QueryableByName,
    sql_types::{BigInt, Double, Nullable, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::{
    db::{DbError, Minute, Statement},
    types::Instant,
};

/// How fast events were published lately.
#[derive(Debug, Clone, Copy, PartialEq, QueryableByName)]
pub struct PublishLatency {
    /// Half of them were at least so fast, in milliseconds from their writing to the broker's confirm.
    #[diesel(sql_type = Nullable<Double>)]
    pub p50: Option<f64>,
    /// 99 of 100 were.
    #[diesel(sql_type = Nullable<Double>)]
    pub p99: Option<f64>,
}

/// Looks at the newest thousand that were published within `since`; nothing if there were none.
pub async fn publish_latency(
    conn: &mut AsyncPgConnection,
    since: Duration,
) -> Result<PublishLatency, DbError> {
    let statement = Statement::new(
        "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY took) AS p50, percentile_disc(0.99) WITHIN GROUP (ORDER BY took) AS p99
         FROM (SELECT extract(epoch FROM published_at - created_at)::float8 * 1000 AS took FROM payment_outbox
               WHERE status = 'PUBLISHED' AND published_at >= now() - $1 * interval '1 second'
               ORDER BY published_at DESC, id DESC LIMIT 1000) newest",
    )
    .bind::<BigInt, _>(i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
    Ok(statement.get_result(conn).await?)
}

/// How many were published in each minute from `since` on, the newest minute first, looking at `limit` of them at most.
pub async fn published_per_minute(
    conn: &mut AsyncPgConnection,
    since: Instant,
    limit: i64,
) -> Result<Vec<Minute>, DbError> {
    let statement = Statement::new(
        "SELECT date_trunc('minute', published_at) AS at, count(*) AS value
         FROM (SELECT published_at FROM payment_outbox WHERE status = 'PUBLISHED' AND published_at >= $1
               ORDER BY published_at DESC LIMIT $2) newest
         GROUP BY 1 ORDER BY 1 DESC",
    )
    .bind::<Timestamptz, _>(since)
    .bind::<BigInt, _>(limit);
    Ok(statement.get_results(conn).await?)
}
