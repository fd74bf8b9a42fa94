use diesel::{
    ExpressionMethods, Insertable, OptionalExtension, QueryDsl, QueryableByName, SelectableHelper,
    dsl::{now, sql},
    result::QueryResult,
    sql_types::{BigInt, Bool},
    upsert::DecoratableTarget,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::{Payment, PaymentStatus};
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

#[derive(QueryableByName)]
struct NextId {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// An id for a payment that no idempotency key has reserved.
pub(super) async fn next_id(conn: &mut AsyncPgConnection) -> QueryResult<i64> {
    let next: NextId = Statement::new("SELECT nextval('payment_id_seq') AS id").get_result(conn).await?;
    Ok(next.id)
}

/// An order id that the provider has never seen.
pub(super) fn fresh_order_id() -> String {
    format!("pay_{}", Uuid::now_v7().simple())
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
    diesel::update(payment::table.find(id).filter(payment::status.eq(PaymentStatus::Pending.as_str())))
        .set((
            payment::status.eq(PaymentStatus::Completed.as_str()),
            payment::payment_key.eq(&approval.payment_key),
            payment::method.eq(&approval.method),
            payment::completed_at.eq(now),
        ))
        .returning(Payment::as_returning())
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
    diesel::update(payment::table.find(id).filter(payment::status.eq(PaymentStatus::Pending.as_str())))
        .set((
            payment::status.eq(PaymentStatus::Failed.as_str()),
            payment::failure_code.eq(&refusal.code),
            payment::failure_message.eq(&refusal.message),
        ))
        .returning(Payment::as_returning())
        .get_result(conn)
        .await
        .optional()
}
