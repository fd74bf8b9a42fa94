use clap::Parser;
use paydesk::{
    app::{App, Server},
    auth::Role,
    broker::ConsumerState,
    config::ServeConfig,
    inbox::Consumer,
};
use uuid::Uuid;

use super::{
    Toss,
    api::{Actor, token},
    block_in_thread,
    db::TestDb,
    eventually,
    rabbit::{Inbox, Rabbit},
    service_url,
};

/// The queues that are consumed.
pub const QUEUES: [&str; 3] =
    ["payment.participant.register", "payment.participant.cancel", "payment.meeting.deleted"];

/// Signs the tests' tokens.
pub const SECRET: &str = "a secret of the tests, longer than 32 bytes";

#[derive(Parser)]
struct Settings {
    #[command(flatten)]
    serve: ServeConfig,
}

/// What an App is started with; the settings are given as they would be on the command line.
pub struct TestAppBuilder {
    settings: Vec<String>,
    amqp_url: String,
    wait_for_broker: bool,
    /// The database server's `host:port`, and what stands before it.
    database_through: Option<(String, String)>,
}

/// A running App with a database and broker names of its own.
pub struct TestApp {
    pub app: App,
    pub db: std::sync::Arc<TestDb>,
    pub rabbit: Rabbit,
    pub prefix: String,
    pub base: String,
    server: std::sync::Mutex<Option<Server>>,
    owner: bool,
}

impl TestAppBuilder {
    /// A further setting, such as `.set("outbox-pending-interval", "200ms")`.
    pub fn set(mut self, flag: &str, value: impl std::fmt::Display) -> Self {
        let flag = format!("--{flag}=");
        self.settings.retain(|setting| !setting.starts_with(&flag));
        self.settings.push(format!("{flag}{value}"));
        self
    }

    /// Takes payments at this provider.
    pub fn toss(self, toss: &Toss) -> Self {
        self.set("toss-url", toss.url()).set("toss-secret-key", "test_sk_sim0000000000000000")
    }

    /// Pays for registrations with this card.
    pub fn test_card(self, number: &str) -> Self {
        self.set("toss-test-card", format!("{number}:30:12:12:900101"))
    }

    /// Another way to the broker, such as through a proxy.
    pub fn amqp_url(mut self, url: String) -> Self {
        self.amqp_url = url;
        self
    }

    /// Another way to the database, such as through a proxy.
    pub fn database_through(mut self, host: String, proxy: String) -> Self {
        self.database_through = Some((host, proxy));
        self
    }

    /// Starts although the broker cannot be reached.
    pub fn without_waiting_for_the_broker(mut self) -> Self {
        self.wait_for_broker = false;
        self
    }

    pub async fn start(self) -> TestApp {
        self.start_on(std::sync::Arc::new(TestDb::new().await)).await
    }

    /// On a database that the test has prepared.
    pub async fn start_on(self, db: std::sync::Arc<TestDb>) -> TestApp {
        let prefix = format!("t{}.", Uuid::new_v4().simple());
        TestApp::run(self, db, prefix, true).await
    }

    /// A further process of the same deployment, as far as one process can play two.
    pub async fn start_beside(self, first: &TestApp) -> TestApp {
        TestApp::run(self, std::sync::Arc::clone(&first.db), first.prefix.clone(), false).await
    }
}

impl TestApp {
    pub fn builder() -> TestAppBuilder {
        let settings = [
            "outbox-pending-interval=300ms",
            "outbox-retry-interval=200ms",
            "outbox-backoff-base=200ms",
            "amqp-queue-type=classic",
            "consumer-retry-delay=50ms",
            // Tests look again and again; the limit has tests of its own.
            "rate-limit-operator=100000",
        ];
        TestAppBuilder {
            settings: settings.iter().map(|setting| format!("--{setting}")).collect(),
            amqp_url: service_url("AMQP_URL"),
            wait_for_broker: true,
            database_through: None,
        }
    }

    pub async fn start() -> Self {
        Self::builder().start().await
    }

    async fn run(builder: TestAppBuilder, db: std::sync::Arc<TestDb>, prefix: String, owner: bool) -> Self {
        let database_url = match &builder.database_through {
            None => db.url.clone(),
            Some((host, proxy)) => db.url.replacen(host.as_str(), proxy, 1),
        };
        let fixed = [
            "test".to_owned(),
            format!("--database-url={database_url}"),
            format!("--amqp-url={}", builder.amqp_url),
            format!("--amqp-prefix={prefix}"),
            "--amqp-reconnect-cap=300ms".to_owned(),
            "--listen=127.0.0.1:0".to_owned(),
            format!("--jwt-hs256-secret={SECRET}"),
            "--jwt-issuer=paydesk-tests".to_owned(),
            "--jwt-audience=paydesk".to_owned(),
            format!("--instance=instance-{}", Uuid::new_v4().simple()),
        ];
        let arguments = fixed.into_iter().chain(builder.settings.iter().cloned());
        let config = Settings::try_parse_from(arguments).unwrap_or_else(|error| panic!("{error}")).serve;
        let rabbit = Rabbit::connect(&service_url("AMQP_URL")).await;
        paydesk::telemetry::init_logs(&config.log).unwrap();
        let app = App::build(config).unwrap();
        app.start();
        let server = app.listen().await.unwrap();
        let base = server.addr.to_string();
        let server = std::sync::Mutex::new(Some(server));
        let test = Self { app, db, rabbit, prefix, base, server, owner };
        if builder.wait_for_broker {
            test.broker_is_up().await;
        }
        test
    }

