use std::{
    ops::{Deref, DerefMut},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use diesel::{
    ConnectionError, ConnectionResult,
    connection::{Instrumentation, InstrumentationEvent},
};
use diesel_async::{
    AnsiTransactionManager, AsyncConnection, AsyncPgConnection, SimpleAsyncConnection, TransactionManager,
    pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, PoolError, PoolableConnection, bb8},
};
use futures_util::FutureExt;

use super::{
    Connector, DbError, Transaction,
    answer::{self, Answer},
    error::is_outdated_plan,
};
use crate::{
    config::{DatabaseConfig, SettingError},
    telemetry::record,
};

/// A connection on loan from a pool; one with an open transaction, or with a statement that was given up a while ago, is closed
/// instead of returned.
pub struct PooledConnection(bb8::PooledConnection<'static, AsyncPgConnection>);
type Pool = bb8::Pool<AsyncPgConnection>;

/// Longest life of a connection: after a failover the new server is found.
const MAX_LIFETIME: Duration = Duration::from_secs(5 * 60);
/// Errors are told apart by their English text where Diesel has no kind for them; a role that may not choose the
/// language leaves the server's.
const ENGLISH: &str = "DO $$ BEGIN PERFORM set_config('lc_messages', 'C', false);
    EXCEPTION WHEN insufficient_privilege THEN NULL; END $$";
/// How long opening a connection may take, with its setup; and two addresses before that do not answer.
const OPENING: Duration = Duration::from_secs(15);

/// What the connections of a pool are for.
#[derive(Clone, Copy)]
struct Role {
    setup: &'static str,
    /// How long an answer may take, well beyond the server's own limit of a statement. A line that takes what is sent and delivers
    /// nothing would keep the connection, and whoever waits for it, for ever. COMMIT, which the server does not limit, is
    /// given up likewise: as with any lost answer, nobody knows yet whether it happened.
    patience: Duration,
}

/// No transaction of ours waits for anything but the database, and nothing of it takes longer than this.
const WORK: Role = Role {
    setup: "SET statement_timeout = '30s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '5s'",
    patience: Duration::from_secs(45),
};
/// Reads cannot write, whatever the code says, and a filter that no index serves is cut off.
const READ: Role = Role {
    setup: "SET default_transaction_read_only = on; SET statement_timeout = '2s'",
    patience: Duration::from_secs(7),
};

/// The database as this process sees it: a pool for work and a pool for the API's reads, so that
/// no amount of looking keeps a payment waiting.
#[derive(Clone)]
pub struct Database {
    work: Pool,
    read: Pool,
    connector: Connector,
    statements: Arc<AtomicU64>,
}

/// How a pool stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUse {
    /// Connections on loan.
    pub in_use: u32,
    /// Open connections that wait for a borrower.
    pub idle: u32,
    /// The most that may be open.
    pub max: u32,
}

impl Database {
    /// Sets the pools up without connecting: a server may start before its database does.
    pub fn new(config: &DatabaseConfig) -> Result<Self, SettingError> {
        let connector = Connector::new(&config.database_url, config.authorities()?.as_deref())?;
        let statements = Arc::new(AtomicU64::new(0));
        let reads = (config.db_pool_size / 4).max(1);
        let works = config.db_pool_size.saturating_sub(reads).max(1);
        let pool = |size, role| build_pool(&connector, &statements, size, config.db_checkout_timeout, role);
        Ok(Self {
            work: pool(works, WORK),
            read: pool(reads, READ),
            connector: connector.clone(),
            statements,
        })
    }

    /// A connection for single statements that write, or that belong to the work.
    pub async fn conn(&self) -> Result<PooledConnection, DbError> {
        checkout(&self.work).await
    }

    /// A connection for the API's reads: read-only, each statement at most 2 s.
    pub async fn read(&self) -> Result<PooledConnection, DbError> {
        checkout(&self.read).await
    }

    /// Opens a transaction. Dropping it without a commit rolls back.
    pub async fn begin(&self) -> Result<Transaction, DbError> {
        Transaction::begin(self.conn().await?).await
    }

    /// Opens connections outside the pools: LISTEN, migrations.
    pub fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Statements sent by the pools so far, BEGIN and COMMIT included: what tests count.
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    /// How the pools stand: (work, read).
    pub fn pool_use(&self) -> (PoolUse, PoolUse) {
        (pool_use(&self.work), pool_use(&self.read))
    }
}

