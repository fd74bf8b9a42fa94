use std::ops::RangeInclusive;

use diesel::{
    OptionalExtension, QueryableByName,
    result::QueryResult,
    sql_types::{BigInt, Bool},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::db::{Database, DbError, Statement};

/// Failures that get their position in one transaction.
const BATCH: i64 = 1_000;

#[derive(QueryableByName)]
struct Last {
    #[diesel(sql_type = BigInt)]
    last: i64,
}

#[derive(QueryableByName)]
struct Waiting {
    #[diesel(sql_type = Bool)]
    waiting: bool,
}

/// Gives every visible failure its position, and adds those that it numbered to `numbered`. One process numbers at a
/// time; who finds another at it leaves it to that one.
pub(super) async fn number_visible(
    db: &Database,
    numbered: &mut Vec<RangeInclusive<i64>>,
) -> Result<(), DbError> {
    while any_waiting(&mut *db.conn().await?).await? {
        let mut tx = db.begin().await?;
        let Some(last) = lock_feed(tx.conn()).await? else { return Ok(()) };
        let now_last = number(tx.conn(), last).await?;
        tx.commit().await?;
        numbered.push(last + 1..=now_last);
        if now_last - last < BATCH {
            return Ok(());
        }
    }
    Ok(())
}

async fn any_waiting(conn: &mut AsyncPgConnection) -> QueryResult<bool> {
    let statement = Statement::new("SELECT EXISTS (SELECT 1 FROM failure WHERE position IS NULL) AS waiting");
    Ok(statement.get_result::<Waiting>(conn).await?.waiting)
}

async fn lock_feed(conn: &mut AsyncPgConnection) -> QueryResult<Option<i64>> {
    let statement = Statement::new("SELECT last FROM failure_feed WHERE id = 1 FOR UPDATE SKIP LOCKED");
    Ok(statement.get_result::<Last>(conn).await.optional()?.map(|row| row.last))
}

/// Runs after the lock, in a statement and so a snapshot of its own: it sees all that the previous numberer did.
async fn number(conn: &mut AsyncPgConnection, last: i64) -> QueryResult<i64> {
    let statement = Statement::new(
        "WITH fresh AS MATERIALIZED (
             SELECT id, $1 + row_number() OVER (ORDER BY id) AS position
             FROM (SELECT id FROM failure WHERE position IS NULL ORDER BY id LIMIT $2) waiting
         ), numbered AS (
             UPDATE failure SET position = fresh.position FROM fresh WHERE failure.id = fresh.id
             RETURNING failure.id, fingerprint, kind, event_type, code, occurred_at
         ), grouped AS (
             INSERT INTO failure_group (fingerprint, kind, event_type, code, title, count, first_seen_at, last_seen_at, sample)
             SELECT fingerprint, min(kind), min(event_type), min(code), concat_ws(' ', min(kind), min(event_type), min(code)),
                    count(*), min(occurred_at), max(occurred_at), max(id)
             FROM numbered GROUP BY fingerprint ORDER BY fingerprint
             ON CONFLICT (fingerprint) DO UPDATE SET
                 count = failure_group.count + excluded.count,
                 last_seen_at = greatest(failure_group.last_seen_at, excluded.last_seen_at),
                 sample = excluded.sample
         ), told AS (
             SELECT pg_notify('paydesk_failure', '')
         )
         UPDATE failure_feed SET last = last + (SELECT count(*) FROM numbered) FROM told WHERE id = 1 RETURNING last",
    )
    .bind::<BigInt, _>(last)
    .bind::<BigInt, _>(BATCH);
    Ok(statement.get_result::<Last>(conn).await?.last)
}
