use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use diesel_async::SimpleAsyncConnection;
use futures_util::FutureExt;
use tokio::{net::TcpListener, task::JoinHandle};

use super::App;
use crate::{
    auth::{DevLogin, Sessions},
    broker::{BrokerState, ConsumerState},
    config::ServeConfig,
    graphql::{self, ApiOptions, RateLimit, Services},
    http::{self, Connections, Http, Readiness, SignIn, SocketPolicy},
    operations::{Books, Patience},
    outbox::OutboxGauges,
    telemetry::{self, record},
    workers::{TickError, Worker},
};

/// How long readiness waits for the database before it calls it down.
const READINESS_TIMEOUT: Duration = Duration::from_secs(2);
/// How often the metrics' gauges are read from the database.
const GAUGE_INTERVAL: Duration = Duration::from_secs(5);

/// The HTTP side of a running process.
pub struct Server {
    /// Where it listens.
    pub addr: SocketAddr,
    /// Where metrics are, if they have a listener of their own.
    pub metrics_addr: Option<SocketAddr>,
    connections: Connections,
    main: JoinHandle<bool>,
    metrics: Option<JoinHandle<bool>>,
}

impl App {
    /// Listens, as the settings say.
    pub async fn listen(&self) -> io::Result<Server> {
        let connections = Connections::default();
        let metrics = telemetry::metrics();
        let render: http::RenderMetrics = Arc::new(move || metrics.render());
        let own_listener = self.config.http.metrics_listen;
        let http = Http {
            api: self.api(),
            authenticate: self.authenticate(),
            sign_in: self.sign_in()?,
            readiness: self.readiness(),
            metrics: own_listener.is_none().then(|| Arc::clone(&render)),
            sockets: SocketPolicy::default(),
            connections: connections.clone(),
        };
        let listener = TcpListener::bind(self.config.http.listen).await?;
        let addr = listener.local_addr()?;
        let more = http::webhooks(self.charges.clone()).merge(http::console());
        let router = http::router(http, more);
        let main = self.serve(listener, router, connections.clone());
        let (metrics_addr, metrics) = match own_listener {
            None => (None, None),
            Some(address) => {
                let listener = TcpListener::bind(address).await?;
                let addr = listener.local_addr()?;
                let router = http::metrics_router(render).merge(http::not_found());
                (Some(addr), Some(self.serve(listener, router, connections.clone())))
            }
        };
        self.tasks.spawn_worker(Gauges(self.clone()));
        Ok(Server { addr, metrics_addr, connections, main, metrics })
    }

    fn serve(
        &self,
        listener: TcpListener,
        router: http::Router,
        connections: Connections,
    ) -> JoinHandle<bool> {
        crate::workers::spawn_tracked(
            &self.tasks,
            http::serve(listener, router, connections, ServeConfig::SHUTDOWN_GRACE),
        )
    }

    fn api(&self) -> graphql::Api {
        let services = Services {
            db: self.db.clone(),
            payments: self.payments.clone(),
            charges: self.charges.clone(),
            outbox: self.outbox.clone(),
            inbox: self.inbox.clone(),
            gate: self.publisher.gate().clone(),
            feed: self.feed.clone(),
            overview: Arc::clone(&self.overview),
            payment_watcher: Arc::clone(&self.payment_watcher),
            refund_watcher: Arc::clone(&self.refund_watcher),
            outbox_watcher: Arc::clone(&self.outbox_watcher),
            charge_job_watcher: Arc::clone(&self.charge_job_watcher),
            books: Books::new(self.db.clone(), Patience::new(&self.config.outbox, &self.config.reconcile)),
            environment: self.config.http.environment.clone(),
        };
        let rate_limit = RateLimit {
            operator: self.config.http.rate_limit_operator,
            service: self.config.http.rate_limit_service,
        };
        graphql::api(
            services,
            ApiOptions {
                introspection: self.config.http.graphql_introspection,
                console_queries_only: self.config.http.console_queries_only,
                rate_limit,
            },
        )
    }

