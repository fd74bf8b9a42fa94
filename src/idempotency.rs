//! Which row a caller's key made, so that the same request again has one effect and the same answer.

use std::time::Duration;

use diesel::{
    OptionalExtension, QueryableByName,
    result::QueryResult,
    sql_types::{BigInt, Binary, Bool, Text},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use sha2::{Digest, Sha256};

use crate::{db::Statement, types::millis};

/// How long a key is remembered (domain.md §5): as long as the provider remembers its own.
pub const REMEMBERED: Duration = Duration::from_secs(15 * 24 * 60 * 60);
/// Longest key, in characters.
pub const MAX_KEY_CHARS: usize = 255;

/// A key as a caller gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerKey {
    /// The subject of the caller's token: keys of different callers do not meet.
    pub caller: String,
    /// The mutation's name.
    pub operation: &'static str,
    /// The key.
    pub key: String,
}

/// The input under a key, as far as it may be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputHash([u8; 32]);

impl InputHash {
    /// Hashes the input's parts, each with its length, so that no two inputs run together. Card data never goes in,
    /// but for the number's last four digits.
    pub fn of(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part.as_bytes());
        }
        Self(hash.finalize().into())
    }

    /// What is stored.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What a key turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// Nobody used it: the caller must now insert the subject with this id, in the same transaction.
    Fresh {
        /// The id reserved for the subject.
        subject_id: i64,
    },
    /// The first request recorded its outcome: answer with the subject.
    Finished {
        /// The subject.
        subject_id: i64,
    },
    /// The first request is at work, or may be.
    Running,
    /// The first request died. Its lease is ours now: go on with the same subject.
    Resumed {
        /// The subject.
        subject_id: i64,
    },
    /// It was used with another input.
    Reused,
}

#[derive(QueryableByName)]
struct Reserved {
    #[diesel(sql_type = BigInt)]
    subject_id: i64,
}

#[derive(QueryableByName)]
struct Known {
    #[diesel(sql_type = BigInt)]
    subject_id: i64,
    #[diesel(sql_type = Bool)]
    same_input: bool,
    #[diesel(sql_type = Bool)]
    finished: bool,
    #[diesel(sql_type = Bool)]
    lease_over: bool,
}

/// Takes the key in the caller's transaction, or tells what became of it. `sequence` gives the subject its id
/// beforehand, so that the key names it from its first moment. Two requests with one fresh key: the second waits here
/// for the first one's commit, and after its rollback takes the key itself.
pub async fn take(
    conn: &mut AsyncPgConnection,
    caller_key: &CallerKey,
    input: InputHash,
    subject_type: &'static str,
    sequence: &'static str,
    lease: Duration,
) -> QueryResult<KeyState> {
    // A key that is no longer remembered is as good as unused.
    let reserved: Option<Reserved> = keyed(
        "INSERT INTO idempotency_key AS k (caller, operation, key, input_hash, subject_type, subject_id, lease_until)
         VALUES ($1, $2, $3, $4, $6, nextval($7::text::regclass), now() + $5 * interval '1 millisecond')
         ON CONFLICT (caller, operation, key) DO UPDATE
         SET input_hash = excluded.input_hash, subject_type = excluded.subject_type, subject_id = excluded.subject_id,
             lease_until = excluded.lease_until, finished_at = NULL, created_at = now()
         WHERE k.created_at < now() - $8 * interval '1 millisecond'
         RETURNING subject_id",
        caller_key,
        input,
        lease,
    )
    .bind::<Text, _>(subject_type)
    .bind::<Text, _>(sequence)
    .bind::<BigInt, _>(millis(REMEMBERED))
    .get_result(conn)
    .await
    .optional()?;
    match reserved {
        Some(Reserved { subject_id }) => Ok(KeyState::Fresh { subject_id }),
        None => known(conn, caller_key, input, lease).await,
    }
}

async fn known(
    conn: &mut AsyncPgConnection,
    caller_key: &CallerKey,
    input: InputHash,
    lease: Duration,
) -> QueryResult<KeyState> {
    let known: Known = keyed(
        "SELECT subject_id, input_hash = $4 AS same_input, finished_at IS NOT NULL AS finished,
                lease_until <= now() AS lease_over
         FROM idempotency_key WHERE caller = $1 AND operation = $2 AND key = $3 FOR UPDATE",
        caller_key,
        input,
        lease,
    )
    .get_result(conn)
    .await?;
    let subject_id = known.subject_id;
    if !known.same_input {
        Ok(KeyState::Reused)
    } else if known.finished {
        Ok(KeyState::Finished { subject_id })
    } else if !known.lease_over {
        Ok(KeyState::Running)
    } else {
        keyed(
            "UPDATE idempotency_key SET lease_until = now() + $5 * interval '1 millisecond'
             WHERE caller = $1 AND operation = $2 AND key = $3 AND input_hash = $4",
            caller_key,
            input,
            lease,
        )
        .execute(conn)
        .await?;
        Ok(KeyState::Resumed { subject_id })
    }
}

/// The first request recorded its outcome, in the transaction of that outcome.
pub async fn finish(
    conn: &mut AsyncPgConnection,
    subject_type: &'static str,
    subject_id: i64,
) -> QueryResult<usize> {
    Statement::new("UPDATE idempotency_key SET finished_at = now() WHERE subject_type = $1 AND subject_id = $2 AND finished_at IS NULL")
        .bind::<Text, _>(subject_type)
        .bind::<BigInt, _>(subject_id)
        .execute(conn)
        .await
}

/// Has a key that was taken [`KeyState::Fresh`] in this transaction name another subject: the row that was there
/// before answers for it. `finished` if that row's outcome is recorded.
pub async fn point_at(
    conn: &mut AsyncPgConnection,
    caller_key: &CallerKey,
    subject_id: i64,
    finished: bool,
) -> QueryResult<usize> {
    Statement::new(
        "UPDATE idempotency_key SET subject_id = $4, finished_at = CASE WHEN $5 THEN now() END
         WHERE caller = $1 AND operation = $2 AND key = $3",
    )
    .bind::<Text, _>(caller_key.caller.clone())
    .bind::<Text, _>(caller_key.operation)
    .bind::<Text, _>(caller_key.key.clone())
    .bind::<BigInt, _>(subject_id)
    .bind::<Bool, _>(finished)
    .execute(conn)
    .await
}

fn keyed(sql: &'static str, caller_key: &CallerKey, input: InputHash, lease: Duration) -> Statement {
    Statement::new(sql)
        .bind::<Text, _>(caller_key.caller.clone())
        .bind::<Text, _>(caller_key.operation)
        .bind::<Text, _>(caller_key.key.clone())
        .bind::<Binary, _>(input.bytes().to_vec())
        .bind::<BigInt, _>(millis(lease))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_run_together_have_different_hashes() {
        assert_ne!(InputHash::of(&["1", "23"]), InputHash::of(&["12", "3"]));
        assert_eq!(InputHash::of(&["1", "23"]), InputHash::of(&["1", "23"]));
    }
}
