//! `paydesk verify`: checks the books of a database.

use clap::Args;

use super::{CommandError, usage};
use crate::{
    config::{DatabaseConfig, LogConfig, OutboxConfig, ReconcileConfig},
    db::{Connector, migrations},
    operations::{Patience, check_invariants},
};

/// What `paydesk verify` can be told: what `serve` is told of the database, and for how long things may be under way.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub database: DatabaseConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub outbox: OutboxConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub reconcile: ReconcileConfig,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub log: LogConfig,
}

/// Prints each invariant, and the rows that break it. It fails if one is broken.
pub(super) async fn run(args: VerifyArgs) -> Result<(), CommandError> {
    crate::telemetry::init_logs(&args.log)?;
    let connector = Connector::new(&args.database.database_url, args.database.authorities()?.as_deref())?;
    // Neither pooled nor bounded in time: it reads all that there is.
    let mut conn = connector.connect().await.map_err(CommandError::failed)?;
    if !migrations::are_applied(&mut conn).await.map_err(CommandError::failed)? {
        return Err(CommandError::Failed(
            "this version's migrations are not applied: run `paydesk migrate` first".to_owned(),
        ));
    }
    let patience = Patience::new(&args.outbox, &args.reconcile);
    let checked = check_invariants(&mut conn, patience, i64::MAX).await.map_err(CommandError::failed)?;
    let mut report = String::new();
    for invariant in &checked {
        report += &if invariant.violations == 0 {
            format!("ok      {}: {}\n", invariant.name, invariant.description)
        } else {
            let (broken, ids) = (invariant.violations, invariant.sample_ids.join(", "));
            format!("BROKEN  {}: {} Broken by {broken}: {ids}\n", invariant.name, invariant.description)
        };
    }
    usage::print(&report).map_err(CommandError::failed)?;
    match checked.iter().filter(|invariant| invariant.violations > 0).count() {
        0 => Ok(()),
        broken => Err(CommandError::Failed(format!("{broken} of {} invariants are broken", checked.len()))),
    }
}