    fn authenticate(&self) -> http::Authenticate {
        let verifier = self.verifier.clone();
        Arc::new(move |token| {
            let verifier = verifier.clone();
            async move { verifier.verify(&token).await }.boxed()
        })
    }

    /// Without a key of their own, sessions end with the process in development, and are not there elsewhere.
    fn sign_in(&self) -> io::Result<SignIn> {
        let config = &self.config.http;
        let sessions = match &config.session_key {
            Some(key) => Some(Sessions::new(key)),
            None if config.dev_login => Some(Sessions::of_this_process().map_err(io::Error::other)?),
            None => None,
        };
        let dev_login = DevLogin::new(config, &self.config.token);
        Ok(SignIn { sessions, dev_login, environment: config.environment.clone() })
    }

    fn readiness(&self) -> http::CheckReadiness {
        let app = self.clone();
        Arc::new(move || {
            let app = app.clone();
            async move { app.look().await }.boxed()
        })
    }

    async fn look(&self) -> Readiness {
        let database = async {
            let mut conn = self.db.read().await.ok()?;
            conn.batch_execute("SELECT 1").await.ok()
        };
        let database = matches!(tokio::time::timeout(READINESS_TIMEOUT, database).await, Ok(Some(())));
        let mut detail = match self.publisher.gate().broker() {
            BrokerState::Down { error, .. } => vec![("broker".to_owned(), error)],
            BrokerState::Blocked { reason, .. } => vec![("broker".to_owned(), format!("blocked: {reason}"))],
            BrokerState::Connecting | BrokerState::Up { .. } => Vec::new(),
        };
        let (consuming, told) = self.consumers();
        detail.extend(told);
        Readiness { database, broker: self.publisher.gate().broker().is_up(), consuming, detail }
    }

    /// Whether every queue can be consumed as it is declared, and what is to be told of those that are not consumed.
    fn consumers(&self) -> (bool, Vec<(String, String)>) {
        if !self.config.workers {
            return (true, Vec::new());
        }
        let (mut consuming, mut told) = (true, Vec::new());
        for consumer in self.inbox.consumers() {
            let reason = match (consumer.unavailable(), consumer.state()) {
                (Some(reason), _) => reason,
                (None, ConsumerState::Misdeclared(text)) => {
                    consuming = false;
                    text
                }
                (None, ConsumerState::Lost(error)) => format!("not consuming now: {error}"),
                (None, ConsumerState::Connecting) => "not consuming yet".to_owned(),
                (None, ConsumerState::Consuming) => continue,
            };
            told.push((consumer.subscription().worker.to_owned(), reason));
        }
        (consuming, told)
    }
}

impl Server {
    /// Stops accepting, closes websockets with 1012, waits for the requests under way.
    pub async fn stop(self) -> bool {
        self.connections.closing.cancel();
        let main = self.main.await.unwrap_or(false);
        let metrics = match self.metrics {
            Some(metrics) => metrics.await.unwrap_or(false),
            None => true,
        };
        main && metrics
    }
}

/// Keeps the gauges of `/metrics` current.
struct Gauges(App);

impl Worker for Gauges {
    const NAME: &'static str = "metrics";

    fn interval(&self) -> Duration {
        GAUGE_INTERVAL
    }

    async fn tick(&self, _stop: &tokio_util::sync::CancellationToken) -> Result<(), TickError> {
        telemetry::metrics().run_upkeep();
        let broker = self.0.publisher.gate().broker();
        record::broker(broker.is_up(), matches!(broker, BrokerState::Blocked { .. }));
        let (work, read) = self.0.db.pool_use();
        record::pool(work.in_use + read.in_use, work.idle + read.idle, work.max + read.max);
        let gauges = OutboxGauges::read(&self.0.db).await?;
        for (status, rows) in gauges.by_status() {
            record::outbox_rows(status.as_str(), rows);
        }
        record::outbox_oldest_pending(gauges.oldest_pending());
        let jobs = self.0.charges.job_gauges().await?;
        for (status, rows) in jobs.by_status {
            record::charge_jobs(status.as_str(), rows);
        }
        record::charge_jobs_stranded(jobs.stranded);
        Ok(())
    }
}
