//! The refund's row: every change is a compare-and-set.

use std::time::Duration;

use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, OptionalExtension, QueryDsl, QueryableByName,
    SelectableHelper,
    dsl::{now, sql},
    result::QueryResult,
    sql_types::{BigInt, Bool},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::{Refund, RefundStatus};
use crate::{
    db::{Statement, schema::refund},
    gateways::Refusal,
    types::{Instant, millis},
};

/// A refund about to be asked for.
#[derive(Debug, Insertable)]
#[diesel(table_name = refund)]
pub(super) struct NewRefund {
    pub(super) id: i64,
    pub(super) payment_id: i64,
    pub(super) payment_snapshot: serde_json::Value,
    pub(super) order_id: String,
    pub(super) payment_key: String,
    pub(super) user_id: i64,
    pub(super) meeting_id: i64,
    pub(super) amount: i64,
    pub(super) reason: String,
    pub(super) requested_by: String,
    pub(super) source: &'static str,
    pub(super) source_event_id: Option<Uuid>,
    pub(super) idempotency_key: String,
    pub(super) flow_id: Uuid,
}

#[derive(QueryableByName)]
struct Id {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// The id of a refund to be.
pub(super) async fn next_id(conn: &mut AsyncPgConnection) -> QueryResult<i64> {
    let next: Id = Statement::new("SELECT nextval('refund_id_seq') AS id").get_result(conn).await?;
    Ok(next.id)
}

/// Inserts a REQUESTED refund; `None` if the payment has one under way or made, or this message made one.
pub(super) async fn insert(conn: &mut AsyncPgConnection, new: NewRefund) -> QueryResult<Option<Refund>> {
    diesel::insert_into(refund::table)
        .values(new)
        .on_conflict_do_nothing()
        .returning(Refund::as_returning())
        .get_result(conn)
        .await
        .optional()
}

/// The refund of a payment that is under way or made.
pub(super) async fn active(conn: &mut AsyncPgConnection, payment_id: i64) -> QueryResult<Option<Refund>> {
    refund::table
        .filter(refund::payment_id.eq(payment_id))
        .filter(sql::<Bool>("refund.status IN ('REQUESTED', 'COMPLETED')"))
        .select(Refund::as_select())
        .first(conn)
        .await
        .optional()
}

/// The refund that a message asked for.
pub(super) async fn of_message(
    conn: &mut AsyncPgConnection,
    source_event_id: Uuid,
    payment_id: i64,
) -> QueryResult<Option<Refund>> {
    refund::table
        .filter(refund::source_event_id.eq(source_event_id).and(refund::payment_id.eq(payment_id)))
        .select(Refund::as_select())
        .first(conn)
        .await
        .optional()
}

/// The refund, locked for what follows. Lock its payment first.
pub(super) async fn locked(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<Refund>> {
    refund::table.find(id).select(Refund::as_select()).for_no_key_update().first(conn).await.optional()
}

/// REQUESTED or FAILED → COMPLETED: the provider's books say that the money went back, whatever it answered before.
/// `None` if it is COMPLETED already.
pub(super) async fn complete(
    conn: &mut AsyncPgConnection,
    id: i64,
    snapshot: serde_json::Value,
    transaction_key: Option<&str>,
) -> QueryResult<Option<Refund>> {
    diesel::update(refund::table.find(id).filter(refund::status.ne(RefundStatus::Completed.as_str())))
        .set((
            refund::status.eq(RefundStatus::Completed.as_str()),
            refund::payment_snapshot.eq(snapshot),
            refund::provider_transaction_key.eq(transaction_key),
            refund::completed_at.eq(now),
            refund::next_check_at.eq(None::<Instant>),
            refund::failure_code.eq(None::<String>),
            refund::failure_message.eq(None::<String>),
        ))
        .returning(Refund::as_returning())
        .get_result(conn)
        .await
        .optional()
}

/// REQUESTED → FAILED; `None` if it is no longer REQUESTED under this key.
pub(super) async fn fail(
    conn: &mut AsyncPgConnection,
    asked: &Refund,
    refusal: &Refusal,
) -> QueryResult<Option<Refund>> {
    diesel::update(
        refund::table
            .find(asked.id)
            .filter(refund::status.eq(RefundStatus::Requested.as_str()))
            .filter(refund::idempotency_key.eq(&asked.idempotency_key)),
    )
    .set((
        refund::status.eq(RefundStatus::Failed.as_str()),
        refund::failure_code.eq(&refusal.code),
        refund::failure_message.eq(&refusal.message),
        refund::next_check_at.eq(None::<Instant>),
    ))
    .returning(Refund::as_returning())
    .get_result(conn)
    .await
    .optional()
}

/// FAILED → REQUESTED under a new key; `None` if it is no longer FAILED.
pub(super) async fn request_anew(
    conn: &mut AsyncPgConnection,
    id: i64,
    idempotency_key: &str,
) -> QueryResult<Option<Refund>> {
    diesel::update(refund::table.find(id).filter(refund::status.eq(RefundStatus::Failed.as_str())))
        .set((
            refund::status.eq(RefundStatus::Requested.as_str()),
            refund::idempotency_key.eq(idempotency_key),
            refund::key_no.eq(refund::key_no + 1),
            refund::failure_code.eq(None::<String>),
            refund::failure_message.eq(None::<String>),
            refund::next_check_at.eq(None::<Instant>),
            refund::requested_at.eq(now),
        ))
        .returning(Refund::as_returning())
        .get_result(conn)
        .await
        .optional()
}

/// Counts cancels that the provider was asked for.
pub(super) async fn count_attempts(conn: &mut AsyncPgConnection, id: i64, attempts: i32) -> QueryResult<()> {
    diesel::update(refund::table.find(id))
        .set(refund::attempt_count.eq(refund::attempt_count + attempts))
        .execute(conn)
        .await?;
    Ok(())
}

/// Claims refunds that are due, by pushing their next look forward: any number of processes may ask at once, and
/// each row goes to one of them. The wait grows with the age, up to five minutes.
pub(in crate::payments) async fn claim_due(
    conn: &mut AsyncPgConnection,
    after: Duration,
    limit: i64,
) -> QueryResult<Vec<i64>> {
    let claimed: Vec<Id> = Statement::new(
        "WITH due AS MATERIALIZED (
             SELECT id FROM refund
             WHERE status = 'REQUESTED' AND coalesce(next_check_at, requested_at) <= now()
               AND (next_check_at IS NOT NULL OR requested_at <= now() - $1 * interval '1 millisecond')
             ORDER BY coalesce(next_check_at, requested_at), id LIMIT $2 FOR UPDATE SKIP LOCKED
         )
         UPDATE refund r
         SET next_check_at = now() + least(greatest((now() - r.requested_at) / 2, $1 * interval '1 millisecond'),
                                           greatest(interval '5 minutes', $1 * interval '1 millisecond'))
         FROM due WHERE r.id = due.id
         RETURNING r.id",
    )
    .bind::<BigInt, _>(millis(after))
    .bind::<BigInt, _>(limit)
    .load(conn)
    .await?;
    Ok(claimed.into_iter().map(|row| row.id).collect())
}
