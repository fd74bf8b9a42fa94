//! `paydesk demo`: payments, refunds, coin purchases and messages with some failures, through the public interfaces:
//! GraphQL mutations from a service and an operator, purchases at the simulated gateways, and the meeting service's messages and its queue, which at times is not bound.

mod charges;
mod messages;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use clap::Args;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use thiserror::Error;
use uuid::Uuid;

use crate::{
    auth::{Role, issue},
    broker::{Broker, Subscriber},
    config::{BrokerConfig, SettingError, SigningConfig, whole},
    httpclient::HttpClient,
};

/// What `paydesk demo` can be told.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Payments a second
    #[arg(long, default_value_t = 1, value_parser = whole::<u32>(1..=1000))]
    pub rate: u32,

    /// Payments in all; without it, until Ctrl-C
    #[arg(long, value_parser = whole::<u64>(1..=1_000_000_000))]
    pub count: Option<u64>,

    /// Where the server listens
    #[arg(long, env = "PAYDESK_LISTEN", default_value = "127.0.0.1:8080")]
    pub server: String,

    /// Where the simulated gateways are, at which members buy
    #[arg(long, default_value = "http://127.0.0.1:9090")]
    pub simulator: String,

    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub signing: SigningConfig,

    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub broker: BrokerConfig,
}

/// Why there is no traffic.
#[derive(Debug, Error)]
pub enum DemoError {
    /// A setting is wrong.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The token cannot be signed, or the broker cannot be reached.
    #[error("{0}")]
    Setup(String),
}

/// Cards of the simulator: most are approved, some declined, some leave the outcome unknown, some are slow.
const CARDS: [&str; 10] = [
    "4330000000000001",
    "4330000000000002",
    "4330000000000003",
    "4000000000000002",
    "4330000000000004",
    "4330000000000005",
    "4000000000000119",
    "4330000000000006",
    "4000000000000002",
    "4000000000000044",
];
/// How long the queue stays bound for declined payments, and then unbound, so that some events fail and recover.
const BINDING_PHASE: Duration = Duration::from_secs(25);
const TIMEOUT: Duration = Duration::from_secs(45);

const PAY: &str = "mutation Demo($input: CreateKeyInPaymentInput!) {
  createKeyInPayment(input: $input) { payment { id status } userErrors { code message } } }";
const REFUND: &str = "mutation DemoRefund($input: RefundPaymentInput!) {
  refundPayment(input: $input) { refund { id status } userErrors { code message } } }";
/// Of so many completed payments one is given back.
const REFUND_ONE_OF: u8 = 5;
/// Of so many refunds the provider refuses one, the first among them: somebody has to retry it.
const REFUSED_ONE_OF: u64 = 20;

