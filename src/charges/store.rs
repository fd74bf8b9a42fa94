//! The charge's row: every change is a compare-and-set.

use std::time::Duration;

use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, IntoSql, NullableExpressionMethods,
    OptionalExtension, QueryDsl, QueryableByName, SelectableHelper,
    dsl::{IntervalDsl, now},
    result::QueryResult,
    sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::{Charge, ChargeStatus, reference};
use crate::{
    db::{Statement, schema::charge},
    gateways::{PaymentGateway, Purchase},
    types::millis,
};

/// A charge about to be asked for.
#[derive(Debug, Insertable)]
#[diesel(table_name = charge)]
pub(super) struct NewCharge {
    pub(super) id: i64,
    pub(super) member_id: i64,
    pub(super) can: i64,
    pub(super) container: &'static str,
    pub(super) order_id: String,
    pub(super) sku: String,
    pub(super) title: String,
    pub(super) price: i64,
    pub(super) payment_gateway: &'static str,
    pub(super) account_token: Uuid,
    pub(super) flow_id: Uuid,
}

#[derive(QueryableByName)]
struct Id {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// An order id that no gateway has seen: letters and digits, which all of them take.
pub(super) fn fresh_order_id() -> String {
    format!("CHG{}", Uuid::now_v7().simple())
}

/// Inserts a charge in REQUEST. `check_after`: when the reconciler asks by our order id, where the gateway can be asked so.
pub(super) async fn insert(
    conn: &mut AsyncPgConnection,
    new: NewCharge,
    check_after: Option<Duration>,
) -> QueryResult<Charge> {
    let check_at =
        check_after.map(|after| (now.into_sql::<Timestamptz>() + millis(after).milliseconds()).nullable());
    diesel::insert_into(charge::table)
        .values((new, check_at.map(|at| charge::next_check_at.eq(at))))
        .returning(Charge::as_returning())
        .get_result(conn)
        .await
}

/// The charge that was asked for under this order id; a bonus is none.
pub(super) async fn of_order(conn: &mut AsyncPgConnection, order_id: &str) -> QueryResult<Option<Charge>> {
    charge::table
        .filter(charge::order_id.eq(order_id).and(charge::status.eq(ChargeStatus::Charge.as_str())))
        .select(Charge::as_select())
        .first(conn)
        .await
        .optional()
}

/// The charge, locked for what follows. Lock its member after it.
pub(super) async fn locked(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<Charge>> {
    charge::table.find(id).select(Charge::as_select()).for_no_key_update().first(conn).await.optional()
}

/// The charge of this gateway that this transaction has paid, or for which it was presented or told.
pub(super) async fn of_transaction(
    conn: &mut AsyncPgConnection,
    gateway: PaymentGateway,
    transaction_id: &str,
) -> QueryResult<Option<Charge>> {
    let found: Option<Id> = Statement::new(
        "SELECT id FROM charge WHERE gateway_transaction_id = $1 AND payment_gateway = $2
         UNION ALL
         SELECT c.id FROM charge_reference r JOIN charge c ON c.id = r.charge_id
         WHERE r.digest = $3 AND c.payment_gateway = $2
         LIMIT 1",
    )
    .bind::<Text, _>(transaction_id.to_owned())
    .bind::<Text, _>(gateway.as_str())
    .bind::<Binary, _>(reference::digest(transaction_id))
    .get_result(conn)
    .await
    .optional()?;
    match found {
        Some(Id { id }) => super::find(conn, id).await,
        None => Ok(None),
    }
}

/// Takes the charge's one approval for this reference, for as long as an approval takes; false if another one has it, if
/// somebody is approving this one right now, or if the charge is no longer REQUEST.
pub(super) async fn claim_approval(
    conn: &mut AsyncPgConnection,
    id: i64,
    reference: &str,
    lease: Duration,
) -> QueryResult<bool> {
    let claimed = Statement::new(
        "UPDATE charge SET approving_reference = $2, approving_until = now() + $3 * interval '1 millisecond'
         WHERE id = $1 AND payment_status = 'REQUEST' AND coalesce(approving_reference, $2) = $2
           AND coalesce(approving_until, '-infinity') <= now()",
    )
    .bind::<BigInt, _>(id)
    .bind::<Text, _>(reference.to_owned())
    .bind::<BigInt, _>(millis(lease))
    .execute(conn)
    .await?;
    Ok(claimed > 0)
}

/// The other charge that this purchase has paid.
pub(super) async fn other_paid_by(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    transaction_id: &str,
) -> QueryResult<Option<i64>> {
    charge::table
        .filter(charge::gateway_transaction_id.eq(transaction_id))
        .filter(charge::payment_gateway.eq(&charge.payment_gateway).and(charge::id.ne(charge.id)))
        .select(charge::id)
        .first(conn)
        .await
        .optional()
}

/// Another charge that this purchase of an app store has paid, under another transaction.
pub(super) async fn other_of_store_purchase(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    purchase: &Purchase,
) -> QueryResult<Option<i64>> {
    let Some(store_id) = &purchase.store_id else { return Ok(None) };
    charge::table
        .filter(charge::store_purchase_id.eq(store_id))
        .filter(charge::payment_gateway.eq(&charge.payment_gateway).and(charge::id.ne(charge.id)))
        .select(charge::id)
        .first(conn)
        .await
        .optional()
}

/// REQUEST → COMPLETE, paid by this purchase; false if it is no longer REQUEST.
pub(super) async fn complete(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    purchase: &Purchase,
) -> QueryResult<bool> {
    let to_consume = charge.gateway() == Some(PaymentGateway::GoogleIap);
    let completed = Statement::new(
        "UPDATE charge
         SET payment_status = 'COMPLETE', gateway_transaction_id = $2, method = $3, approving_reference = NULL,
             approving_until = NULL, quantity = $5, can = can * $5, price = price * $5, store_purchase_id = $6,
             completed_at = now(), next_check_at = NULL, consume_due_at = CASE WHEN $4 THEN now() END
         WHERE id = $1 AND payment_status = 'REQUEST'",
    )
    .bind::<BigInt, _>(charge.id)
    .bind::<Text, _>(purchase.transaction_id.clone())
    .bind::<Nullable<Text>, _>(purchase.method.clone())
    .bind::<Bool, _>(to_consume)
    .bind::<Integer, _>(purchase.quantity)
    .bind::<Nullable<Text>, _>(purchase.store_id.clone())
    .execute(conn)
    .await?;
    Ok(completed > 0)
}

/// Claims charges that are due to be asked about by our order id, by pushing their next look forward: any number of
/// processes may ask at once, and each row goes to one of them. The wait grows with the age, up to six hours; after a
/// week it is the last.
pub(super) async fn claim_unpaid(
    conn: &mut AsyncPgConnection,
    after: Duration,
    limit: i64,
) -> QueryResult<Vec<i64>> {
    let claimed: Vec<Id> = Statement::new(
        "WITH due AS MATERIALIZED (
             SELECT id FROM charge
             WHERE payment_status = 'REQUEST' AND next_check_at IS NOT NULL AND next_check_at <= now()
             ORDER BY next_check_at, id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
         )
         UPDATE charge c
         SET next_check_at = CASE WHEN c.created_at > now() - interval '7 days' THEN now()
             + least(greatest((now() - c.created_at) / 2, $1 * interval '1 millisecond'),
                     greatest(interval '6 hours', $1 * interval '1 millisecond')) END
         FROM due WHERE c.id = due.id
         RETURNING c.id",
    )
    .bind::<BigInt, _>(millis(after))
    .bind::<BigInt, _>(limit)
    .load(conn)
    .await?;
    Ok(claimed.into_iter().map(|row| row.id).collect())
}

/// Claims credited purchases that are to be consumed, by pushing their next try forward; the wait grows with the age,
/// up to an hour.
pub(super) async fn claim_unconsumed(
    conn: &mut AsyncPgConnection,
    after: Duration,
    limit: i64,
) -> QueryResult<Vec<i64>> {
    let claimed: Vec<Id> = Statement::new(
        "WITH due AS MATERIALIZED (
             SELECT id FROM charge WHERE consume_due_at IS NOT NULL AND consume_due_at <= now()
             ORDER BY consume_due_at, id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
         )
         UPDATE charge c
         SET consume_due_at = now() + least(greatest((now() - c.completed_at) / 2, $1 * interval '1 millisecond'),
                                            greatest(interval '1 hour', $1 * interval '1 millisecond'))
         FROM due WHERE c.id = due.id
         RETURNING c.id",
    )
    .bind::<BigInt, _>(millis(after))
    .bind::<BigInt, _>(limit)
    .load(conn)
    .await?;
    Ok(claimed.into_iter().map(|row| row.id).collect())
}

/// Google has confirmed it.
pub(super) async fn consumed(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<usize> {
    Statement::new(
        "UPDATE charge SET consume_due_at = NULL, consumed_at = now() WHERE id = $1 AND consume_due_at IS NOT NULL",
    )
    .bind::<BigInt, _>(id)
    .execute(conn)
    .await
}

/// Ends the tries once Google's three days are over; false before that.
pub(super) async fn give_up_consuming(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<bool> {
    let given_up = Statement::new(
        "UPDATE charge SET consume_due_at = NULL
         WHERE id = $1 AND consume_due_at IS NOT NULL AND completed_at < now() - interval '3 days'",
    )
    .bind::<BigInt, _>(id)
    .execute(conn)
    .await?;
    Ok(given_up > 0)
}
