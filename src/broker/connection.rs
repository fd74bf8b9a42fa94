use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use futures_util::StreamExt;
use lapin::{
    Connection, ConnectionProperties, Event, ExchangeKind,
    options::ExchangeDeclareOptions,
    tcp::OwnedTLSConfig,
    types::{FieldTable, LongString, ShortString},
    uri::AMQPUri,
};
use secrecy::ExposeSecret;
use thiserror::Error;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{ConfirmChannel, PAYMENT_EVENTS};
use crate::{
    config::{BrokerConfig, SettingError},
    types::{Backoff, Instant, clock},
};

/// Seconds between heartbeats unless `AMQP_URL` says otherwise: a frozen broker is noticed after two of them.
const HEARTBEAT: u16 = 10;
pub(super) const RECONNECT_BASE: Duration = Duration::from_millis(200);
/// The library tells a lost connection by an event; this look is behind it in case one is missed.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How the broker is, as far as this process knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokerState {
    /// Not connected yet, nothing tried yet.
    Connecting,
    /// Not connected: publishing pauses.
    Down {
        /// Since when.
        since: Instant,
        /// Why, for operators.
        error: String,
    },
    /// Connected, but the broker takes no messages (memory or disk alarm): publishing pauses.
    Blocked {
        /// Since when.
        since: Instant,
        /// The broker's reason.
        reason: String,
    },
    /// Connected.
    Up {
        /// Since when.
        since: Instant,
    },
}

impl BrokerState {
    /// Whether messages can be sent.
    pub fn is_up(&self) -> bool {
        matches!(self, Self::Up { .. })
    }
}

/// Why a channel or connection cannot be had.
#[derive(Debug, Error)]
pub enum BrokerError {
    /// There is no connection now.
    #[error("the broker is not connected")]
    NotConnected,
    /// The broker did not answer in time.
    #[error("the broker did not answer in time")]
    TimedOut,
    /// The broker refused, or the connection broke.
    #[error("the broker refused: {0}")]
    Refused(String),
}

/// The supervised connection for publishing. [`Broker::run`] keeps it up; everybody else asks for channels.
pub struct Broker {
    uri: AMQPUri,
    pub(super) config: BrokerConfig,
    /// PEM certificates to trust beside the system's, for `amqps://`.
    authorities: Option<String>,
    state: watch::Sender<BrokerState>,
    connection: RwLock<Option<Arc<Connection>>>,
}

impl Broker {
    /// Reads the URL; nothing is connected yet.
    pub fn new(config: &BrokerConfig, authorities: Option<String>) -> Result<Arc<Self>, SettingError> {
        // The text never holds the URL.
        let wrong = |why: String| {
            let problem = format!("{why}; write amqp://user:password@host:5672/vhost, or amqps://");
            SettingError::new("AMQP_URL", problem)
        };
        let mut uri: AMQPUri = config.amqp_url.expose_secret().parse().map_err(wrong)?;
        uri.query.heartbeat.get_or_insert(HEARTBEAT);
        Ok(Arc::new(Self {
            uri,
            config: config.clone(),
            authorities,
            state: watch::Sender::new(BrokerState::Connecting),
            connection: RwLock::new(None),
        }))
    }

    /// The state, and the wait for the next.
    pub fn state(&self) -> watch::Receiver<BrokerState> {
        self.state.subscribe()
    }

    /// A name of ours with the deployment's prefix.
    pub fn name(&self, name: &str) -> String {
        format!("{}{name}", self.config.amqp_prefix)
    }

    /// A confirm channel on the shared connection.
    pub async fn confirm_channel(&self) -> Result<ConfirmChannel, BrokerError> {
        let connection = self.connection.read().unwrap_or_else(PoisonError::into_inner).clone();
        let connection = connection.ok_or(BrokerError::NotConnected)?;
        self.in_time(ConfirmChannel::open(&connection)).await
    }

    /// A confirm channel alone on a connection of its own: what happens to it is its message's doing.
    pub async fn lone_channel(&self) -> Result<ConfirmChannel, BrokerError> {
        let connection = self.connect("paydesk-publisher").await?;
        let channel = self.in_time(ConfirmChannel::open(&connection)).await?;
        Ok(channel.owning(connection))
    }

