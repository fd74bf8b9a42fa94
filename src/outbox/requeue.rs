use diesel::{
    ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper, result::QueryResult, sql_types::BigInt,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use thiserror::Error;

use super::{Outbox, OutboxEvent, OutboxStatus, PublishTrigger, lanes::AggregateKey};
use crate::{
    audit::{self, Deed},
    auth::AdminPrincipal,
    db::{Database, DbError, Statement, schema::payment_outbox},
    failures::SubjectType,
};

/// Why an event was not requeued.
#[derive(Debug, Error)]
pub enum RequeueError {
    /// There is no such event (any more).
    #[error("there is no outbox event {0}")]
    NotFound(i64),
    /// Only FAILED and `DEAD_LETTERED` events can be requeued.
    #[error("an event that is {status} cannot be requeued; only FAILED and DEAD_LETTERED ones can")]
    InvalidState {
        /// The event as it is.
        event: Box<OutboxEvent>,
        /// Its status.
        status: String,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
}

impl From<diesel::result::Error> for RequeueError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

/// FAILED or `DEAD_LETTERED` → PENDING, due now, with its retries anew; audited in the same transaction. It keeps its
/// event id, and its tries go on counting. Of two at once one wins; the other is told the state.
pub async fn requeue(
    db: &Database,
    outbox: &Outbox,
    admin: &AdminPrincipal,
    id: i64,
    reason: &str,
    request_id: &str,
) -> Result<OutboxEvent, RequeueError> {
    let mut tx = db.begin().await?;
    let Some(before) = locked(tx.conn(), id).await? else {
        tx.rollback().await?;
        return Err(RequeueError::NotFound(id));
    };
    if !before.state().is_some_and(OutboxStatus::is_requeueable) {
        tx.rollback().await?;
        return Err(RequeueError::InvalidState { status: before.status.clone(), event: Box::new(before) });
    }
    reset(tx.conn(), id).await?;
    let after = locked(tx.conn(), id).await?.ok_or(RequeueError::NotFound(id))?;
    let deed = Deed {
        action: "requeueOutboxEvent",
        target_type: SubjectType::OutboxEvent.as_str(),
        target_id: id.to_string(),
        reason: Some(reason),
        before: Some(delivery_state(&before)),
        after: Some(delivery_state(&after)),
        request_id,
        flow_id: Some(before.flow_id),
    };
    audit::record(tx.conn(), admin, deed).await?;
    let key = AggregateKey::of(&after.aggregate_type, &after.aggregate_id);
    outbox.hand_over_after_commit(&mut tx, id, key, PublishTrigger::Manual);
    tx.commit().await?;
    Ok(after)
}

async fn locked(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<OutboxEvent>> {
    payment_outbox::table
        .filter(payment_outbox::id.eq(id))
        .select(OutboxEvent::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()
}

async fn reset(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<usize> {
    Statement::new(
        "UPDATE payment_outbox SET status = 'PENDING', retry_count = 0, next_retry_at = NULL, dead_lettered_at = NULL,
             claim_trigger = 'MANUAL'
         WHERE id = $1 AND status IN ('FAILED', 'DEAD_LETTERED')",
    )
    .bind::<BigInt, _>(id)
    .execute(conn)
    .await
}

fn delivery_state(event: &OutboxEvent) -> serde_json::Value {
    serde_json::json!({
        "status": event.status,
        "retryCount": event.retry_count,
        "attemptCount": event.attempt_count,
        "nextRetryAt": event.next_retry_at,
        "lastErrorCode": event.last_error_code,
        "lastError": event.last_error,
    })
}
