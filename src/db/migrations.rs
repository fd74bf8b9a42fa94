//! The embedded migrations, applied by one process at a time.

use diesel::{
    QueryableByName,
    migration::MigrationSource,
    pg::Pg,
    result::{Error as DieselError, QueryResult},
    sql_types::{Array, Bool, Text},
};
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

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Bool)]
    yes: bool,
}

/// Whether the database has every migration of this version.
pub async fn are_applied(conn: &mut AsyncPgConnection) -> QueryResult<bool> {
    let is_there = Statement::new("SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL AS yes");
    if !is_there.get_result::<Answer>(conn).await?.yes {
        return Ok(false);
    }
    let ours = MigrationSource::<Pg>::migrations(&MIGRATIONS).map_err(DieselError::QueryBuilderError)?;
    let ours = ours.iter().map(|migration| migration.name().version().to_string()).collect::<Vec<_>>();
    let all = Statement::new(
        "SELECT NOT EXISTS (SELECT FROM unnest($1) AS ours (version)
                            WHERE version NOT IN (SELECT version FROM __diesel_schema_migrations)) AS yes",
    );
    Ok(all.bind::<Array<Text>, _>(ours).get_result::<Answer>(conn).await?.yes)
}

async fn lock(connection: &mut AsyncPgConnection) -> Result<(), diesel::result::Error> {
    Statement::new("SELECT pg_advisory_lock($1)")
        .bind::<diesel::sql_types::BigInt, _>(LOCK)
        .execute(connection)
        .await?;
    Ok(())
}
