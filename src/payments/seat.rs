//! What orders registrations, cancels and deletions, which come from different queues and so in any order.

use diesel::{
    ExpressionMethods, OptionalExtension, QueryDsl, QueryableByName, SelectableHelper,
    dsl::sql,
    result::QueryResult,
    sql_types::{BigInt, Bool, Text, Timestamptz, Uuid as SqlUuid},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::Payment;
use crate::{
    db::{Statement, schema::payment},
    types::Instant,
};

#[derive(QueryableByName)]
struct Yes {
    #[diesel(sql_type = Bool)]
    yes: bool,
}

/// Keeps deletions of the meeting out until the transaction ends; payments do not keep each other out. What is read
/// afterwards, in a statement of its own, is true until then.
pub(super) async fn enter_meeting(conn: &mut AsyncPgConnection, meeting_id: i64) -> QueryResult<()> {
    lock("SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))", meeting(meeting_id), conn).await
}

/// Waits for all who are in the meeting and keeps new ones out, until the transaction ends: a deletion.
pub(super) async fn close_meeting(
    conn: &mut AsyncPgConnection,
    meeting_id: i64,
    closed_at: Instant,
    event_id: Uuid,
) -> QueryResult<()> {
    lock("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", meeting(meeting_id), conn).await?;
    Statement::new(
        "INSERT INTO meeting_closed (meeting_id, closed_at, event_id) VALUES ($1, $2, $3)
         ON CONFLICT (meeting_id) DO NOTHING",
    )
    .bind::<BigInt, _>(meeting_id)
    .bind::<Timestamptz, _>(closed_at)
    .bind::<SqlUuid, _>(event_id)
    .execute(conn)
    .await?;
    Ok(())
}

/// Has registrations and cancels of one seat wait for each other until the transaction ends.
pub(super) async fn take_seat(
    conn: &mut AsyncPgConnection,
    meeting_id: i64,
    user_id: i64,
) -> QueryResult<()> {
    let seat = format!("paydesk:seat:{meeting_id}:{user_id}");
    lock("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", seat, conn).await
}

/// Whether the meeting was deleted.
pub(super) async fn is_closed(conn: &mut AsyncPgConnection, meeting_id: i64) -> QueryResult<bool> {
    let closed: Yes =
        Statement::new("SELECT EXISTS (SELECT FROM meeting_closed WHERE meeting_id = $1) AS yes")
            .bind::<BigInt, _>(meeting_id)
            .get_result(conn)
            .await?;
    Ok(closed.yes)
}

/// Who has paid for the meeting or is about to, locked in the order of their ids.
pub(super) async fn active_of_meeting(
    conn: &mut AsyncPgConnection,
    meeting_id: i64,
) -> QueryResult<Vec<Payment>> {
    payment::table
        .filter(payment::meeting_id.eq(meeting_id))
        .filter(sql::<Bool>("payment.status IN ('PENDING', 'COMPLETED')"))
        .order(payment::id.asc())
        .select(Payment::as_select())
        .for_update()
        .load(conn)
        .await
}

/// Remembers a cancel that found no payment; of several the latest counts.
pub(super) async fn remember_cancel(
    conn: &mut AsyncPgConnection,
    meeting_id: i64,
    user_id: i64,
    canceled_at: Instant,
    event_id: Uuid,
) -> QueryResult<()> {
    Statement::new(
        "INSERT INTO participant_cancel AS c (meeting_id, user_id, canceled_at, event_id) VALUES ($1, $2, $3, $4)
         ON CONFLICT (meeting_id, user_id)
         DO UPDATE SET canceled_at = excluded.canceled_at, event_id = excluded.event_id, created_at = now()
         WHERE c.canceled_at < excluded.canceled_at",
    )
    .bind::<BigInt, _>(meeting_id)
    .bind::<BigInt, _>(user_id)
    .bind::<Timestamptz, _>(canceled_at)
    .bind::<SqlUuid, _>(event_id)
    .execute(conn)
    .await?;
    Ok(())
}

/// Whether the participant has cancelled since `registered_at`.
pub(super) async fn canceled_since(
    conn: &mut AsyncPgConnection,
    meeting_id: i64,
    user_id: i64,
    registered_at: Instant,
) -> QueryResult<bool> {
    let canceled: Option<Yes> = Statement::new(
        "SELECT canceled_at > $3 AS yes FROM participant_cancel WHERE meeting_id = $1 AND user_id = $2",
    )
    .bind::<BigInt, _>(meeting_id)
    .bind::<BigInt, _>(user_id)
    .bind::<Timestamptz, _>(registered_at)
    .get_result(conn)
    .await
    .optional()?;
    Ok(canceled.is_some_and(|canceled| canceled.yes))
}

fn meeting(meeting_id: i64) -> String {
    format!("paydesk:meeting:{meeting_id}")
}

async fn lock(sql: &'static str, what: String, conn: &mut AsyncPgConnection) -> QueryResult<()> {
    Statement::new(sql).bind::<Text, _>(what).execute(conn).await?;
    Ok(())
}
