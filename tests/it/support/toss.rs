//! The simulated Toss Payments, and what its control side tells and does.

use std::time::Duration;

use paydesk::{
    httpclient::HttpClient,
    simulator::{RunningSimulator, Simulator},
};
use serde_json::Value;

/// The gateways' other side, over real HTTP.
pub struct Toss {
    pub running: RunningSimulator,
    http: HttpClient,
}

impl Toss {
    pub async fn start() -> Self {
        let running = Simulator::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
        Self { running, http: HttpClient::new(Duration::from_secs(5), None).unwrap() }
    }

    /// For `--toss-url`.
    pub fn url(&self) -> String {
        format!("{}/toss", self.running.base_url())
    }

    /// The next calls behave so (interfaces.md, "Simulator").
    pub async fn behave(&self, behaviour: Value) {
        let url = format!("{}/_control/behaviours", self.running.base_url());
        let answer = self.http.post_json(&url, &[], behaviour.to_string().into_bytes()).await.unwrap();
        assert!(answer.status < 300, "{}", String::from_utf8_lossy(&answer.body));
    }

    /// Gives money back as somebody at the gateway's own console does.
    pub async fn cancel_by_hand(&self, payment_key: &str, amount: i64) {
        let url = format!("{}/v1/payments/{payment_key}/cancel", self.url());
        let headers = [("authorization", "Basic dGVzdF9za19zaW0wMDAwMDAwMDAwMDAwMDAwOg==")];
        let body = serde_json::json!({ "cancelReason": "by hand", "cancelAmount": amount });
        let answer = self.http.post_json(&url, &headers, body.to_string().into_bytes()).await.unwrap();
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    }

    /// Every call, oldest first.
    pub async fn calls(&self) -> Vec<Value> {
        self.control("calls").await
    }

    /// The keys of the key-ins, oldest first.
    pub async fn key_ins(&self) -> Vec<Value> {
        let calls = self.calls().await;
        let key_ins = calls.iter().filter(|call| call["operation"] == "key-in");
        key_ins.map(|call| call["idempotencyKey"].clone()).collect()
    }

    /// The gateway's own books.
    pub async fn payments(&self) -> Vec<Value> {
        self.control("payments").await
    }

    async fn control(&self, what: &str) -> Vec<Value> {
        let url = format!("{}/_control/{what}", self.running.base_url());
        let answer = self.http.get(&url, &[]).await.unwrap();
        serde_json::from_slice(&answer.body).unwrap()
    }
}