/// Sends traffic until `--count` or Ctrl-C.
pub async fn run(args: DemoArgs) -> Result<(), DemoError> {
    args.signing.check()?;
    let client = |subject, role| Client::new(&args, subject, role);
    let meetings = client("demo-meeting-service", Role::Service)?;
    let (charges, operator) =
        (client("demo-charge-service", Role::Service)?, client("demo-operator", Role::Admin)?);
    let broker = Broker::new(&args.broker, None).map_err(|error| DemoError::Setup(error.to_string()))?;
    let subscriber = broker
        .subscribe("demo.meeting-service", &["payment.completed"])
        .await
        .map_err(|error| DemoError::Setup(error.to_string()))?;
    tokio::select! {
        () = meetings.pay_all(args.rate, args.count) => {}
        () = charges::buy_all(&charges, &operator, args.rate) => {}
        () = listen_at_times(&subscriber) => {}
        () = messages::send_all(&broker, args.rate) => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(())
}

/// The meeting service listens for declined payments only at times: unroutable events fail, and are delivered later.
async fn listen_at_times(subscriber: &Subscriber) {
    loop {
        for bound in [true, false] {
            let change = if bound {
                subscriber.bind("payment.failed").await
            } else {
                subscriber.unbind("payment.failed").await
            };
            if let Err(error) = change {
                eprintln!("demo: the queue's binding cannot be changed: {error}");
            }
            tokio::time::sleep(BINDING_PHASE).await;
        }
    }
}

struct Client {
    http: HttpClient,
    url: String,
    token: SecretString,
    /// The gateways' other side, which is told to refuse.
    simulator: String,
    refunds: AtomicU64,
}

impl Client {
    fn new(args: &DemoArgs, subject: &str, role: Role) -> Result<Self, DemoError> {
        let setup = |error: &dyn std::error::Error| DemoError::Setup(error.to_string());
        let day = Duration::from_secs(24 * 60 * 60);
        let token =
            issue(&args.signing, subject, Some("Demo"), &[role], day).map_err(|error| setup(&error))?;
        let http = HttpClient::new(TIMEOUT, None).map_err(|error| setup(&error))?;
        Ok(Self {
            http,
            url: format!("http://{}/graphql", args.server),
            token: token.into(),
            simulator: args.simulator.trim_end_matches('/').to_owned(),
            refunds: AtomicU64::new(0),
        })
    }

    async fn pay_all(&self, rate: u32, count: Option<u64>) {
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
        let mut under_way = futures_util::stream::FuturesUnordered::new();
        let mut sent = 0_u64;
        while count.is_none_or(|count| sent < count) {
            tokio::select! {
                _ = ticks.tick() => {
                    under_way.push(self.pay(sent));
                    sent += 1;
                }
                Some(()) = futures_util::StreamExt::next(&mut under_way), if !under_way.is_empty() => {}
            }
        }
        while futures_util::StreamExt::next(&mut under_way).await.is_some() {}
    }

    async fn pay(&self, number: u64) {
        let cards = u64::try_from(CARDS.len()).unwrap_or(1);
        let card = CARDS.get(usize::try_from(number % cards).unwrap_or(0)).copied().unwrap_or_default();
        // Anybody's seat at any meeting: positive, and almost never the same twice.
        let random = || (fastrand::u64(1..=1 << 52)).to_string();
        let variables = json!({ "input": {
            "idempotencyKey": Uuid::new_v4(), "userId": random(), "meetingId": random(), "orderName": "Demo meeting",
            "amount": 1000 * fastrand::u32(1..=50),
            "card": { "number": card, "expirationYear": "30", "expirationMonth": "12", "password": "12", "identityNumber": "900101" },
        } });
        let Some(answer) = self.ask(PAY, &variables).await else { return };
        let payment = answer.pointer("/data/createKeyInPayment/payment");
        let completed = payment.filter(|payment| payment.get("status") == Some(&json!("COMPLETED")));
        if let Some(id) = completed.and_then(|payment| payment.get("id"))
            && fastrand::u8(0..REFUND_ONE_OF) == 0
        {
            self.refund(id).await;
        }
    }

    async fn refund(&self, payment: &Value) {
        if self.refunds.fetch_add(1, Ordering::Relaxed).is_multiple_of(REFUSED_ONE_OF) {
            let refusal = json!({
                "gateway": "toss", "operation": "cancel", "times": 1, "status": 403, "code": "NOT_CANCELABLE_PAYMENT",
            });
            self.post(&format!("{}/_control/behaviours", self.simulator), &refusal).await;
        }
        let variables = json!({ "input": {
            "idempotencyKey": Uuid::new_v4(), "paymentId": payment, "reason": "the participant cancelled",
        } });
        self.ask(REFUND, &variables).await;
    }

    /// Asks, prints the answer, and gives it back.
    async fn ask(&self, query: &str, variables: &Value) -> Option<Value> {
        let body = json!({ "query": query, "variables": variables });
        let authorization = format!("Bearer {}", self.token.expose_secret());
        let answer = self.send(&self.url, &[("authorization", authorization.as_str())], &body).await?;
        println!("{answer}");
        Some(answer)
    }

    /// Posts JSON to another server, without our token.
    async fn post(&self, url: &str, body: &Value) -> Option<Value> {
        self.send(url, &[], body).await
    }

    async fn send(&self, url: &str, headers: &[(&'static str, &str)], body: &Value) -> Option<Value> {
        match self.http.post_json(url, headers, body.to_string().into_bytes()).await {
            Ok(answer) if answer.status == 200 => serde_json::from_slice(&answer.body).ok(),
            Ok(answer) => {
                eprintln!("demo: the server answered {}", answer.status);
                None
            }
            Err(error) => {
                eprintln!("demo: {error}");
                None
            }
        }
    }
}