fn build_pool(
    connector: &Connector,
    statements: &Arc<AtomicU64>,
    size: u32,
    checkout_timeout: Duration,
    role: Role,
) -> Pool {
    let (connector, statements, schema) = (connector.clone(), Arc::clone(statements), Arc::default());
    let mut config = ManagerConfig::default();
    config.custom_setup = Box::new(move |_url| {
        let (connector, watch) = (connector.clone(), Watch::new(&statements, &schema));
        async move {
            let opened = tokio::time::timeout(OPENING, open(&connector, role, watch)).await;
            opened.unwrap_or_else(|_elapsed| {
                Err(ConnectionError::BadConnection("the server did not answer in time".to_owned()))
            })
        }
        .boxed()
    });
    let manager = AsyncDieselConnectionManager::<AsyncPgConnection>::new_with_config("", config);
    Pool::builder()
        .max_size(size)
        .connection_timeout(checkout_timeout)
        // A ping before each use would double the round trips; a closed connection is skipped in `checkout`.
        .test_on_check_out(false)
        .max_lifetime(MAX_LIFETIME)
        .build_unchecked(manager)
}

async fn open(connector: &Connector, role: Role, watch: Watch) -> ConnectionResult<AsyncPgConnection> {
    let overdue = answer::overdue(watch.answer.clone(), role.patience);
    let mut connection = connector.connect_until(overdue).await?;
    let setup = format!("{ENGLISH}; {}", role.setup);
    connection.batch_execute(&setup).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
    watch.answer.is_over();
    connection.set_instrumentation(watch);
    Ok(connection)
}

impl Deref for PooledConnection {
    type Target = AsyncPgConnection;

    fn deref(&self) -> &AsyncPgConnection {
        &self.0
    }
}

impl DerefMut for PooledConnection {
    fn deref_mut(&mut self) -> &mut AsyncPgConnection {
        &mut self.0
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if watch(&mut self.0).is_some_and(|watch| watch.answer.is_left()) {
            AnsiTransactionManager::transaction_manager_status_mut(&mut *self.0).set_in_error();
        }
    }
}

async fn checkout(pool: &Pool) -> Result<PooledConnection, DbError> {
    let asked = Instant::now();
    // After a database restart every idle connection is closed, after a migration each is outdated; each is thrown away
    // on its way back.
    for _useless in 0..=pool.config().max_size {
        let mut connection = PooledConnection(pool.get_owned().await.map_err(unavailable)?);
        if watch(&mut connection).is_some_and(|watch| watch.is_outdated()) {
            AnsiTransactionManager::transaction_manager_status_mut(&mut *connection).set_in_error();
        }
        if !connection.is_broken() {
            record::pool_checkout(asked.elapsed());
            return Ok(connection);
        }
    }
    Err(DbError::Unavailable("every pooled connection was closed".to_owned()))
}

fn unavailable(error: bb8::RunError) -> DbError {
    match error {
        ::bb8::RunError::TimedOut => DbError::Unavailable("none became free in time".to_owned()),
        ::bb8::RunError::User(PoolError::ConnectionError(error)) => DbError::Unavailable(error.to_string()),
        ::bb8::RunError::User(PoolError::QueryError(error)) => DbError::Query(error),
    }
}

fn pool_use(pool: &Pool) -> PoolUse {
    let state = pool.state();
    PoolUse {
        in_use: state.connections - state.idle_connections,
        idle: state.idle_connections,
        max: pool.config().max_size,
    }
}

fn watch(connection: &mut AsyncPgConnection) -> Option<&Watch> {
    connection.instrumentation().downcast_ref::<Watch>()
}

/// What is noticed of a pool's connection.
struct Watch {
    statements: Arc<AtomicU64>,
    /// How often the pool has met a table that had changed.
    schema: Arc<AtomicU64>,
    /// That, as it was when this connection was made.
    made_under: u64,
    answer: Answer,
}

impl Watch {
    fn new(statements: &Arc<AtomicU64>, schema: &Arc<AtomicU64>) -> Self {
        let made_under = schema.load(Ordering::Relaxed);
        Self {
            statements: Arc::clone(statements),
            schema: Arc::clone(schema),
            made_under,
            answer: Answer::default(),
        }
    }

    /// A statement prepared before a column changed fails for as long as its connection lives, and so may those of its
    /// neighbours. Of many that meet the change at once one counts it.
    fn count_change(&self) {
        let (now, next) = (self.made_under, self.made_under.wrapping_add(1));
        let _counted = self.schema.compare_exchange(now, next, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether it was made before tables changed that its prepared statements read.
    fn is_outdated(&self) -> bool {
        self.made_under != self.schema.load(Ordering::Relaxed)
    }
}

impl Instrumentation for Watch {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        match event {
            InstrumentationEvent::StartQuery { .. } => {
                self.statements.fetch_add(1, Ordering::Relaxed);
                self.answer.is_awaited();
            }
            InstrumentationEvent::FinishQuery { error, .. } => {
                self.answer.has_begun();
                if error.is_some_and(is_outdated_plan) {
                    self.count_change();
                }
            }
            _ => {}
        }
    }
}
