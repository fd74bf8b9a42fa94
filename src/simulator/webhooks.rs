//! Webhooks, sent like the gateways' own: again and again until they are received well.

use std::time::Duration;

use super::{calls::Arrival, hecto, payverse, sales::Sale, world::World};
use crate::httpclient::{HttpAnswer, HttpClient, HttpError};

/// Hecto and Payverse say "a configured number of times"; Bootpay's default is this.
const TRIES: u32 = 10;
/// How long the receiver may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A webhook that is ready to go.
#[derive(Debug)]
pub(super) struct Webhook {
    gateway: &'static str,
    url: String,
    order_id: Option<String>,
    amount: i64,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Json(String),
    Form(Vec<(&'static str, String)>),
}

impl Webhook {
    /// The webhook of a purchase.
    pub(super) fn of(world: &World, sale: &Sale) -> Result<Self, String> {
        let (gateway, body) = match sale.gateway.as_str() {
            payverse::GATEWAY => {
                (payverse::GATEWAY, Body::Json(payverse::record(&world.setup, sale, true).to_string()))
            }
            hecto::GATEWAY => (hecto::GATEWAY, Body::Form(hecto::noti(&world.setup, sale))),
            other => return Err(format!("{other} has no webhook; those of payverse and hecto are sent")),
        };
        let base = sale.webhook_url.as_deref().or(world.setup.webhook_url.as_deref()).ok_or(
            "there is no address for webhooks: start the simulator with --webhook-url, or say webhookUrl",
        )?;
        let url = format!("{}/{gateway}", base.trim_end_matches('/'));
        Ok(Self { gateway, url, order_id: sale.order_id.clone(), amount: sale.won(), body })
    }

    /// Sends it in the background until it is received well, or ten times.
    pub(super) fn send(self, world: &World) {
        let world = world.clone();
        let tasks = world.tasks.clone();
        tasks.spawn(async move {
            let Ok(http) = HttpClient::new(TIMEOUT, None) else { return };
            let mut wait = world.setup.webhook_retry;
            for _ in 0..TRIES {
                if world.stopping.is_cancelled() || self.attempt(&world, &http).await {
                    return;
                }
                world.pause(wait).await;
                wait = wait.saturating_mul(2);
            }
        });
    }

    /// True once it is received well.
    async fn attempt(&self, world: &World, http: &HttpClient) -> bool {
        let arrival = Arrival {
            gateway: self.gateway,
            operation: "webhook",
            idempotency_key: None,
            order_id: self.order_id.clone(),
            amount: Some(self.amount),
        };
        let call = world.with(|state| state.calls.begin(arrival));
        let answer = match &self.body {
            Body::Json(body) => http.post_json(&self.url, &[], body.clone()).await,
            Body::Form(fields) => {
                let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
                http.post_form(&self.url, &[], &fields).await
            }
        };
        let received = answer.as_ref().is_ok_and(|answer| self.is_received(answer));
        world.with(|state| state.calls.finish(call, &outcome(received, &answer)));
        received
    }

    fn is_received(&self, answer: &HttpAnswer) -> bool {
        let success = match self.body {
            Body::Json(_) => serde_json::from_slice(&answer.body)
                .is_ok_and(|body: serde_json::Value| body["receiveResult"] == "SUCCESS"),
            Body::Form(_) => answer.body.trim_ascii() == b"OK",
        };
        answer.status == 200 && success
    }
}

fn outcome(received: bool, answer: &Result<HttpAnswer, HttpError>) -> String {
    match answer {
        Ok(_) if received => "RECEIVED".to_owned(),
        Ok(answer) => format!("HTTP_{}", answer.status),
        Err(_) => "NO_ANSWER".to_owned(),
    }
}
