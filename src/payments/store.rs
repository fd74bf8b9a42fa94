use std::time::Duration;

use diesel::{
    ExpressionMethods, Insertable, OptionalExtension, QueryDsl, QueryableByName, SelectableHelper,
    dsl::sql,
    result::QueryResult,
    sql_types::{Array, BigInt, Binary, Bool, Integer, Json, Nullable, Text, Timestamptz, Uuid as SqlUuid},
    upsert::DecoratableTarget,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::Payment;
use crate::{
    db::{Statement, schema::payment},
    gateways::{Approval, ProviderCall, Refusal},
    idempotency::{CallerKey, InputHash},
    types::{Instant, millis},
};

/// A payment about to be asked for.
#[derive(Debug, Insertable)]
#[diesel(table_name = payment)]
pub(super) struct NewPayment {
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

/// Inserts a PENDING payment under its reserved id; `None` if the user has an active one for this meeting. By `ON CONFLICT`, so that
/// the transaction goes on.
pub(super) async fn insert(
    conn: &mut AsyncPgConnection,
    id: i64,
    new: NewPayment,
) -> QueryResult<Option<Payment>> {
    diesel::insert_into(payment::table)
        .values((payment::id.eq(id), new))
        .on_conflict((payment::meeting_id, payment::user_id))
        .filter_target(sql::<Bool>("status IN ('PENDING', 'COMPLETED')"))
        .do_nothing()
        .returning(Payment::as_returning())
        .get_result(conn)
        .await
        .optional()
}

/// What [`crate::idempotency::take`] and [`insert`] do when all is as it should be, in one statement: the key is
/// unused, the meeting open, the seat free. The key reserves the payment's id. `None` otherwise, and then the transaction must be rolled back; which
/// it was, the two tell.
pub(super) async fn insert_under_key(
    conn: &mut AsyncPgConnection,
    caller_key: &CallerKey,
    input: InputHash,
    lease: Duration,
    new: NewPayment,
) -> QueryResult<Option<Payment>> {
    Statement::new(
        "WITH taken AS (
             INSERT INTO idempotency_key (caller, operation, key, input_hash, subject_type, subject_id, lease_until)
             SELECT $1, $2, $3, $4, 'PAYMENT', nextval('payment_id_seq'), now() + $5 * interval '1 millisecond'
             WHERE NOT EXISTS (SELECT FROM meeting_closed WHERE meeting_id = $8)
             ON CONFLICT (caller, operation, key) DO NOTHING
             RETURNING subject_id
         )
         INSERT INTO payment (id, order_id, user_id, meeting_id, order_name, amount, idempotency_key, flow_id)
         SELECT subject_id, $6, $7, $8, $9, $10, $11, $12 FROM taken
         ON CONFLICT (meeting_id, user_id) WHERE status IN ('PENDING', 'COMPLETED') DO NOTHING
         RETURNING id, order_id, user_id, meeting_id, order_name, amount, provider, method, status, payment_key, idempotency_key,
             flow_id, failure_code, failure_message, requested_at, completed_at, created_at, updated_at,
             refund_wanted, next_check_at, check_count",
    )
    .bind::<Text, _>(caller_key.caller.clone())
    .bind::<Text, _>(caller_key.operation)
    .bind::<Text, _>(caller_key.key.clone())
    .bind::<Binary, _>(input.bytes().to_vec())
    .bind::<BigInt, _>(millis(lease))
    .bind::<Text, _>(new.order_id)
    .bind::<BigInt, _>(new.user_id)
    .bind::<BigInt, _>(new.meeting_id)
    .bind::<Text, _>(new.order_name)
    .bind::<BigInt, _>(new.amount)
    .bind::<Text, _>(new.idempotency_key)
    .bind::<SqlUuid, _>(new.flow_id)
    .get_result(conn)
    .await
    .optional()
}

/// [`crate::gateways::record_call`] of each call, in their order, and [`crate::idempotency::finish`], in one statement.
pub(super) async fn note_calls_and_finish(
    conn: &mut AsyncPgConnection,
    payment: &Payment,
    calls: &[ProviderCall],
) -> QueryResult<usize> {
    let texts = |text: fn(&ProviderCall) -> &'static str| calls.iter().map(text).collect::<Vec<_>>();
    let keys = calls.iter().map(|call| call.idempotency_key.clone()).collect::<Vec<_>>();
    let codes = calls.iter().map(|call| call.code.clone()).collect::<Vec<_>>();
    let took = |call: &ProviderCall| i32::try_from(call.duration.as_millis()).unwrap_or(i32::MAX);
    Statement::new(
        "WITH noted AS (
             INSERT INTO provider_call (provider, operation, subject_type, subject_id, flow_id, idempotency_key, outcome, code, duration_ms)
             SELECT call.provider, call.operation, 'PAYMENT', $1, $2, call.idempotency_key, call.outcome, call.code, call.duration_ms
             FROM unnest($3, $4, $5, $6, $7, $8) AS call (provider, operation, idempotency_key, outcome, code, duration_ms)
         )
         UPDATE idempotency_key SET finished_at = now()
         WHERE subject_type = 'PAYMENT' AND subject_id = $1 AND finished_at IS NULL",
    )
    .bind::<BigInt, _>(payment.id)
    .bind::<SqlUuid, _>(payment.flow_id)
    .bind::<Array<Text>, _>(texts(|call| call.provider))
    .bind::<Array<Text>, _>(texts(|call| call.operation))
    .bind::<Array<Nullable<Text>>, _>(keys)
    .bind::<Array<Text>, _>(texts(|call| call.outcome.as_str()))
    .bind::<Array<Nullable<Text>>, _>(codes)
    .bind::<Array<Integer>, _>(calls.iter().map(took).collect::<Vec<_>>())
    .execute(conn)
    .await
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
        "UPDATE payment SET status = 'COMPLETED', payment_key = $2, method = $3, completed_at = now(), next_check_at = NULL
         WHERE id = $1 AND status = 'PENDING'
         RETURNING id, order_id, user_id, meeting_id, order_name, amount, provider, method, status, payment_key, idempotency_key,
             flow_id, failure_code, failure_message, requested_at, completed_at, created_at, updated_at,
             refund_wanted, next_check_at, check_count",
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
        "UPDATE payment SET status = 'FAILED', failure_code = $2, failure_message = $3,
             next_check_at = NULL, check_count = 0
         WHERE id = $1 AND status = 'PENDING'
         RETURNING id, order_id, user_id, meeting_id, order_name, amount, provider, method, status, payment_key, idempotency_key,
             flow_id, failure_code, failure_message, requested_at, completed_at, created_at, updated_at,
             refund_wanted, next_check_at, check_count",
    )
    .bind::<BigInt, _>(id)
    .bind::<Text, _>(refusal.code.clone())
    .bind::<Text, _>(refusal.message.clone())
    .get_result(conn)
    .await
    .optional()
}

