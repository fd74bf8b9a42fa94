use diesel_async::{AnsiTransactionManager, AsyncPgConnection, TransactionManager};

use super::{DbError, PooledConnection};

type AfterCommit = Box<dyn FnOnce() + Send>;

/// An open transaction, and what is to happen once it has committed.
///
/// Actions registered with [`Transaction::after_commit`] run in [`Transaction::commit`] and nowhere else: never
/// before the commit, never after a rollback. Dropping the transaction closes its connection, which rolls back.
pub struct Transaction {
    connection: PooledConnection,
    after_commit: Vec<AfterCommit>,
}

impl Transaction {
    pub(super) async fn begin(mut connection: PooledConnection) -> Result<Self, DbError> {
        AnsiTransactionManager::begin_transaction(&mut *connection).await?;
        Ok(Self { connection, after_commit: Vec::new() })
    }

    /// The connection, for the stores.
    pub fn conn(&mut self) -> &mut AsyncPgConnection {
        &mut self.connection
    }

    /// Has `action` run right after the commit. It must not block: a hint to another task, no more.
    pub fn after_commit(&mut self, action: impl FnOnce() + Send + 'static) {
        self.after_commit.push(Box::new(action));
    }

    /// Commits, gives the connection back, then runs the after-commit actions.
    ///
    /// An error may mean that the answer was lost: the caller cannot know whether it committed.
    pub async fn commit(mut self) -> Result<(), DbError> {
        AnsiTransactionManager::commit_transaction(&mut *self.connection).await?;
        drop(self.connection);
        for action in self.after_commit {
            action();
        }
        Ok(())
    }

    /// Rolls back and gives the connection back.
    pub async fn rollback(mut self) -> Result<(), DbError> {
        AnsiTransactionManager::rollback_transaction(&mut *self.connection).await?;
        Ok(())
    }
}
