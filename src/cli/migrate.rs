//! `paydesk migrate`: applies what is pending.

use clap::Args;

use super::CommandError;
use crate::{
    config::{DatabaseConfig, LogConfig},
    db::{Connector, migrations},
};

/// What `paydesk migrate` can be told.
#[derive(Debug, Args)]
pub struct MigrateArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub database: DatabaseConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub log: LogConfig,
}

/// Applies the pending migrations and prints their versions.
pub(super) async fn run(args: MigrateArgs) -> Result<(), CommandError> {
    crate::telemetry::init_logs(&args.log)?;
    let connector = Connector::new(&args.database.database_url, args.database.authorities()?.as_deref())?;
    let applied = migrations::migrate(&connector).await.map_err(CommandError::failed)?;
    for version in &applied {
        println!("applied {version}");
    }
    println!("{} migrations applied; the database is up to date", applied.len());
    Ok(())
}
