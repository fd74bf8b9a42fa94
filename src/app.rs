//! The composition root: everything that a process has, built once. `serve` and the tests build the same.

mod server;

use std::sync::Arc;

use futures_util::FutureExt;
use secrecy::ExposeSecret;
use thiserror::Error;

use crate::{
    auth::TokenVerifier,
    broker::{Broker, PAYMENT_EVENTS},
    charges::{ChargeJobRecovery, ChargeJobRows, ChargeJobs, ChargeReconciler, Charges, GoogleConsume},
    config::{PaymentConfig, ServeConfig, SettingError},
    db::{
        Database, Hints, Watcher,
        migrations::{MigrationError, migrate},
    },
    failures::{self, FailureFeed, FailureKind, NewFailure, Severity, SubjectType},
    gateways::{PurchaseGateways, TossClient},
    httpclient::{HttpClient, HttpError},
    inbox::{Handler, Inbox},
    operations::{OverviewFeed, OverviewRefresher, Retention},
    outbox::{Cleanup, Outbox, OutboxRows, PendingScheduler, Publisher, RecoveryScheduler, RetryScheduler},
    payments::{
        PaymentReconciler, PaymentRows, Payments, RefundReconciler, RefundRows,
        consumers::{MeetingDeleted, ParticipantCancel, ParticipantRegister},
    },
    types::{Card, CardError},
    workers::{OnCrash, Tasks},
};

pub use server::Server;

/// What a process has.
#[derive(Clone)]
pub struct App {
    /// The settings.
    pub config: Arc<ServeConfig>,
    /// This process's name.
    pub instance: Arc<str>,
    /// The database.
    pub db: Database,
    /// The broker.
    pub broker: Arc<Broker>,
    /// Background work.
    pub tasks: Tasks,
    /// Delivers the outbox.
    pub publisher: Arc<Publisher>,
    /// The way into the outbox.
    pub outbox: Outbox,
    /// Payments.
    pub payments: Payments,
    /// Charges.
    pub charges: Charges,
    /// The gateways that coins are bought at.
    pub purchases: PurchaseGateways,
    /// The consumers of messages.
    pub inbox: Inbox,
    /// The live failure feed.
    pub feed: FailureFeed,
    /// How everything stands.
    pub overview: Arc<OverviewFeed>,
    /// Hints from every process.
    pub hints: Hints,
    /// Watched payments.
    pub payment_watcher: Arc<Watcher<PaymentRows>>,
    /// Watched refunds.
    pub refund_watcher: Arc<Watcher<RefundRows>>,
    /// Watched outbox events.
    pub outbox_watcher: Arc<Watcher<OutboxRows>>,
    /// Watched bonus jobs.
    pub charge_job_watcher: Arc<Watcher<ChargeJobRows>>,
    /// Checks tokens.
    pub verifier: TokenVerifier,
}

