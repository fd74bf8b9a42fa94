//! The embedded migrations, applied by one process at a time.

use diesel_async::{AsyncMigrationHarness, AsyncPgConnection, RunQueryDsl};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use thiserror::Error;

use super::{Connector, Statement};

/// Every migration of `migrations/`, inside the binary.
pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!();

/// Any number that no other program is likely to lock.
const LOCK: i64 = 0x7061_7964_6573_6b01;

/// Why the migrations were not applied.
#[derive(Debug, Error)]
pub enum MigrationError {
    /// The database cannot be reached.
    #[error("cannot reach the database: {0}")]
    Connect(#[from] diesel::ConnectionError),
    /// The lock that keeps two processes from migrating at once failed.
    #[error("cannot take the migration lock: {0}")]
    Lock(#[from] diesel::result::Error),
    /// A migration failed; the ones before it are applied.
    #[error("a migration failed: {0}")]
    Migration(String),
}

/// Applies what is pending and tells the versions that were applied. Several processes may call it at once:
/// the others wait, then find nothing to do. Needs tokio's multi-thread runtime.
pub async fn migrate(connector: &Connector) -> Result<Vec<String>, MigrationError> {
    let mut connection = connector.connect().await?;
    lock(&mut connection).await?;
    // The lock belongs to the connection and ends with it, also when a migration fails.
    let mut harness = AsyncMigrationHarness::new(connection);
    let applied = harness
        .run_pending_migrations(MIGRATIONS)
        .map_err(|error| MigrationError::Migration(error.to_string()))?;
    Ok(applied.iter().map(ToString::to_string).collect())
}

async fn lock(connection: &mut AsyncPgConnection) -> Result<(), diesel::result::Error> {
    Statement::new("SELECT pg_advisory_lock($1)")
        .bind::<diesel::sql_types::BigInt, _>(LOCK)
        .execute(connection)
        .await?;
    Ok(())
}
