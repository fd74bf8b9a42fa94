//! Inbox rows: what was consumed, how often it was tried, and what it made.

use diesel::{
    QueryableByName,
    result::QueryResult,
    sql_types::{Array, BigInt, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::Message;
use crate::{db::Statement, failures::SubjectType, types::Instant};

/// A message as its consumer knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InboxKey {
    /// The message.
    pub event_id: Uuid,
    /// The queue's name without the deployment's prefix.
    pub consumer: &'static str,
}

/// What became of a message so far.
#[derive(Debug, Clone, PartialEq, Eq, QueryableByName)]
pub struct InboxEntry {
    #[diesel(sql_type = Text)]
    state: String,
    /// Tries, the present one included.
    #[diesel(sql_type = Integer)]
    pub tries: i32,
    /// The payment or refund that it made.
    #[diesel(sql_type = Nullable<BigInt>)]
    pub subject_id: Option<i64>,
    /// A deletion's payments, once they are known.
    #[diesel(sql_type = Nullable<Array<BigInt>>)]
    pub payment_ids: Option<Vec<i64>>,
}

#[derive(QueryableByName)]
struct Finished {
    #[diesel(sql_type = Timestamptz)]
    now: Instant,
}

impl InboxKey {
    /// The key of a message from this queue.
    pub fn of(message: &Message, consumer: &'static str) -> Self {
        Self { event_id: message.event_id, consumer }
    }

    fn keyed(self, sql: &'static str) -> Statement {
        Statement::new(sql).bind::<SqlUuid, _>(self.event_id).bind::<Text, _>(self.consumer)
    }
}

impl InboxEntry {
    /// Whether it was carried out to its end.
    pub fn is_done(&self) -> bool {
        self.state == "DONE"
    }
}

/// Writes the row, or counts `tries` more on it unless it is DONE. To be committed before the try.
pub(super) async fn count_try(
    conn: &mut AsyncPgConnection,
    key: InboxKey,
    tries: i32,
) -> QueryResult<InboxEntry> {
    key.keyed(
        "INSERT INTO inbox AS i (event_id, consumer, tries) VALUES ($1, $2, $3)
         ON CONFLICT (event_id, consumer)
         DO UPDATE SET tries = CASE WHEN i.state = 'DONE' THEN i.tries ELSE i.tries + $3 END
         RETURNING state, tries, subject_id, payment_ids",
    )
    .bind::<Integer, _>(tries)
    .get_result(conn)
    .await
}

/// Counts from nothing: the message was dead-lettered, and whoever sends it again means it; or, with a number, gives tries
/// back that came to nothing.
pub(super) async fn give_back(
    conn: &mut AsyncPgConnection,
    key: InboxKey,
    tries: Option<i32>,
) -> QueryResult<usize> {
    key.keyed(
        "UPDATE inbox SET tries = greatest(tries - coalesce($3, tries), 0)
         WHERE event_id = $1 AND consumer = $2 AND state = 'RUNNING'",
    )
    .bind::<Nullable<Integer>, _>(tries)
    .execute(conn)
    .await
}

/// The row, locked: first thing in the transaction that carries a message out.
pub async fn lock(conn: &mut AsyncPgConnection, key: InboxKey) -> QueryResult<InboxEntry> {
    key.keyed(
        "SELECT state, tries, subject_id, payment_ids FROM inbox WHERE event_id = $1 AND consumer = $2 FOR UPDATE",
    )
    .get_result(conn)
    .await
}

/// Names what the message made, in the transaction that makes it.
pub async fn name_subject(
    conn: &mut AsyncPgConnection,
    key: InboxKey,
    subject_type: SubjectType,
    subject_id: i64,
) -> QueryResult<usize> {
    key.keyed("UPDATE inbox SET subject_type = $3, subject_id = $4 WHERE event_id = $1 AND consumer = $2")
        .bind::<Text, _>(subject_type.as_str())
        .bind::<BigInt, _>(subject_id)
        .execute(conn)
        .await
}

/// Keeps a deletion's payments as they were found at first.
pub async fn freeze(
    conn: &mut AsyncPgConnection,
    key: InboxKey,
    payment_ids: Vec<i64>,
) -> QueryResult<usize> {
    key.keyed("UPDATE inbox SET payment_ids = $3 WHERE event_id = $1 AND consumer = $2")
        .bind::<Array<BigInt>, _>(payment_ids)
        .execute(conn)
        .await
}

/// RUNNING → DONE; tells the transaction's time.
pub async fn finish(conn: &mut AsyncPgConnection, key: InboxKey) -> QueryResult<Instant> {
    let finished: Finished = key
        .keyed(
            "WITH finished AS (
                 UPDATE inbox SET state = 'DONE' WHERE event_id = $1 AND consumer = $2 AND state = 'RUNNING'
             )
             SELECT now() AS now",
        )
        .get_result(conn)
        .await?;
    Ok(finished.now)
}
