use diesel::{
    result::QueryResult,
    sql_types::{Array, Integer, Json, Nullable, Text, Uuid as SqlUuid},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::NewFailure;
use crate::db::Statement;

/// Records a failure in the caller's transaction.
pub async fn record(conn: &mut AsyncPgConnection, failure: NewFailure) -> QueryResult<()> {
    record_all(conn, std::slice::from_ref(&failure)).await
}

/// Records failures in the caller's transaction, in one statement, and hints to every process at its commit.
pub async fn record_all(conn: &mut AsyncPgConnection, failures: &[NewFailure]) -> QueryResult<()> {
    if failures.is_empty() {
        return Ok(());
    }
    let texts = |read: fn(&NewFailure) -> String| failures.iter().map(read).collect::<Vec<_>>();
    let insert = Statement::new(
        "WITH recorded AS (
             INSERT INTO failure (kind, severity, subject_type, subject_id, event_type, code, message, detail, fingerprint, attempt, flow_id)
             SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         )
         SELECT pg_notify('paydesk_failure', '')",
    )
    .bind::<Array<Text>, _>(texts(|failure| failure.kind.as_str().to_owned()))
    .bind::<Array<Text>, _>(texts(|failure| failure.severity.as_str().to_owned()))
    .bind::<Array<Text>, _>(texts(|failure| failure.subject_type.as_str().to_owned()))
    .bind::<Array<Text>, _>(texts(|failure| failure.subject_id.clone()))
    .bind::<Array<Nullable<Text>>, _>(failures.iter().map(|failure| failure.event_type.clone()).collect::<Vec<_>>())
    .bind::<Array<Text>, _>(texts(NewFailure::storable_code))
    .bind::<Array<Text>, _>(texts(NewFailure::storable_message))
    .bind::<Array<Nullable<Json>>, _>(failures.iter().map(|failure| failure.detail.clone()).collect::<Vec<_>>())
    .bind::<Array<Text>, _>(texts(NewFailure::fingerprint))
    .bind::<Array<Integer>, _>(failures.iter().map(|failure| failure.attempt).collect::<Vec<_>>())
    .bind::<Array<Nullable<SqlUuid>>, _>(failures.iter().map(|failure| failure.flow_id).collect::<Vec<_>>());
    insert.execute(conn).await?;
    Ok(())
}
