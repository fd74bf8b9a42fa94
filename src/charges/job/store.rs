//! The job's row: every change is a compare-and-set, and every mark needs the claim's token.

use std::time::Duration;

use diesel::{
    Insertable, OptionalExtension, QueryDsl, QueryableByName, SelectableHelper,
    result::QueryResult,
    sql_types::{BigInt, Integer, Nullable, Text, Uuid as SqlUuid},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::{ChargeJob, ChargeJobStatus, ChargeJobType, model::AfterFailure};
use crate::{
    charges::{Charge, ChargePaymentStatus, ChargeStatus, promotion::Earned},
    db::{
        Statement,
        schema::{charge, charge_event_job},
    },
    types::{Instant, millis},
};

/// A job in the hands of the one who claimed it.
#[derive(Debug, Clone)]
pub(in crate::charges) struct ClaimedJob {
    pub(super) job: ChargeJob,
    token: Uuid,
}

impl ClaimedJob {
    fn new(job: ChargeJob) -> Option<Self> {
        job.claim_token.map(|token| Self { job, token })
    }
}

/// `charge-event:{sourceChargeId}:{jobType}:{chargeEventId or none}`: one job per charge and reason.
fn key_of(source_charge_id: i64, job_type: ChargeJobType, charge_event_id: Option<i64>) -> String {
    let event = charge_event_id.map_or_else(|| "none".to_owned(), |id| id.to_string());
    format!("charge-event:{source_charge_id}:{}:{event}", job_type.as_str())
}

#[derive(Insertable)]
#[diesel(table_name = charge_event_job)]
struct NewJob {
    source_charge_id: i64,
    member_id: i64,
    charge_event_id: Option<i64>,
    job_type: &'static str,
    idempotency_key: String,
    additional_can: i64,
    payment_gateway: String,
    container: String,
    method_snapshot: String,
    status: &'static str,
    claim_token: Uuid,
    flow_id: Uuid,
}

/// Writes what a charge has earned, claimed for whoever completes it: no worker touches it.
pub(in crate::charges) async fn insert_claimed(
    conn: &mut AsyncPgConnection,
    source: &Charge,
    earned: Vec<Earned>,
) -> QueryResult<Vec<ClaimedJob>> {
    if earned.is_empty() {
        return Ok(Vec::new());
    }
    let new = |earned: Earned| {
        (
            NewJob {
                source_charge_id: source.id,
                member_id: source.member_id,
                charge_event_id: earned.charge_event_id,
                job_type: earned.job_type.as_str(),
                idempotency_key: key_of(source.id, earned.job_type, earned.charge_event_id),
                additional_can: earned.additional_can,
                payment_gateway: source.payment_gateway.clone(),
                container: source.container.clone(),
                method_snapshot: earned.method_snapshot,
                status: ChargeJobStatus::Processing.as_str(),
                claim_token: Uuid::new_v4(),
                flow_id: source.flow_id,
            },
            diesel::ExpressionMethods::eq(charge_event_job::processing_started_at, diesel::dsl::now),
        )
    };
    let jobs: Vec<ChargeJob> = diesel::insert_into(charge_event_job::table)
        .values(earned.into_iter().map(new).collect::<Vec<_>>())
        .on_conflict(charge_event_job::idempotency_key)
        .do_nothing()
        .returning(ChargeJob::as_returning())
        .get_results(conn)
        .await?;
    Ok(jobs.into_iter().filter_map(ClaimedJob::new).collect())
}

/// Claims PENDING jobs that are due, the longest due first: PENDING → PROCESSING under a fresh token. Any number of
/// processes may ask at once.
pub(super) async fn claim_due(conn: &mut AsyncPgConnection, limit: i64) -> QueryResult<Vec<ClaimedJob>> {
    let jobs: Vec<ChargeJob> = Statement::new(
        "WITH due AS MATERIALIZED (
             SELECT id FROM charge_event_job
             WHERE status = 'PENDING' AND coalesce(next_retry_at, created_at) <= now()
             ORDER BY coalesce(next_retry_at, created_at), id LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
         )
         UPDATE charge_event_job j
         SET status = 'PROCESSING', claim_token = gen_random_uuid(), processing_started_at = now(), next_retry_at = NULL
         FROM due WHERE j.id = due.id
         RETURNING j.id, j.source_charge_id, j.result_charge_id, j.member_id, j.charge_event_id, j.job_type, j.idempotency_key,
             j.additional_can, j.payment_gateway, j.container, j.method_snapshot, j.status, j.retry_count, j.next_retry_at,
             j.claim_token, j.processing_started_at, j.processed_at, j.last_error, j.flow_id, j.created_at, j.updated_at",
    )
    .bind::<BigInt, _>(limit)
    .load(conn)
    .await?;
    Ok(jobs.into_iter().filter_map(ClaimedJob::new).collect())
}

#[derive(Insertable)]
#[diesel(table_name = charge)]
struct NewBonus<'a> {
    member_id: i64,
    status: &'static str,
    can: i64,
    container: &'a str,
    order_id: &'a str,
    title: &'a str,
    price: i64,
    payment_gateway: &'a str,
    payment_status: &'static str,
    method: &'a str,
    flow_id: Uuid,
}

