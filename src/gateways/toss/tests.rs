//! The client against the simulator, over real HTTP.

mod answers;
mod codes;
mod exposure;
mod key_in;
mod simulated;

use std::time::Duration;

use secrecy::SecretString;
use serde_json::{Value, json};

use super::{KeyIn, KeyInOutcome, Refusal, TossClient};
use crate::{
    config::TossConfig,
    gateways::{CallOutcome, ProviderCall},
    httpclient::{HttpAnswer, HttpClient},
    simulator::{RunningSimulator, Simulator},
    types::{Card, Won},
};

const CARD: &str = "9410001234567890";
const SECRET_KEY: &str = "test_sk_sim0000000000000000";
/// `SECRET_KEY` with its colon, encoded by hand of gateways.md §1.10.
const AUTHORIZATION: &str = "Basic dGVzdF9za19zaW0wMDAwMDAwMDAwMDAwMDAwOg==";
const ORDER: &str = "PAY-20260105-0001";

/// A simulator of one's own, a client of it, and plain HTTP to look behind the client's back.
struct Bench {
    simulator: RunningSimulator,
    client: TossClient,
    http: HttpClient,
}

impl Bench {
    async fn new() -> Self {
        Self::with_timeout(Duration::from_secs(30)).await
    }

    async fn with_timeout(timeout: Duration) -> Self {
        let simulator = Simulator::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let client = client(&format!("{}/toss", simulator.base_url()), SECRET_KEY, timeout);
        let http = HttpClient::new(Duration::from_secs(30), None).unwrap();
        Self { simulator, client, http }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.simulator.base_url())
    }

    async fn get(&self, path: &str) -> HttpAnswer {
        self.http.get(&self.url(path), &[("authorization", AUTHORIZATION)]).await.unwrap()
    }

    async fn post(&self, path: &str, headers: &[(&'static str, &str)], body: &Value) -> HttpAnswer {
        let mut all = vec![("authorization", AUTHORIZATION)];
        all.extend_from_slice(headers);
        self.http.post_json(&self.url(path), &all, body.to_string().into_bytes()).await.unwrap()
    }

    /// Makes the next key-in behave as said.
    async fn key_in_behaves(&self, mut behaviour: Value) {
        behaviour["gateway"] = json!("toss");
        behaviour["operation"] = json!("key-in");
        assert_eq!(self.post("/_control/behaviours", &[], &behaviour).await.status, 200);
    }

    async fn calls(&self) -> Vec<Value> {
        read(&self.get("/_control/calls?gateway=toss").await).as_array().unwrap().clone()
    }

    async fn call_outcomes(&self) -> Vec<String> {
        self.calls().await.iter().map(|call| call["outcome"].as_str().unwrap().to_owned()).collect()
    }

    /// Order, status, paid and cancelled of each payment in Toss's own books.
    async fn books(&self) -> Vec<(String, String, i64, i64)> {
        let books = read(&self.get("/_control/payments").await);
        let row = |row: &Value| {
            let text = |field: &str| row[field].as_str().unwrap().to_owned();
            let won = |field: &str| row[field].as_i64().unwrap();
            (text("orderId"), text("status"), won("paid"), won("cancelled"))
        };
        books.as_array().unwrap().iter().map(row).collect()
    }

    async fn assert_charged_once(&self) {
        assert_eq!(self.books().await, [(ORDER.to_owned(), "DONE".to_owned(), 11_000, 0)]);
    }

    async fn assert_nothing_charged(&self) {
        assert_eq!(self.books().await, []);
    }
}

fn client(base_url: &str, secret_key: &str, timeout: Duration) -> TossClient {
    let config = TossConfig {
        toss_url: Some(base_url.to_owned()),
        toss_secret_key: Some(SecretString::from(secret_key.to_owned())),
        toss_test_card: None,
        provider_timeout: timeout,
    };
    TossClient::new(&config, HttpClient::new(timeout, None).unwrap()).unwrap()
}

fn card(number: &str) -> Card {
    Card::new(number.into(), "30".into(), "12".into(), Some("12".into()), Some("900101".into())).unwrap()
}

/// 11,000 won for `ORDER`, under the key `key-1`.
fn request(card: &Card) -> KeyIn<'_> {
    KeyIn {
        order_id: ORDER,
        order_name: "coin pack 100",
        amount: Won::new(11_000).unwrap(),
        card,
        idempotency_key: "key-1",
    }
}

/// The body that Toss documents for the same request.
fn request_body() -> Value {
    json!({
        "amount": 11_000,
        "orderId": ORDER,
        "orderName": "coin pack 100",
        "cardNumber": CARD,
        "cardExpirationYear": "30",
        "cardExpirationMonth": "12",
        "cardPassword": "12",
        "customerIdentityNumber": "900101",
    })
}

fn read(answer: &HttpAnswer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

#[track_caller]
fn unknown((outcome, call): (KeyInOutcome, ProviderCall)) -> (Refusal, CallOutcome) {
    match outcome {
        KeyInOutcome::Unknown(refusal) => {
            assert_eq!(call.code.as_deref(), Some(refusal.code.as_str()));
            (refusal, call.outcome)
        }
        other => panic!("not unknown: {other:?}"),
    }
}