/// The active payment of a user for a meeting, locked for what follows.
pub(super) async fn active_locked(
    conn: &mut AsyncPgConnection,
    meeting_id: i64,
    user_id: i64,
) -> QueryResult<Option<Payment>> {
    payment::table
        .filter(payment::meeting_id.eq(meeting_id))
        .filter(payment::user_id.eq(user_id))
        .filter(sql::<Bool>("status IN ('PENDING', 'COMPLETED')"))
        .select(Payment::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()
}

/// The payment, locked for what follows.
pub(super) async fn locked(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<Payment>> {
    payment::table.find(id).select(Payment::as_select()).for_update().first(conn).await.optional()
}

/// The row goes: its refund keeps the snapshot.
pub(super) async fn delete(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<usize> {
    diesel::delete(payment::table.find(id)).execute(conn).await
}

/// Notes that a PENDING payment is to be refunded; the first wish stands. False if it is no longer PENDING.
pub(super) async fn want_refund(
    conn: &mut AsyncPgConnection,
    id: i64,
    wanted: serde_json::Value,
) -> QueryResult<bool> {
    let noted = Statement::new(
        "UPDATE payment SET refund_wanted = coalesce(refund_wanted, $2) WHERE id = $1 AND status = 'PENDING'",
    )
    .bind::<BigInt, _>(id)
    .bind::<Json, _>(wanted)
    .execute(conn)
    .await?;
    Ok(noted > 0)
}

#[derive(QueryableByName)]
struct Holds {
    #[diesel(sql_type = Bool)]
    holds: bool,
}

/// Whether `at` is within the last `span`, by the database's clock.
pub(super) async fn is_since(
    conn: &mut AsyncPgConnection,
    at: Option<Instant>,
    span: Duration,
) -> QueryResult<bool> {
    let row: Holds = Statement::new(
        "SELECT coalesce($1 >= clock_timestamp() - $2 * interval '1 millisecond', false) AS holds",
    )
    .bind::<Nullable<Timestamptz>, _>(at)
    .bind::<BigInt, _>(millis(span))
    .get_result(conn)
    .await?;
    Ok(row.holds)
}

/// A FAILED payment was approved after all: notes the provider's id of it and has the reconciler look at it, until it
/// is cancelled. False if it is not FAILED.
pub(super) async fn note_late_approval(
    conn: &mut AsyncPgConnection,
    id: i64,
    payment_key: &str,
    after: Duration,
) -> QueryResult<bool> {
    let noted = Statement::new(
        "UPDATE payment SET payment_key = $2, next_check_at = now() + $3 * interval '1 millisecond'
         WHERE id = $1 AND status = 'FAILED'",
    )
    .bind::<BigInt, _>(id)
    .bind::<Text, _>(payment_key.to_owned())
    .bind::<BigInt, _>(millis(after))
    .execute(conn)
    .await?;
    Ok(noted > 0)
}

/// When a FAILED payment is looked up next: after `wait`, or never again.
pub(super) async fn look_back_after(
    conn: &mut AsyncPgConnection,
    id: i64,
    wait: Option<Duration>,
    check_count: i32,
) -> QueryResult<usize> {
    Statement::new(
        "UPDATE payment SET next_check_at = now() + $2 * interval '1 millisecond', check_count = $3
         WHERE id = $1 AND status = 'FAILED'",
    )
    .bind::<BigInt, _>(id)
    .bind::<Nullable<BigInt>, _>(wait.map(millis))
    .bind::<Integer, _>(check_count)
    .execute(conn)
    .await
}

/// Whether `at` is longer ago than `age`, by the database's clock.
pub(super) async fn is_older(conn: &mut AsyncPgConnection, at: Instant, age: Duration) -> QueryResult<bool> {
    let row: Holds = Statement::new("SELECT $1 + $2 * interval '1 millisecond' <= now() AS holds")
        .bind::<Timestamptz, _>(at)
        .bind::<BigInt, _>(millis(age))
        .get_result(conn)
        .await?;
    Ok(row.holds)
}

/// Claims payments that are due: PENDING ones, and FAILED ones that the provider may yet have approved. Claiming pushes
/// the next look forward, so any number of processes may ask at once, and each row goes to one of them. The wait grows
/// with the age, up to five minutes, for FAILED ones to an hour.
pub(super) async fn claim_due(
    conn: &mut AsyncPgConnection,
    after: Duration,
    limit: i64,
) -> QueryResult<Vec<i64>> {
    #[derive(QueryableByName)]
    struct Id {
        #[diesel(sql_type = BigInt)]
        id: i64,
    }
    let claimed: Vec<Id> = Statement::new(
        "WITH pending AS MATERIALIZED (
             SELECT id FROM payment
             WHERE status = 'PENDING' AND coalesce(next_check_at, requested_at) <= now()
               AND (next_check_at IS NOT NULL OR requested_at <= now() - $1 * interval '1 millisecond')
             ORDER BY coalesce(next_check_at, requested_at), id LIMIT $2 FOR UPDATE SKIP LOCKED
         ), failed AS MATERIALIZED (
             SELECT id FROM payment
             WHERE status = 'FAILED' AND next_check_at IS NOT NULL AND next_check_at <= now()
             ORDER BY next_check_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
         ), due AS (
             SELECT id FROM pending UNION ALL SELECT id FROM failed
         )
         UPDATE payment p
         SET next_check_at = now() + least(
                 greatest((now() - p.requested_at) / 2, $1 * interval '1 millisecond'),
                 greatest(CASE p.status WHEN 'PENDING' THEN interval '5 minutes' ELSE interval '1 hour' END,
                          $1 * interval '1 millisecond')),
             check_count = p.check_count + CASE p.status WHEN 'PENDING' THEN 1 ELSE 0 END
         FROM due WHERE p.id = due.id
         RETURNING p.id",
    )
    .bind::<BigInt, _>(millis(after))
    .bind::<BigInt, _>(limit)
    .load(conn)
    .await?;
    Ok(claimed.into_iter().map(|row| row.id).collect())
}
