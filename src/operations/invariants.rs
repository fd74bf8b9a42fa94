//! The books: what must hold of the stored rows whatever happened, each told with the rows that break it.
//! Who adds a table adds what must hold of it.

mod charges;
mod inbox;
mod outbox;
mod payments;
mod records;

use std::{sync::Arc, time::Duration};

use diesel::{
    QueryableByName,
    result::QueryResult,
    sql_types::{Array, BigInt, Text},
};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use tokio::{sync::Mutex, time::Instant as Stopwatch};

use crate::{
    config::{OutboxConfig, ReconcileConfig},
    db::{Database, DbError, Statement},
    types::{Instant, clock},
};

/// Of a table that grows with history, so many of the newest rows are looked at for the API.
const NEWEST: i64 = 10_000;
/// How old what the API shows may be: however many look, the database is asked once in this time.
const FRESH: Duration = Duration::from_secs(30);

/// What must hold.
struct Invariant {
    name: &'static str,
    description: &'static str,
    /// Finds the ids that break it. `$1` bounds the rows that are looked at, the newest first, where a table grows with
    /// history; `$2` and `$3` are [`Patience`]'s. `OFFSET 0` keeps an EXISTS one look at an index for each row: as a join
    /// it may read the whole other table.
    violations: &'static str,
}

/// An invariant from a query of the ids that break it.
macro_rules! invariant {
    ($name:literal, $description:literal, $violations:literal) => {
        $crate::operations::invariants::Invariant {
            name: $name,
            description: $description,
            violations: concat!(
                "SELECT count(*) AS violations, coalesce((array_agg(id))[1:10], '{}') AS sample_ids FROM (SELECT id::text FROM (",
                $violations,
                ") violation (id) LIMIT 10000) bounded"
            ),
        }
    };
}
use invariant;

/// How long something may be under way before nobody seems to be at it, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// An outbox event in PROCESSING: its lease, and two looks of the recovery.
    processing: i64,
    /// A payment or refund that is due to be asked about: ten looks of the reconciler, and five minutes.
    unknown: i64,
}

impl Patience {
    /// Follows the settings of those who look.
    pub fn new(outbox: &OutboxConfig, reconcile: &ReconcileConfig) -> Self {
        let seconds = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX / 4);
        Self {
            processing: seconds(outbox.outbox_stuck_after)
                .saturating_add(seconds(outbox.outbox_recovery_interval).saturating_mul(2))
                .saturating_add(60),
            unknown: seconds(reconcile.payment_reconcile_after)
                .saturating_add(seconds(reconcile.payment_reconcile_interval).saturating_mul(10))
                .saturating_add(300),
        }
    }
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The invariant's name, for machines.
    pub name: &'static str,
    /// What must hold.
    pub description: &'static str,
    /// How many rows break it, counted up to 10,000.
    pub violations: i64,
    /// Ten of their ids at most.
    pub sample_ids: Vec<String>,
    /// When.
    pub checked_at: Instant,
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = BigInt)]
    violations: i64,
    #[diesel(sql_type = Array<Text>)]
    sample_ids: Vec<String>,
}

fn all() -> impl Iterator<Item = &'static Invariant> {
    [payments::INVARIANTS, charges::INVARIANTS, outbox::INVARIANTS, inbox::INVARIANTS, records::INVARIANTS]
        .into_iter()
        .flatten()
}

/// Checks everything, one statement after the other; of a table that grows with history the newest `rows`.
pub async fn check_invariants(
    conn: &mut AsyncPgConnection,
    patience: Patience,
    rows: i64,
) -> QueryResult<Vec<Checked>> {
    conn.transaction(async move |conn| {
        // A plan for any number of rows would read and sort the whole table for the newest of them.
        conn.batch_execute("SET LOCAL plan_cache_mode = force_custom_plan").await?;
        check_all(conn, patience, rows).await
    })
    .await
}

async fn check_all(conn: &mut AsyncPgConnection, patience: Patience, rows: i64) -> QueryResult<Vec<Checked>> {
    let mut checked = Vec::new();
    for Invariant { name, description, violations } in all() {
        let statement = Statement::new(violations)
            .bind::<BigInt, _>(rows)
            .bind::<BigInt, _>(patience.processing)
            .bind::<BigInt, _>(patience.unknown);
        let found: Found = statement.get_result(conn).await?;
        let (violations, sample_ids) = (found.violations, found.sample_ids);
        checked.push(Checked { name, description, violations, sample_ids, checked_at: clock::now() });
    }
    Ok(checked)
}

/// When the books were looked at, and what was found.
type Look = (Stopwatch, Arc<Vec<Checked>>);

/// The books for many readers: checked by the first who looks, and not again for a while.
#[derive(Clone)]
pub struct Books {
    db: Database,
    patience: Patience,
    last: Arc<Mutex<Option<Look>>>,
}

impl Books {
    /// Nothing is checked yet.
    pub fn new(db: Database, patience: Patience) -> Self {
        Self { db, patience, last: Arc::default() }
    }

    /// What was found, half a minute ago at most.
    pub async fn checked(&self) -> Result<Arc<Vec<Checked>>, DbError> {
        // Held meanwhile: who comes during a check waits for it instead of making another.
        let mut last = self.last.lock().await;
        if let Some((at, checked)) = last.as_ref()
            && at.elapsed() < FRESH
        {
            return Ok(Arc::clone(checked));
        }
        let checked = check_invariants(&mut *self.db.read().await?, self.patience, NEWEST).await?;
        let (_at, checked) = last.insert((Stopwatch::now(), Arc::new(checked)));
        Ok(Arc::clone(checked))
    }
}
