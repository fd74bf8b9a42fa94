use std::{convert::Infallible, time::Duration};

use diesel::{
    result::QueryResult,
    sql_types::{BigInt, Uuid as SqlUuid},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    db::{Database, DbError, Statement},
    types::millis,
};

/// A replay's hold on its dead letter: it keeps a second replay and a discard away. Its token tells it from a later one.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplayLease {
    pub(super) letter: i64,
    pub(super) token: Uuid,
    length: Duration,
}

impl ReplayLease {
    /// Takes an open dead letter that nobody replays now; none if it is not.
    pub(super) async fn take(
        conn: &mut AsyncPgConnection,
        letter: i64,
        length: Duration,
    ) -> QueryResult<Option<Self>> {
        let lease = Self { letter, token: Uuid::new_v4(), length };
        let taken = Statement::new(
            "UPDATE inbound_dead_letter
             SET replaying_until = now() + $3 * interval '1 millisecond', replay_token = $2
             WHERE id = $1 AND status = 'OPEN' AND coalesce(replaying_until <= now(), true)",
        );
        Ok(lease.bound(taken).execute(conn).await?.eq(&1).then_some(lease))
    }

    /// Renews it for as long as it is polled, every third of its length. Once it is lost, `stop` is cancelled: another
    /// replay may be at it.
    pub(super) async fn keep(self, db: &Database, stop: &CancellationToken) -> Infallible {
        loop {
            tokio::time::sleep(self.length / 3).await;
            match self.renew(db).await {
                Ok(true) => {}
                Ok(false) => {
                    tracing::warn!(dead_letter = self.letter, "a replay lost its dead letter; it stops");
                    stop.cancel();
                    return std::future::pending().await;
                }
                // The next one may come in time.
                Err(error) => {
                    tracing::warn!(dead_letter = self.letter, %error, "a replay's lease was not renewed");
                }
            }
        }
    }

    async fn renew(self, db: &Database) -> Result<bool, DbError> {
        let renewed = Statement::new(
            "UPDATE inbound_dead_letter SET replaying_until = now() + $3 * interval '1 millisecond'
             WHERE id = $1 AND status = 'OPEN' AND replay_token = $2",
        );
        Ok(self.bound(renewed).execute(&mut *db.conn().await?).await? == 1)
    }

    fn bound(self, statement: Statement) -> Statement {
        statement
            .bind::<BigInt, _>(self.letter)
            .bind::<SqlUuid, _>(self.token)
            .bind::<BigInt, _>(millis(self.length))
    }
}
