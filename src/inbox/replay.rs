//! What operators do with dead letters.

use diesel::{
    ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper,
    result::QueryResult,
    sql_types::{BigInt, Text, Uuid as SqlUuid},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::{
    Consumer, DeadLetterStatus, HandlingError, InboundDeadLetter, Inbox, InboxKey, Message,
    dead_letter::{ErrorClass, failure},
    entry,
    error::{Consequence, Trouble},
    lease::ReplayLease,
};
use crate::{
    audit::{self, Deed},
    auth::AdminPrincipal,
    db::{DbError, Statement, Transaction, schema::inbound_dead_letter as letters},
    failures::{self, SubjectType},
    workers::spawn_tracked,
};

/// Conflicts with other transactions before a replay gives up.
const CONFLICTS: u32 = 5;

/// Why a dead letter was not replayed or discarded.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// There is no such dead letter (any more).
    #[error("there is no dead letter {0}")]
    NotFound(i64),
    /// It is no longer open, or somebody replays it now.
    #[error("{reason}")]
    InvalidState {
        /// The dead letter as it is.
        letter: Box<InboundDeadLetter>,
        /// Why.
        reason: String,
    },
    /// The replay was made, and failed as the message did before.
    #[error("the replay failed: {reason}")]
    Failed {
        /// The dead letter as it is: still open.
        letter: Box<InboundDeadLetter>,
        /// Whether the message itself is at fault.
        class: ErrorClass,
        /// What went wrong.
        reason: String,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
    /// The work ended without an answer.
    #[error("the replay's task ended unexpectedly")]
    TaskLost,
}

impl From<diesel::result::Error> for ReplayError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

impl Inbox {
    /// Hands a dead letter to its queue's handler, once: carried out → REPLAYED; failed → it stays OPEN with the new
    /// error. Audited in the transaction that begins it. It goes on when the caller goes away.
    pub async fn replay(
        &self,
        admin: &AdminPrincipal,
        id: i64,
        reason: &str,
        request_id: &str,
    ) -> Result<InboundDeadLetter, ReplayError> {
        let mut tx = self.db.begin().await?;
        let before = match locked(tx.conn(), id).await? {
            Some(letter) => letter,
            None => return not_found(tx, id).await,
        };
        let Some(lease) = ReplayLease::take(tx.conn(), id, self.replay_lease).await? else {
            tx.rollback().await?;
            let reason = match before.status.as_str() {
                "OPEN" => "it is being replayed now".to_owned(),
                status => format!("it is {status}; only OPEN ones can be replayed"),
            };
            return Err(ReplayError::InvalidState { letter: Box::new(before), reason });
        };
        let Some(consumer) = self.consumer_of(&before.queue) else {
            tx.rollback().await?;
            let reason = format!("nothing here consumes the queue {}", before.queue);
            return Err(ReplayError::InvalidState { letter: Box::new(before), reason });
        };
        let after = serde_json::json!({ "status": before.status, "replaying": true });
        audit(&mut tx, admin, "replayInboundDeadLetter", &before, after, reason, request_id).await?;
        let body = letters::table.find(id).select(letters::body).first::<Vec<u8>>(tx.conn()).await?;
        tx.commit().await?;
        let inbox = self.clone();
        let work = async move { inbox.carry_out(&consumer, before, &body, lease).await };
        spawn_tracked(&self.tasks, work).await.unwrap_or(Err(ReplayError::TaskLost))
    }

    /// OPEN → DISCARDED; audited in the same transaction.
    pub async fn discard(
        &self,
        admin: &AdminPrincipal,
        id: i64,
        reason: &str,
        request_id: &str,
    ) -> Result<InboundDeadLetter, ReplayError> {
        let mut tx = self.db.begin().await?;
        let before = match locked(tx.conn(), id).await? {
            Some(letter) => letter,
            None => return not_found(tx, id).await,
        };
        let discarded = Statement::new(
            "UPDATE inbound_dead_letter SET status = 'DISCARDED', replaying_until = NULL, replay_token = NULL
             WHERE id = $1 AND status = 'OPEN' AND coalesce(replaying_until <= now(), true)",
        )
        .bind::<BigInt, _>(id)
        .execute(tx.conn())
        .await?;
        if discarded == 0 {
            tx.rollback().await?;
            let reason = match before.status.as_str() {
                "OPEN" => "it is being replayed now".to_owned(),
                status => format!("it is {status}; only OPEN ones can be discarded"),
            };
            return Err(ReplayError::InvalidState { letter: Box::new(before), reason });
        }
        let after = serde_json::json!({ "status": DeadLetterStatus::Discarded.as_str() });
        audit(&mut tx, admin, "discardInboundDeadLetter", &before, after, reason, request_id).await?;
        let letter = locked(tx.conn(), id).await?.ok_or(ReplayError::NotFound(id))?;
        tx.commit().await?;
        Ok(letter)
    }

    async fn carry_out(
        &self,
        consumer: &Consumer,
        letter: InboundDeadLetter,
        body: &[u8],
        lease: ReplayLease,
    ) -> Result<InboundDeadLetter, ReplayError> {
        let stop = self.tasks.stopping().child_token();
        let outcome = tokio::select! {
            outcome = self.once_more(consumer, body, &stop) => outcome,
            never = lease.keep(&self.db, &stop) => match never {},
        };
        let mut tx = self.db.begin().await?;
        let failed = match outcome {
            Ok(()) => {
                mark_replayed(tx.conn(), letter.id).await?;
                None
            }
            Err((class, trouble)) => {
                let held = mark_failed(tx.conn(), lease, class, &trouble).await? == 1;
                if held {
                    let event_type = consumer.subscription().event_type;
                    let again = failure(letter.id, class, &trouble, event_type, letter.flow_id, 2);
                    failures::record(tx.conn(), again).await?;
                }
                Some((held, class, trouble.message))
            }
        };
        let after = locked(tx.conn(), letter.id).await?.ok_or(ReplayError::NotFound(letter.id))?;
        tx.commit().await?;
        let letter = Box::new(after);
        match failed {
            None if letter.status == DeadLetterStatus::Replayed.as_str() => Ok(*letter),
            None => {
                let reason = format!("it was carried out, but had become {} meanwhile", letter.status);
                Err(ReplayError::InvalidState { letter, reason })
            }
            Some((true, class, reason)) => Err(ReplayError::Failed { letter, class, reason }),
            Some((false, _, failure)) => {
                let reason = format!(
                    "this replay lost it, as the database was out of reach for too long; its end was: {failure}"
                );
                Err(ReplayError::InvalidState { letter, reason })
            }
        }
    }

    /// One try, which is not counted: an operator wants it.
    async fn once_more(
        &self,
        consumer: &Consumer,
        body: &[u8],
        stop: &CancellationToken,
    ) -> Result<(), (ErrorClass, Trouble)> {
        let subscription = consumer.subscription();
        let data = |error| (ErrorClass::Data, Trouble::of(error));
        let message = Message::read(body, subscription.event_type).map_err(data)?;
        let key = InboxKey::of(&message, subscription.queue.name);
        let _turn = consumer.turns.take(key).await;
        let mut conflicts = 0;
        loop {
            let error = match self.try_once(consumer, &message, key, stop).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            match error.consequence() {
                Consequence::Again(_) if conflicts < CONFLICTS => conflicts += 1,
                Consequence::Data(trouble) => return Err((ErrorClass::Data, trouble)),
                Consequence::System(trouble) | Consequence::Again(trouble) => {
                    return Err((ErrorClass::System, trouble));
                }
                Consequence::Pause(error) => {
                    return Err((ErrorClass::System, Trouble::of(HandlingError::Database(error))));
                }
                Consequence::Leave => {
                    return Err((ErrorClass::System, Trouble::of(HandlingError::Stopped)));
                }
            }
        }
    }

    async fn try_once(
        &self,
        consumer: &Consumer,
        message: &Message,
        key: InboxKey,
        stop: &CancellationToken,
    ) -> Result<(), HandlingError> {
        let mut conn = self.db.conn().await?;
        let done = entry::count_try(&mut conn, key, 0).await?.is_done();
        drop(conn);
        if done { Ok(()) } else { consumer.carry_out(message, key, stop).await }
    }
}

async fn not_found(tx: Transaction, id: i64) -> Result<InboundDeadLetter, ReplayError> {
    tx.rollback().await?;
    Err(ReplayError::NotFound(id))
}

async fn locked(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<InboundDeadLetter>> {
    letters::table
        .filter(letters::id.eq(id))
        .select(InboundDeadLetter::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()
}

/// Not fenced: whoever holds it now, it was carried out.
async fn mark_replayed(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<usize> {
    Statement::new(
        "UPDATE inbound_dead_letter SET status = 'REPLAYED', replaying_until = NULL, replay_token = NULL
         WHERE id = $1 AND status = 'OPEN'",
    )
    .bind::<BigInt, _>(id)
    .execute(conn)
    .await
}

async fn mark_failed(
    conn: &mut AsyncPgConnection,
    lease: ReplayLease,
    class: ErrorClass,
    trouble: &Trouble,
) -> QueryResult<usize> {
    Statement::new(
        "UPDATE inbound_dead_letter
         SET error_class = $2, error_code = $3, error = $4, replaying_until = NULL, replay_token = NULL
         WHERE id = $1 AND status = 'OPEN' AND replay_token = $5",
    )
    .bind::<BigInt, _>(lease.letter)
    .bind::<Text, _>(class.as_str())
    .bind::<Text, _>(crate::types::text::storable(&trouble.code, 500))
    .bind::<Text, _>(crate::types::text::storable(&trouble.message, 8 * 1024))
    .bind::<SqlUuid, _>(lease.token)
    .execute(conn)
    .await
}

async fn audit(
    tx: &mut Transaction,
    admin: &AdminPrincipal,
    action: &'static str,
    before: &InboundDeadLetter,
    after: serde_json::Value,
    reason: &str,
    request_id: &str,
) -> QueryResult<()> {
    let deed = Deed {
        action,
        target_type: SubjectType::InboundDeadLetter.as_str(),
        target_id: before.id.to_string(),
        reason: Some(reason),
        before: Some(serde_json::json!({ "status": before.status, "error": before.error })),
        after: Some(after),
        request_id,
        flow_id: before.flow_id,
    };
    audit::record(tx.conn(), admin, deed).await
}
