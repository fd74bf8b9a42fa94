//! `paydesk demo`: payments, refunds and messages with some failures, through the public interfaces: GraphQL mutations
//! from a service, and the meeting service's messages and its queue, which at times is not bound.

mod messages;

use std::time::Duration;

use clap::Args;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use thiserror::Error;
use uuid::Uuid;

use crate::{
    auth::{Role, issue},
    broker::{Broker, Subscriber},
    config::{BrokerConfig, SettingError, SigningConfig},
    httpclient::HttpClient,
};

/// What `paydesk demo` can be told.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Payments a second
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rate: u32,

    /// Payments in all; without it, until Ctrl-C
    #[arg(long)]
    pub count: Option<u64>,

    /// Where the server listens
    #[arg(long, env = "PAYDESK_LISTEN", default_value = "127.0.0.1:8080")]
    pub server: String,

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

/// Sends traffic until `--count` or Ctrl-C.
pub async fn run(args: DemoArgs) -> Result<(), DemoError> {
    args.signing.check()?;
    let day = Duration::from_secs(24 * 60 * 60);
    let token = issue(&args.signing, "demo-meeting-service", Some("Demo"), &[Role::Service], day)
        .map_err(|error| DemoError::Setup(error.to_string()))?;
    let http = HttpClient::new(TIMEOUT, None).map_err(|error| DemoError::Setup(error.to_string()))?;
    let broker = Broker::new(&args.broker, None).map_err(|error| DemoError::Setup(error.to_string()))?;
    let subscriber = broker
        .subscribe("demo.meeting-service", &["payment.completed"])
        .await
        .map_err(|error| DemoError::Setup(error.to_string()))?;
    let pay = async {
        let client = Client { http, url: format!("http://{}/graphql", args.server), token: token.into() };
        client.pay_all(args.rate, args.count).await;
    };
    tokio::select! {
        () = pay => {}
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
}

impl Client {
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
            let variables = json!({ "input": {
                "idempotencyKey": Uuid::new_v4(), "paymentId": id, "reason": "the participant cancelled",
            } });
            self.ask(REFUND, &variables).await;
        }
    }

    /// Asks, prints the answer, and gives it back.
    async fn ask(&self, query: &str, variables: &Value) -> Option<Value> {
        let body = json!({ "query": query, "variables": variables }).to_string().into_bytes();
        let authorization = format!("Bearer {}", self.token.expose_secret());
        let headers = [("authorization", authorization.as_str())];
        match self.http.post_json(&self.url, &headers, body).await {
            Ok(answer) if answer.status == 200 => {
                println!("{}", String::from_utf8_lossy(&answer.body));
                serde_json::from_slice(&answer.body).ok()
            }
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