/// The bonus charge of a job, complete from the start; `None` if the job has one.
pub(super) async fn insert_bonus(conn: &mut AsyncPgConnection, job: &ChargeJob) -> QueryResult<Option<i64>> {
    use diesel::ExpressionMethods;
    let bonus = NewBonus {
        member_id: job.member_id,
        status: ChargeStatus::Event.as_str(),
        can: job.additional_can,
        container: &job.container,
        order_id: &job.idempotency_key,
        title: &job.method_snapshot,
        price: 0,
        payment_gateway: &job.payment_gateway,
        payment_status: ChargePaymentStatus::Complete.as_str(),
        method: &job.method_snapshot,
        flow_id: job.flow_id,
    };
    diesel::insert_into(charge::table)
        .values((bonus, charge::completed_at.eq(diesel::dsl::now)))
        .on_conflict(charge::order_id)
        .do_nothing()
        .returning(charge::id)
        .get_result(conn)
        .await
        .optional()
}

/// Whether the claim still stands.
pub(super) async fn is_held(conn: &mut AsyncPgConnection, claimed: &ClaimedJob) -> QueryResult<bool> {
    let now = charge_event_job::table.find(claimed.job.id).select(ChargeJob::as_select()).first(conn).await;
    let now: Option<ChargeJob> = now.optional()?;
    let is_ours =
        |job: ChargeJob| job.is(ChargeJobStatus::Processing) && job.claim_token == Some(claimed.token);
    Ok(now.is_some_and(is_ours))
}

/// PROCESSING → DONE; false if the claim is lost.
pub(super) async fn done(
    conn: &mut AsyncPgConnection,
    claimed: &ClaimedJob,
    bonus_id: i64,
) -> QueryResult<bool> {
    let done = Statement::new(
        "UPDATE charge_event_job SET status = 'DONE', result_charge_id = $3, processed_at = now(), last_error = NULL
         WHERE id = $1 AND status = 'PROCESSING' AND claim_token = $2",
    )
    .bind::<BigInt, _>(claimed.job.id)
    .bind::<SqlUuid, _>(claimed.token)
    .bind::<BigInt, _>(bonus_id)
    .execute(conn)
    .await?;
    Ok(done > 0)
}

/// PROCESSING → PENDING or FAILED; false if the claim is lost.
pub(super) async fn failed(
    conn: &mut AsyncPgConnection,
    claimed: &ClaimedJob,
    after: AfterFailure,
    error: &str,
) -> QueryResult<bool> {
    let (status, retry_count, wait) = match after {
        AfterFailure::Retry { retry_count, wait } => {
            (ChargeJobStatus::Pending, retry_count, Some(millis(wait)))
        }
        AfterFailure::GiveUp { retry_count } => (ChargeJobStatus::Failed, retry_count, None),
    };
    let failed = Statement::new(
        "UPDATE charge_event_job
         SET status = $3, retry_count = $4, next_retry_at = now() + $5 * interval '1 millisecond', last_error = $6
         WHERE id = $1 AND status = 'PROCESSING' AND claim_token = $2",
    )
    .bind::<BigInt, _>(claimed.job.id)
    .bind::<SqlUuid, _>(claimed.token)
    .bind::<Text, _>(status.as_str())
    .bind::<Integer, _>(retry_count)
    .bind::<Nullable<BigInt>, _>(wait)
    .bind::<Text, _>(error.to_owned())
    .execute(conn)
    .await?;
    Ok(failed > 0)
}

/// A job that was taken over from a process that died.
#[derive(Debug, Clone, QueryableByName)]
#[diesel(table_name = charge_event_job)]
pub(super) struct StuckJob {
    pub(super) id: i64,
    pub(super) retry_count: i32,
    pub(super) flow_id: Uuid,
    #[diesel(sql_type = diesel::sql_types::Nullable<diesel::sql_types::Timestamptz>)]
    pub(super) stuck_since: Option<Instant>,
}

/// PROCESSING for longer than the lease → PENDING, due now; the old claim's marks are void.
pub(super) async fn recover(
    conn: &mut AsyncPgConnection,
    lease: Duration,
    limit: i64,
) -> QueryResult<Vec<StuckJob>> {
    Statement::new(
        "WITH stuck AS MATERIALIZED (
             SELECT id, processing_started_at FROM charge_event_job
             WHERE status = 'PROCESSING' AND processing_started_at <= now() - $1 * interval '1 millisecond'
             ORDER BY processing_started_at, id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
         )
         UPDATE charge_event_job j
         SET status = 'PENDING', next_retry_at = now(), claim_token = NULL, last_error = 'its process died while it granted the bonus'
         FROM stuck WHERE j.id = stuck.id
         RETURNING j.id, j.retry_count, j.flow_id, stuck.processing_started_at AS stuck_since",
    )
    .bind::<BigInt, _>(millis(lease))
    .bind::<BigInt, _>(limit)
    .load(conn)
    .await
}

/// The job, locked for what follows.
pub(super) async fn locked(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<ChargeJob>> {
    charge_event_job::table
        .find(id)
        .select(ChargeJob::as_select())
        .for_no_key_update()
        .first(conn)
        .await
        .optional()
}

/// FAILED → PENDING, due now, its retries anew.
pub(super) async fn retry(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<usize> {
    Statement::new(
        "UPDATE charge_event_job SET status = 'PENDING', retry_count = 0, next_retry_at = now(), claim_token = NULL
         WHERE id = $1 AND status = 'FAILED'",
    )
    .bind::<BigInt, _>(id)
    .execute(conn)
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_names_charge_type_and_promotion() {
        assert_eq!(
            key_of(7, ChargeJobType::ActiveChargeEvent, Some(3)),
            "charge-event:7:ACTIVE_CHARGE_EVENT:3"
        );
        assert_eq!(key_of(7, ChargeJobType::FirstCharge, None), "charge-event:7:FIRST_CHARGE:none");
    }
}
