use clap::Parser;
use paydesk::{
    app::{App, Server},
    auth::Role,
    config::ServeConfig,
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

    /// Another way to the broker, such as through a proxy.
    pub fn amqp_url(mut self, url: String) -> Self {
        self.amqp_url = url;
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
            // Tests look again and again; the limit has tests of its own.
            "rate-limit-operator=100000",
        ];
        TestAppBuilder {
            settings: settings.iter().map(|setting| format!("--{setting}")).collect(),
            amqp_url: service_url("AMQP_URL"),
            wait_for_broker: true,
        }
    }

    pub async fn start() -> Self {
        Self::builder().start().await
    }

    async fn run(builder: TestAppBuilder, db: std::sync::Arc<TestDb>, prefix: String, owner: bool) -> Self {
        let fixed = [
            "test".to_owned(),
            format!("--database-url={}", db.url),
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
            let (url, exchange) = (service_url("AMQP_URL"), self.exchange());
            block_in_thread(async move {
                let rabbit = Rabbit::connect(&url).await;
                rabbit.delete_exchange(&exchange).await;
            });
        }
    }
}
