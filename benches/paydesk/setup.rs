//! A database, broker names and an App for one measurement; and the bare clients beside it.

use std::time::Duration;

use clap::Parser;
use lapin::{
    Channel, Connection, ConnectionProperties, ExchangeKind,
    options::{
        ConfirmSelectOptions, ExchangeDeclareOptions, ExchangeDeleteOptions, QueueBindOptions,
        QueueDeclareOptions, QueueDeleteOptions,
    },
    types::{AMQPValue, FieldTable},
};
use paydesk::{
    app::App,
    config::ServeConfig,
    db::{Connector, migrations::migrate},
};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

/// Signs the benchmark's tokens.
pub const SECRET: &str = "a secret of the benchmarks, longer than 32 bytes";
/// Names that the tokens carry.
pub const ISSUER: &str = "paydesk-bench";
pub const AUDIENCE: &str = "paydesk";

#[derive(Parser)]
struct Settings {
    #[command(flatten)]
    serve: ServeConfig,
}

/// Where one measurement happens.
pub struct Bench {
    pub database_url: String,
    pub amqp_url: String,
    pub prefix: String,
    pub client: Client,
    pub channel: Channel,
    connection: Connection,
    name: String,
}

fn service_url(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set: `make bench` starts the services"))
}

/// One more session.
pub async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

impl Bench {
    /// A migrated, empty database; an exchange, and a quorum queue that gets everything from it.
    pub async fn new() -> Self {
        let (server_url, amqp_url) = (service_url("DATABASE_URL"), service_url("AMQP_URL"));
        let name = format!("paydesk_bench_{}", Uuid::new_v4().simple());
        connect(&server_url).await.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
        let database_url = format!("{}/{name}", server_url.rsplit_once('/').unwrap().0);
        migrate(&Connector::new(&database_url.as_str().into(), None).unwrap()).await.unwrap();
        let connection = Connection::connect(&amqp_url, ConnectionProperties::default()).await.unwrap();
        let channel = connection.create_channel().await.unwrap();
        let prefix = format!("bench{}.", Uuid::new_v4().simple());
        let client = connect(&database_url).await;
        let bench = Self { database_url, amqp_url, prefix, client, channel, connection, name };
        bench.declare().await;
        bench
    }

    async fn declare(&self) {
        let (exchange, queue) = (self.exchange(), self.queue());
        let durable = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
        let declared = self.channel.exchange_declare(
            exchange.as_str().into(),
            ExchangeKind::Topic,
            durable,
            FieldTable::default(),
        );
        declared.await.unwrap();
        let mut quorum = FieldTable::default();
        quorum.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
        let durable = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        self.channel.queue_declare(queue.as_str().into(), durable, quorum).await.unwrap();
        let (options, arguments) = (QueueBindOptions::default(), FieldTable::default());
        let bound = self.channel.queue_bind(
            queue.as_str().into(),
            exchange.as_str().into(),
            "#".into(),
            options,
            arguments,
        );
        bound.await.unwrap();
    }

    pub fn exchange(&self) -> String {
        format!("{}payment.events", self.prefix)
    }

    fn queue(&self) -> String {
        format!("{}bench", self.prefix)
    }

    /// Messages in the queue.
    pub async fn messages(&self) -> u32 {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let queue = self.queue();
        let declared = self.channel.queue_declare(queue.as_str().into(), options, FieldTable::default());
        declared.await.unwrap().message_count()
    }

    /// A channel in confirm mode.
    pub async fn confirm_channel(&self) -> Channel {
        let channel = self.connection.create_channel().await.unwrap();
        channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
        channel
    }

    /// An App on this database and broker, with further settings such as `outbox-pending-interval=1s`.
    pub async fn app(&self, settings: &[String]) -> App {
        let fixed = [
            "bench".to_owned(),
            format!("--database-url={}", self.database_url),
            format!("--amqp-url={}", self.amqp_url),
            format!("--amqp-prefix={}", self.prefix),
            "--listen=127.0.0.1:0".to_owned(),
            format!("--jwt-hs256-secret={SECRET}"),
            format!("--jwt-issuer={ISSUER}"),
            format!("--jwt-audience={AUDIENCE}"),
        ];
        let settings = settings.iter().map(|setting| format!("--{setting}"));
        let config = Settings::try_parse_from(fixed.into_iter().chain(settings)).unwrap().serve;
        let app = App::build(config).unwrap();
        app.start();
        let mut states = app.broker.state();
        states.wait_for(|state| state.is_up()).await.unwrap();
        app
    }

    /// The table as autovacuum keeps it, and nothing left for a checkpoint to write meanwhile.
    pub async fn settle(&self) {
        for statement in ["VACUUM ANALYZE payment_outbox", "CHECKPOINT"] {
            self.client.batch_execute(statement).await.unwrap();
        }
    }

    /// Waits until no event is on its way any more.
    pub async fn all_published(&self) {
        // Each by its own index: a look at the whole table would be measured with what is.
        let open = "SELECT EXISTS (SELECT FROM payment_outbox WHERE status = 'PENDING')
                        OR EXISTS (SELECT FROM payment_outbox WHERE status = 'PROCESSING')";
        while self.client.query_one(open, &[]).await.unwrap().get(0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Leaves nothing behind.
    pub async fn remove(self) {
        self.channel.queue_delete(self.queue().as_str().into(), QueueDeleteOptions::default()).await.unwrap();
        self.channel
            .exchange_delete(self.exchange().as_str().into(), ExchangeDeleteOptions::default())
            .await
            .unwrap();
        let admin = connect(&service_url("DATABASE_URL")).await;
        admin.batch_execute(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).await.unwrap();
    }
}
