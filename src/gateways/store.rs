use diesel::{
    Insertable, QueryableByName,
    pg::Pg,
    result::QueryResult,
    sql_types::{Array, BigInt, Text},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::ProviderCall;
use crate::{
    db::{Statement, schema::provider_call},
    types::Instant,
};

/// A call as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, QueryableByName)]
#[diesel(table_name = provider_call, check_for_backend(Pg))]
pub struct RecordedCall {
    /// Primary key.
    pub id: i64,
    /// Such as `TOSS`.
    pub provider: String,
    /// Such as `key-in`.
    pub operation: String,
    /// What it was for, such as `PAYMENT`.
    pub subject_type: String,
    /// Its id.
    pub subject_id: i64,
    /// The key under which the provider recognises a repetition.
    pub idempotency_key: Option<String>,
    /// A [`super::CallOutcome`].
    pub outcome: String,
    /// The provider's code.
    pub code: Option<String>,
    /// How long it took.
    pub duration_ms: i32,
    /// When it was recorded.
    pub at: Instant,
}

#[derive(Insertable)]
#[diesel(table_name = provider_call)]
struct NewCall<'a> {
    provider: &'a str,
    operation: &'a str,
    subject_type: &'a str,
    subject_id: i64,
    flow_id: Uuid,
    idempotency_key: Option<&'a str>,
    outcome: &'a str,
    code: Option<&'a str>,
    duration_ms: i32,
}

/// Writes a call down, in the transaction that follows it.
pub async fn record_call(
    conn: &mut AsyncPgConnection,
    call: &ProviderCall,
    subject_type: &str,
    subject_id: i64,
    flow_id: Uuid,
) -> QueryResult<()> {
    let row = NewCall {
        provider: call.provider,
        operation: call.operation,
        subject_type,
        subject_id,
        flow_id,
        idempotency_key: call.idempotency_key.as_deref(),
        outcome: call.outcome.as_str(),
        code: call.code.as_deref(),
        duration_ms: i32::try_from(call.duration.as_millis()).unwrap_or(i32::MAX),
    };
    diesel::insert_into(provider_call::table).values(row).execute(conn).await?;
    Ok(())
}

/// The calls for these subjects, oldest first; of each the newest `per_subject`.
pub async fn calls_for(
    conn: &mut AsyncPgConnection,
    subject_type: &'static str,
    subject_ids: Vec<i64>,
    per_subject: i64,
) -> QueryResult<Vec<RecordedCall>> {
    Statement::new(
        "SELECT newest.* FROM unnest($2) AS subject (id) CROSS JOIN LATERAL (
             SELECT id, provider, operation, subject_type, subject_id, idempotency_key, outcome, code, duration_ms, at
             FROM provider_call WHERE subject_type = $1 AND subject_id = subject.id ORDER BY id DESC LIMIT $3
         ) newest ORDER BY newest.id",
    )
    .bind::<Text, _>(subject_type)
    .bind::<Array<BigInt>, _>(subject_ids)
    .bind::<BigInt, _>(per_subject)
    .load(conn)
    .await
}
