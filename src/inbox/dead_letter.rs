use diesel::{
    OptionalExtension, QueryableByName,
    pg::Pg,
    prelude::{Queryable, Selectable},
    result::QueryResult,
    sql_types::{BigInt, Binary, Json, Nullable, Text, Uuid as SqlUuid},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::{
    HandlingError, InboxKey, entry,
    error::{Consequence, Trouble},
};
use crate::{
    db::{Database, DbError, Statement, schema::inbound_dead_letter},
    failures::{self, FailureKind, NewFailure, Severity, SubjectType},
    types::{Instant, stored_enum, text::storable},
};

/// Longest error and event id that are kept.
const MAX_ERROR_BYTES: usize = 8 * 1024;
const MAX_ID_BYTES: usize = 500;

stored_enum! {
    /// Whose fault it was.
    ErrorClass {
        /// The message is wrong.
        Data = "DATA",
        /// The message may be right; what it asks for could not be done.
        System = "SYSTEM",
    }
}

stored_enum! {
    /// What became of a dead letter.
    DeadLetterStatus {
        /// It waits for an operator.
        Open = "OPEN",
        /// A replay carried it out.
        Replayed = "REPLAYED",
        /// An operator gave it up.
        Discarded = "DISCARDED",
    }
}

/// A message that could not be consumed; [`bodies`](super::bodies) reads what it said.
#[derive(Debug, Clone, PartialEq, Queryable, Selectable)]
#[diesel(table_name = inbound_dead_letter, check_for_backend(Pg))]
pub struct InboundDeadLetter {
    /// Primary key.
    pub id: i64,
    /// The queue, without the deployment's prefix.
    pub queue: String,
    /// The AMQP headers.
    pub headers: serde_json::Value,
    /// Its event id, as far as one could be read.
    pub event_id: Option<String>,
    /// An [`ErrorClass`].
    pub error_class: String,
    /// What was wrong, for machines.
    pub error_code: String,
    /// What was wrong, for people.
    pub error: String,
    /// A [`DeadLetterStatus`].
    pub status: String,
    /// Until then a replay may be under way.
    pub replaying_until: Option<Instant>,
    /// The flow.
    pub flow_id: Option<Uuid>,
    /// When it was kept.
    pub received_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

/// A dead letter to keep.
pub(super) struct NewDeadLetter<'a> {
    pub(super) queue: &'static str,
    pub(super) event_type: &'static str,
    pub(super) body: &'a [u8],
    pub(super) headers: &'a serde_json::Value,
    pub(super) event_id: Option<String>,
    pub(super) class: ErrorClass,
    pub(super) trouble: &'a Trouble,
    pub(super) flow_id: Option<Uuid>,
    pub(super) redelivered: bool,
}

#[derive(QueryableByName)]
struct Id {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

impl Trouble {
    /// What a message that cannot even be read is told.
    pub(super) fn of(error: HandlingError) -> Self {
        match error.consequence() {
            Consequence::Data(trouble) | Consequence::System(trouble) | Consequence::Again(trouble) => {
                trouble
            }
            Consequence::Pause(error) => {
                Self { code: "DATABASE_UNAVAILABLE".to_owned(), message: error.to_string() }
            }
            Consequence::Leave => {
                Self { code: "STOPPED".to_owned(), message: "the process was stopping".to_owned() }
            }
        }
    }
}

/// Keeps a message with its failure, and has its tries counted anew: who sends it again means it.
pub(super) async fn keep(
    db: &Database,
    letter: &NewDeadLetter<'_>,
    key: Option<InboxKey>,
) -> Result<i64, DbError> {
    let mut tx = db.begin().await?;
    let event_id = letter.event_id.as_deref();
    if letter.redelivered
        && let Some(id) = open(tx.conn(), letter.queue, event_id, letter.body).await?
    {
        // Its process died between keeping and rejecting it.
        tx.rollback().await?;
        return Ok(id);
    }
    let id = insert(tx.conn(), letter).await?;
    let failure = failure(id, letter.class, letter.trouble, letter.event_type, letter.flow_id, 1);
    failures::record(tx.conn(), failure).await?;
    if let Some(key) = key {
        entry::give_back(tx.conn(), key, None).await?;
    }
    tx.commit().await?;
    Ok(id)
}

/// The open letter of this very message, if it was kept before.
pub(super) async fn open(
    conn: &mut AsyncPgConnection,
    queue: &str,
    event_id: Option<&str>,
    body: &[u8],
) -> QueryResult<Option<i64>> {
    let known: Option<Id> = Statement::new(
        "SELECT id FROM inbound_dead_letter
         WHERE status = 'OPEN' AND queue = $1 AND event_id IS NOT DISTINCT FROM $2 AND body = $3 LIMIT 1",
    )
    .bind::<Text, _>(queue.to_owned())
    .bind::<Nullable<Text>, _>(event_id.map(storable_id))
    .bind::<Binary, _>(body.to_vec())
    .get_result(conn)
    .await
    .optional()?;
    Ok(known.map(|known| known.id))
}

async fn insert(conn: &mut AsyncPgConnection, letter: &NewDeadLetter<'_>) -> QueryResult<i64> {
    let inserted: Id = Statement::new(
        "INSERT INTO inbound_dead_letter (queue, body, headers, event_id, error_class, error_code, error, flow_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id",
    )
    .bind::<Text, _>(letter.queue)
    .bind::<Binary, _>(letter.body.to_vec())
    .bind::<Json, _>(letter.headers.clone())
    .bind::<Nullable<Text>, _>(letter.event_id.as_deref().map(storable_id))
    .bind::<Text, _>(letter.class.as_str())
    .bind::<Text, _>(storable(&letter.trouble.code, MAX_ID_BYTES))
    .bind::<Text, _>(storable(&letter.trouble.message, MAX_ERROR_BYTES))
    .bind::<Nullable<SqlUuid>, _>(letter.flow_id)
    .get_result(conn)
    .await?;
    Ok(inserted.id)
}

fn storable_id(event_id: &str) -> String {
    storable(event_id, MAX_ID_BYTES)
}

/// What the feed is told of a dead letter.
pub(super) fn failure(
    id: i64,
    class: ErrorClass,
    trouble: &Trouble,
    event_type: &str,
    flow_id: Option<Uuid>,
    attempt: i32,
) -> NewFailure {
    NewFailure {
        kind: FailureKind::InboundDeadLettered,
        severity: Severity::Critical,
        subject_type: SubjectType::InboundDeadLetter,
        subject_id: id.to_string(),
        event_type: Some(event_type.to_owned()),
        code: trouble.code.clone(),
        message: trouble.message.clone(),
        detail: Some(serde_json::json!({ "errorClass": class.as_str() })),
        attempt,
        flow_id,
    }
}