/// Why a process cannot start.
#[derive(Debug, Error)]
pub enum AppError {
    /// A setting is wrong.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The HTTP client cannot be built.
    #[error("the HTTP client cannot be built: {0}")]
    HttpClient(#[from] HttpError),
    /// The migrations failed.
    #[error(transparent)]
    Migration(#[from] MigrationError),
}

impl App {
    /// Builds everything from the settings, without connecting: a server starts also while database or broker are away.
    pub fn build(config: ServeConfig) -> Result<Self, AppError> {
        config.check()?;
        let instance: Arc<str> = config.instance_name().into();
        let db = Database::new(&config.database)?;
        let authorities = config.database.authorities()?;
        let broker = Broker::new(&config.broker, authorities.clone())?;
        let tasks = Tasks::new(record_crashes(db.clone()));
        let http = HttpClient::new(config.toss.provider_timeout, authorities.as_deref().map(str::as_bytes))?;
        let purchases = PurchaseGateways::new(&config.purchases, &http)?;
        let publisher = Publisher::new(db.clone(), Arc::clone(&broker), &config.outbox, instance.to_string());
        let outbox = publisher.outbox();
        let payments = Payments {
            db: db.clone(),
            outbox: outbox.clone(),
            toss: TossClient::new(&config.toss, http.clone()).map(Arc::new),
            tasks: tasks.clone(),
            exchange: broker.name(PAYMENT_EVENTS),
            config: PaymentConfig::new(&config.toss, &config.reconcile),
        };
        let charges = Charges::new(
            db.clone(),
            purchases.clone(),
            tasks.clone(),
            config.charges.clone(),
            config.toss.provider_timeout,
        );
        let handlers: Vec<Arc<dyn Handler>> = vec![
            Arc::new(ParticipantRegister { payments: payments.clone(), card: test_card(&config)? }),
            Arc::new(ParticipantCancel(payments.clone())),
            Arc::new(MeetingDeleted(payments.clone())),
        ];
        let inbox = Inbox::new(db.clone(), &broker, tasks.clone(), &config.consumers, handlers);
        let hints = Hints::new(db.connector().clone());
        Ok(Self {
            feed: FailureFeed::new(db.clone(), hints.clone()),
            overview: OverviewFeed::new(db.clone(), publisher.gate().clone(), charges.clone()),
            payment_watcher: Watcher::new(PaymentRows(db.clone())),
            refund_watcher: Watcher::new(RefundRows(db.clone())),
            outbox_watcher: Watcher::new(OutboxRows(db.clone())),
            charge_job_watcher: Watcher::new(ChargeJobRows(db.clone())),
            verifier: TokenVerifier::new(&config.token, http)?,
            config: Arc::new(config),
            instance,
            db,
            broker,
            tasks,
            publisher,
            outbox,
            payments,
            charges,
            purchases,
            inbox,
            hints,
        })
    }

    /// Applies the migrations, unless the settings say that somebody else does.
    pub async fn migrate(&self) -> Result<(), AppError> {
        if self.config.auto_migrate {
            let applied = migrate(self.db.connector()).await?;
            tracing::info!(applied = applied.len(), "the database is migrated");
        }
        Ok(())
    }

    /// Starts what runs in the background: always the feed and the watchers, the workers unless switched off.
    pub fn start(&self) {
        let app = self.clone();
        self.spawn("failure-feed", move |stop| {
            let app = app.clone();
            async move { tokio::join!(app.feed.run(stop.clone()), app.hints.run(stop)) }.map(|_| ())
        });
        let app = self.clone();
        self.spawn("row-watchers", move |stop| {
            let app = app.clone();
            async move {
                tokio::join!(
                    app.payment_watcher.run(stop.clone()),
                    app.refund_watcher.run(stop.clone()),
                    app.outbox_watcher.run(stop.clone()),
                    app.charge_job_watcher.run(stop),
                )
            }
            .map(|_| ())
        });
        self.tasks.spawn_worker(OverviewRefresher(Arc::clone(&self.overview)));
        let app = self.clone();
        // The connection also tells readiness and the console how the broker is.
        self.spawn("broker-connection", move |stop| {
            let broker = Arc::clone(&app.broker);
            async move { broker.run(stop).await }
        });
        if self.config.workers {
            self.publisher.start(&self.tasks);
            self.tasks.spawn_worker(PendingScheduler(Arc::clone(&self.publisher)));
            self.tasks.spawn_worker(RetryScheduler(Arc::clone(&self.publisher)));
            self.tasks.spawn_worker(RecoveryScheduler(Arc::clone(&self.publisher)));
            for consumer in self.inbox.consumers() {
                let consumer = Arc::clone(consumer);
                self.spawn(consumer.subscription().worker, move |stop| Arc::clone(&consumer).run(stop));
            }
            self.tasks.spawn_worker(PaymentReconciler(self.payments.clone()));
            self.tasks.spawn_worker(RefundReconciler(self.payments.clone()));
            self.tasks.spawn_worker(ChargeReconciler(self.charges.clone()));
            self.tasks.spawn_worker(ChargeJobs(self.charges.clone()));
            self.tasks.spawn_worker(ChargeJobRecovery(self.charges.clone()));
            self.tasks.spawn_worker(GoogleConsume(self.charges.clone()));
            let cleanup = Cleanup::new(self.db.clone(), &self.config.outbox, self.instance.to_string());
            self.tasks.spawn_worker(cleanup);
            self.tasks.spawn_worker(Retention(self.db.clone()));
        }
    }

    fn spawn<F, T>(&self, name: &'static str, task: F)
    where
        F: Fn(tokio_util::sync::CancellationToken) -> T + Send + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let stop = self.tasks.stopping();
        self.tasks.spawn_supervised(name, move || task(stop.clone()));
    }

    /// Stops: no new claims, ticks and effects come to their end, confirms in flight are waited for and marked.
    /// True if everything ended within the grace time.
    pub async fn shut_down(&self) -> bool {
        let clean = self.tasks.shut_down(ServeConfig::SHUTDOWN_GRACE).await;
        self.broker.close().await;
        clean
    }
}

/// The card that registrations are paid with; its value is never part of the error.
fn test_card(config: &ServeConfig) -> Result<Option<Card>, SettingError> {
    let wrong = |error: CardError| SettingError::new("PAYDESK_TOSS_TEST_CARD", error.to_string());
    let setting = config.toss.toss_test_card.as_ref();
    setting.map(|card| Card::from_setting(card.expose_secret()).map_err(wrong)).transpose()
}

/// A worker that panicked is a failure on the feed.
fn record_crashes(db: Database) -> OnCrash {
    Box::new(move |worker, panic| {
        let db = db.clone();
        async move {
            let failure = NewFailure {
                kind: FailureKind::WorkerCrashed,
                severity: Severity::Critical,
                subject_type: SubjectType::Worker,
                subject_id: worker.to_owned(),
                event_type: None,
                code: "PANIC".to_owned(),
                message: panic,
                detail: None,
                attempt: 1,
                flow_id: None,
            };
            let recorded = match db.conn().await {
                Ok(mut conn) => failures::record(&mut conn, failure).await.map_err(Into::into),
                Err(error) => Err(error),
            };
            if let Err(error) = recorded {
                tracing::error!(%error, worker, "the crash cannot be recorded");
            }
        }
        .boxed()
    })
}
