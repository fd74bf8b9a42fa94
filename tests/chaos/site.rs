//! A round's scene: three processes, each with lines of its own to a database and a broker, and the gateways.

use std::{path::PathBuf, process::Stdio, sync::Arc, time::Duration};

use paydesk::auth::Role;
use tokio::sync::Mutex;

use crate::{
    broker::Listener,
    plan::{NODES, Plan},
    support::{
        Proxy, Shop, Toss,
        api::{Actor, token},
        db::TestDb,
        own::OwnServices,
        process::{Process, free_port},
        shop::promotion,
        wait::within,
    },
};

/// Waits short enough for a round of seconds. The lease is longer than a confirm's wait and three of the database's.
const SETTINGS: [(&str, &str); 24] = [
    ("log", "info"),
    ("db-pool-size", "12"),
    ("db-checkout-timeout", "1s"),
    ("outbox-confirm-timeout", "1s"),
    ("outbox-stuck-after", "5s"),
    ("outbox-recovery-interval", "500ms"),
    ("outbox-pending-interval", "300ms"),
    ("outbox-retry-interval", "200ms"),
    ("outbox-backoff-base", "200ms"),
    ("amqp-connect-timeout", "2s"),
    ("amqp-redeclare-interval", "1s"),
    ("payment-reconcile-interval", "300ms"),
    ("payment-reconcile-after", "500ms"),
    ("provider-timeout", "2s"),
    ("charge-reconcile-interval", "300ms"),
    ("charge-reconcile-after", "1s"),
    ("charge-job-interval", "300ms"),
    ("charge-job-backoff", "200ms"),
    ("charge-job-max-retries", "50"),
    ("charge-job-stuck-after", "5s"),
    ("charge-job-recovery-interval", "500ms"),
    ("toss-secret-key", "test_sk_sim0000000000000000"),
    ("toss-test-card", "4330000000000001:30:12:12:900101"),
    ("rate-limit-service", "100000"),
];

/// One of the processes, and its lines.
pub struct Node {
    pub process: Mutex<Process>,
    pub database: Proxy,
    pub broker: Proxy,
    number: usize,
    settings: Vec<(&'static str, String)>,
    variables: Mutex<Vec<(&'static str, String)>>,
    folder: PathBuf,
}

/// All of it.
pub struct Site {
    pub services: Arc<OwnServices>,
    pub db: TestDb,
    pub prefix: String,
    pub toss: Toss,
    pub shop: Shop,
    pub nodes: Vec<Node>,
    pub listener: Listener,
    may_lack_the_database: bool,
}

fn spawn(settings: &[(&'static str, String)], variables: &[(&'static str, String)], log: PathBuf) -> Process {
    let log = std::fs::File::options().create(true).append(true).open(log).unwrap();
    let settings: Vec<_> = settings.iter().map(|(flag, value)| (*flag, value.as_str())).collect();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Process::spawn(&settings, &variables, Stdio::from(log))
}

impl Node {
    async fn start(
        number: usize,
        common: &[(&'static str, String)],
        db: &str,
        amqp: &str,
        folder: PathBuf,
    ) -> Self {
        let (database, database_url) = Proxy::before(db).await;
        let (broker, amqp_url) = Proxy::before(amqp).await;
        let mut settings = common.to_vec();
        settings.extend([
            ("database-url", database_url),
            ("amqp-url", amqp_url),
            ("listen", format!("127.0.0.1:{}", free_port())),
            ("instance", format!("node-{number}")),
        ]);
        let process = Mutex::new(spawn(&settings, &[], folder.join(format!("node-{number}.log"))));
        Self { process, database, broker, number, settings, variables: Mutex::default(), folder }
    }

    /// A new process in the place of one that has ended.
    pub async fn again(&self) -> Process {
        spawn(
            &self.settings,
            &self.variables.lock().await,
            self.folder.join(format!("node-{}.log", self.number)),
        )
    }

    /// Its next processes have these variables.
    pub async fn with_variables(&self, variables: Vec<(&'static str, String)>) {
        *self.variables.lock().await = variables;
    }

    pub fn base(&self) -> String {
        self.settings.iter().find(|(flag, _value)| *flag == "listen").unwrap().1.clone()
    }
}

impl Site {
    pub async fn start(services: Arc<OwnServices>, plan: &Plan, folder: PathBuf) -> Arc<Self> {
        let _none_before = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let db = TestDb::on(services.database_url.clone()).await;
        db.run(crate::books::STEPS).await;
        let (toss, shop) = (Toss::start().await, Shop::start().await);
        let prefix = format!("chaos{}-{}.", plan.seed, fastrand::u32(..));
        let mut common: Vec<_> = SETTINGS.iter().map(|(flag, value)| (*flag, (*value).to_owned())).collect();
        common.push(("amqp-prefix", prefix.clone()));
        common.push(("toss-url", toss.url()));
        common.extend(shop.settings());
        let mut nodes = Vec::new();
        for number in 0..NODES {
            nodes.push(Node::start(number, &common, &db.url, &services.amqp_url, folder.clone()).await);
        }
        for node in &nodes {
            node.process.lock().await.ready().await;
        }
        let listener = Listener::start(&services.amqp_url, &format!("{prefix}payment.events")).await;
        let may_lack_the_database = plan.takes_the_database_away();
        let site = Self { services, db, prefix, toss, shop, nodes, listener, may_lack_the_database };
        promotion(&site.admin(), 10, 0).await;
        Arc::new(site)
    }

    pub fn admin(&self) -> Actor {
        Actor::new(self.nodes[0].base(), Some(token(&[Role::Admin], "admin")))
    }

    pub fn exchange(&self) -> String {
        format!("{}payment.events", self.prefix)
    }

    pub fn queue(&self) -> String {
        format!("{}payment.participant.register", self.prefix)
    }

    /// Everything is well again: lines pass, and every process serves.
    pub async fn heal(&self) {
        for node in &self.nodes {
            node.database.pass();
            node.broker.pass();
        }
        for node in &self.nodes {
            let mut process = node.process.lock().await;
            if let Some(status) = process.ended() {
                // A process may refuse to start without its database; whoever runs it starts it again.
                assert!(self.may_lack_the_database, "process {} ended by itself: {status}", node.number);
                *process = node.again().await;
            }
            process.ready().await;
            process.consuming().await;
        }
    }

    /// SIGTERM to all: each ends in its grace time, and well.
    pub async fn stop(&self) {
        for node in &self.nodes {
            let mut process = node.process.lock().await;
            process.signal("-TERM");
            let status = within(Duration::from_secs(45), "the process ends", async || process.ended()).await;
            assert_eq!(status.code(), Some(0), "process {} did not end well", node.number);
        }
    }
}
