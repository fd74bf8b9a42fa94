use diesel::{
    ExpressionMethods, Insertable, QueryDsl, Queryable, Selectable, SelectableHelper, pg::Pg,
    result::QueryResult,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::ProviderCall;
use crate::{db::schema::provider_call, types::Instant};

/// A call as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
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

/// The calls for these subjects, oldest first; at most `limit` rows.
pub async fn calls_for(
    conn: &mut AsyncPgConnection,
    subject_type: &str,
    subject_ids: &[i64],
    limit: i64,
) -> QueryResult<Vec<RecordedCall>> {
    provider_call::table
        .filter(provider_call::subject_type.eq(subject_type))
        .filter(provider_call::subject_id.eq_any(subject_ids))
        .order(provider_call::id.asc())
        .limit(limit)
        .select(RecordedCall::as_select())
        .load(conn)
        .await
}