    pub async fn broker_is_up(&self) {
        let states = self.app.broker.state();
        eventually("the broker is up", async || states.borrow().is_up().then_some(())).await;
    }

    /// Waits until every queue that can be consumed is.
    pub async fn consuming(&self) {
        eventually("every queue is consumed", async || {
            let wanted = |consumer: &&std::sync::Arc<Consumer>| consumer.unavailable().is_none();
            let mut consumers = self.app.inbox.consumers().iter().filter(wanted);
            consumers.all(|consumer| consumer.state() == ConsumerState::Consuming).then_some(())
        })
        .await;
    }

    /// A name with this test's prefix.
    pub fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Sends a message of the meeting service.
    pub async fn send(&self, routing_key: &str, message: &serde_json::Value) {
        self.send_bytes(routing_key, message.to_string().as_bytes()).await;
    }

    pub async fn send_bytes(&self, routing_key: &str, body: &[u8]) {
        self.rabbit.publish(&self.name("meeting.events"), routing_key, body).await;
    }

    /// Somebody with a token of these roles.
    pub fn actor(&self, roles: &[Role]) -> Actor {
        let subject = roles.first().map_or("nobody", |role| role.as_str()).to_lowercase();
        Actor::new(self.base.clone(), Some(token(roles, &subject)))
    }

    pub fn admin(&self) -> Actor {
        self.actor(&[Role::Admin])
    }

    pub fn operator(&self) -> Actor {
        self.actor(&[Role::Operator])
    }

    pub fn service(&self) -> Actor {
        self.actor(&[Role::Service])
    }

    pub fn anonymous(&self) -> Actor {
        Actor::new(self.base.clone(), None)
    }

    /// What Prometheus would read.
    pub async fn metrics(&self) -> String {
        let client = paydesk::httpclient::HttpClient::new(std::time::Duration::from_secs(5), None).unwrap();
        let answer = client.get(&format!("http://{}/metrics", self.base), &[]).await.unwrap();
        String::from_utf8(answer.body.to_vec()).unwrap()
    }

    /// The exchange of the payments' events, as this test has it.
    pub fn exchange(&self) -> String {
        format!("{}payment.events", self.prefix)
    }

    /// A queue that gets everything with these keys.
    pub async fn inbox(&self, keys: &[&str]) -> Inbox {
        self.rabbit.inbox(&self.exchange(), keys).await
    }

    /// Inserts an event as another program would, by SQL, and tells its id.
    pub async fn insert_event(&self, routing_key: &str) -> i64 {
        self.insert_event_to(&self.exchange(), routing_key).await
    }

    pub async fn insert_event_to(&self, exchange: &str, routing_key: &str) -> i64 {
        let sql = "INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
                   VALUES ('TESTED', 'TEST', '1', $1, $2, '{\"n\": 1}') RETURNING id";
        self.db.client.query_one(sql, &[&exchange, &routing_key]).await.unwrap().get(0)
    }

    pub async fn status(&self, id: i64) -> String {
        self.db.value(&format!("SELECT status FROM payment_outbox WHERE id = {id}")).await
    }

    pub async fn reaches(&self, id: i64, status: &str) {
        let what = format!("outbox event {id} becomes {status}");
        eventually(&what, async || (self.status(id).await == status).then_some(())).await;
    }

    /// Stops as a process does, and checks that nothing was left half-done.
    pub async fn stop(&self) {
        let server = self.server.lock().unwrap().take();
        if let Some(server) = server {
            assert!(server.stop().await, "requests did not end within the grace time");
        }
        assert!(self.app.shut_down().await, "shutdown took longer than its grace time");
        assert_eq!(self.app.tasks.effects_under_way(), 0);
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        if self.owner {
            let (url, prefix) = (service_url("AMQP_URL"), self.prefix.clone());
            block_in_thread(async move {
                let rabbit = Rabbit::connect(&url).await;
                for queue in QUEUES {
                    rabbit.delete_queue(&format!("{prefix}{queue}")).await;
                    rabbit.delete_queue(&format!("{prefix}{queue}.dlq")).await;
                }
                for exchange in ["payment.events", "meeting.events", "payment.dlx"] {
                    rabbit.delete_exchange(&format!("{prefix}{exchange}")).await;
                }
            });
        }
    }
}
