use diesel::{
    ExpressionMethods, Insertable, OptionalExtension, QueryDsl, SelectableHelper,
    dsl::sql,
    result::QueryResult,
    sql_types::{BigInt, Bool, Nullable, Text},
    upsert::DecoratableTarget,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::Payment;
use crate::{
    db::{Statement, schema::payment},
    gateways::{Approval, Refusal},
};

/// A payment about to be asked for.
#[derive(Debug, Insertable)]
#[diesel(table_name = payment)]
pub(super) struct NewPayment {
    pub(super) id: i64,
    pub(super) order_id: String,
    pub(super) user_id: i64,
    pub(super) meeting_id: i64,
    pub(super) order_name: String,
    pub(super) amount: i64,
    pub(super) idempotency_key: String,
    pub(super) flow_id: Uuid,
}

/// Inserts a PENDING payment; `None` if the user has an active one for this meeting. By `ON CONFLICT`, so that
/// the transaction goes on.
pub(super) async fn insert(conn: &mut AsyncPgConnection, new: NewPayment) -> QueryResult<Option<Payment>> {
    diesel::insert_into(payment::table)
        .values(new)
        .on_conflict((payment::meeting_id, payment::user_id))
        .filter_target(sql::<Bool>("status IN ('PENDING', 'COMPLETED')"))
        .do_nothing()
        .returning(Payment::as_returning())
        .get_result(conn)
        .await
        .optional()
}

/// The active payment of a user for a meeting.
pub(super) async fn active(
    conn: &mut AsyncPgConnection,
    meeting_id: i64,
    user_id: i64,
) -> QueryResult<Option<Payment>> {
    payment::table
        .filter(payment::meeting_id.eq(meeting_id))
        .filter(payment::user_id.eq(user_id))
        .filter(sql::<Bool>("status IN ('PENDING', 'COMPLETED')"))
        .select(Payment::as_select())
        .first(conn)
        .await
        .optional()
}

/// PENDING → COMPLETED; `None` if it is no longer PENDING.
pub(super) async fn complete(
    conn: &mut AsyncPgConnection,
    id: i64,
    approval: &Approval,
) -> QueryResult<Option<Payment>> {
    Statement::new(
        "UPDATE payment SET status = 'COMPLETED', payment_key = $2, method = $3, completed_at = now()
         WHERE id = $1 AND status = 'PENDING'
         RETURNING id, order_id, user_id, meeting_id, order_name, amount, provider, method, status, payment_key, idempotency_key,
             flow_id, failure_code, failure_message, requested_at, completed_at, created_at, updated_at",
    )
    .bind::<BigInt, _>(id)
    .bind::<Text, _>(approval.payment_key.clone())
    .bind::<Nullable<Text>, _>(approval.method.clone())
    .get_result(conn)
    .await
    .optional()
}

/// PENDING → FAILED; `None` if it is no longer PENDING.
pub(super) async fn fail(
    conn: &mut AsyncPgConnection,
    id: i64,
    refusal: &Refusal,
) -> QueryResult<Option<Payment>> {
    Statement::new(
        "UPDATE payment SET status = 'FAILED', failure_code = $2, failure_message = $3
         WHERE id = $1 AND status = 'PENDING'
         RETURNING id, order_id, user_id, meeting_id, order_name, amount, provider, method, status, payment_key, idempotency_key,
             flow_id, failure_code, failure_message, requested_at, completed_at, created_at, updated_at",
    )
    .bind::<BigInt, _>(id)
    .bind::<Text, _>(refusal.code.clone())
    .bind::<Text, _>(refusal.message.clone())
    .get_result(conn)
    .await
    .optional()
}