    /// Connects, declares our exchange, watches, connects again: until `stop`.
    pub async fn run(&self, stop: CancellationToken) {
        let backoff = Backoff { base: RECONNECT_BASE, cap: self.config.amqp_reconnect_cap };
        let mut attempt = 0_i64;
        while !stop.is_cancelled() {
            match self.connect("paydesk-publisher").await {
                Ok(connection) => {
                    attempt = 0;
                    self.watch(connection, &stop).await;
                }
                Err(error) => self.went_down(error.to_string()),
            }
            attempt += 1;
            tokio::select! {
                () = tokio::time::sleep(jittered(backoff.delay(attempt))) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Closes the connection in good form.
    pub async fn close(&self) {
        let connection = self.connection.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = connection {
            let close = connection.close(200, ShortString::from("bye"));
            let _unanswered = tokio::time::timeout(Duration::from_secs(2), close).await;
        }
    }

    /// A new connection; the broker's own tools show it by `name`.
    pub(super) async fn connect(&self, name: &'static str) -> Result<Connection, BrokerError> {
        let properties = ConnectionProperties::default().with_connection_name(LongString::from(name));
        let runtime =
            lapin::runtime::default_runtime().map_err(|error| BrokerError::Refused(error.to_string()))?;
        let tls = OwnedTLSConfig { identity: None, cert_chain: self.authorities.clone() };
        self.in_time(Connection::connect_uri_with_config(self.uri.clone(), properties, tls, runtime)).await
    }

    pub(super) async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, lapin::Error>>,
    ) -> Result<T, BrokerError> {
        match tokio::time::timeout(self.config.amqp_connect_timeout, call).await {
            Ok(answer) => answer.map_err(|error| BrokerError::Refused(error.to_string())),
            Err(_elapsed) => Err(BrokerError::TimedOut),
        }
    }

    /// Serves the connection until it is lost or `stop`.
    async fn watch(&self, connection: Connection, stop: &CancellationToken) {
        let mut events = std::pin::pin!(connection.events_listener());
        let connection = Arc::new(connection);
        if let Err(error) = self.declare_exchange(&connection).await {
            tracing::error!(%error, exchange = self.name(PAYMENT_EVENTS), "the exchange cannot be declared");
        }
        *self.connection.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&connection));
        self.state.send_replace(BrokerState::Up { since: clock::now() });
        tracing::info!("connected to the broker");
        let mut reason = "the connection ended".to_owned();
        let mut keeping = std::pin::pin!(self.keep_exchange(&connection));
        while connection.status().connected() {
            let event = tokio::select! {
                event = events.next() => event,
                () = &mut keeping => return,
                () = tokio::time::sleep(LOOK_AGAIN) => continue,
                () = stop.cancelled() => return,
            };
            match event {
                Some(Event::ConnectionBlocked(why)) => {
                    tracing::warn!(reason = %why, "the broker is blocked");
                    self.state.send_replace(BrokerState::Blocked { since: clock::now(), reason: why });
                }
                Some(Event::ConnectionUnblocked) => {
                    tracing::info!("the broker is unblocked");
                    self.state.send_replace(BrokerState::Up { since: clock::now() });
                }
                Some(Event::Error(error)) => reason = error.to_string(),
                Some(_other) => {}
                None => break,
            }
        }
        self.connection.write().unwrap_or_else(PoisonError::into_inner).take();
        self.went_down(reason);
    }

    /// Keeps our exchange there for as long as the connection is watched: one that was deleted, or could not be declared at
    /// first, would cost every event its tries.
    async fn keep_exchange(&self, connection: &Connection) {
        let mut told = None;
        loop {
            tokio::time::sleep(self.config.amqp_redeclare_interval).await;
            // A blocked broker answers nobody on this connection.
            if !self.state.borrow().is_up() {
                continue;
            }
            let error = self.declare_exchange(connection).await.err().map(|error| error.to_string());
            if let Some(error) = error.as_ref().filter(|_| error != told) {
                tracing::error!(
                    error,
                    exchange = self.name(PAYMENT_EVENTS),
                    "the exchange cannot be declared"
                );
            }
            told = error;
        }
    }

    pub(super) async fn declare_exchange(&self, connection: &Connection) -> Result<(), BrokerError> {
        let name = ShortString::from(self.name(PAYMENT_EVENTS));
        let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
        self.in_time(async {
            let channel = connection.create_channel().await?;
            channel.exchange_declare(name, ExchangeKind::Topic, options, FieldTable::default()).await?;
            channel.close(200, ShortString::from("declared")).await
        })
        .await
    }

    fn went_down(&self, error: String) {
        self.state.send_if_modified(|state| {
            // An outage is one, however often connecting fails during it.
            let news = !matches!(state, BrokerState::Down { .. });
            if news {
                tracing::warn!(%error, "the broker is down");
                *state = BrokerState::Down { since: clock::now(), error };
            }
            news
        });
    }
}

/// Half to all of the wait, so that processes do not come back all at once.
pub(super) fn jittered(wait: Duration) -> Duration {
    let half = wait / 2;
    half + Duration::from_millis(fastrand::u64(0..=u64::try_from(half.as_millis()).unwrap_or(u64::MAX)))
}
