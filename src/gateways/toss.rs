//! Toss Payments: key-in approval of a card in one call, cancel, lookup (gateways.md §1).

mod answer;
mod body;
mod cancel;
mod codes;
mod lookup;
mod scrub;
#[cfg(test)]
mod tests;

use std::time::Instant as Stopwatch;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use secrecy::{ExposeSecret, SecretString};

use super::{ProviderCall, Refusal};
use crate::{
    config::TossConfig,
    httpclient::{HttpClient, HttpError},
    types::{Card, Instant, Won},
};

pub use cancel::{Cancel, CancelOutcome};
pub use lookup::{LookupOutcome, ProviderPayment, ProviderState, Reference};

const PROVIDER: &str = "TOSS";

/// A client of Toss Payments with our secret key. Cloning shares the connections.
#[derive(Debug, Clone)]
pub struct TossClient {
    http: HttpClient,
    base_url: String,
    authorization: SecretString,
}

/// A card payment to approve.
#[derive(Debug, Clone, Copy)]
pub struct KeyIn<'a> {
    /// Our id of the order; the answer must carry it.
    pub order_id: &'a str,
    /// What the payer reads on the statement.
    pub order_name: &'a str,
    /// How much; the answer must carry exactly this.
    pub amount: Won,
    /// The payer's card, lent for this call.
    pub card: &'a Card,
    /// One key for one payment, however often it is tried: Toss does not compare bodies, and key-in's URL is always
    /// the same, so a key used twice answers with the first payment.
    pub idempotency_key: &'a str,
}

/// How a key-in ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyInOutcome {
    /// The card was charged, for our order and our amount.
    Approved(Approval),
    /// Refused for good; no money moved.
    Declined(Refusal),
    /// Nobody knows yet: ask the provider by order id before calling it a failure.
    Unknown(Refusal),
    /// Our key or contract is wrong; no money moved, and no other payment will fare better.
    Misconfigured(Refusal),
}

/// What the provider says of an approved payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The provider's id of the payment, needed to cancel it.
    pub payment_key: String,
    /// How it was paid, in the provider's words (`카드`).
    pub method: Option<String>,
    /// When the provider approved it.
    pub approved_at: Instant,
}

impl TossClient {
    /// The client, or none when the gateway is off: its URL or its key is not set. The call's timeout is `http`'s.
    pub fn new(config: &TossConfig, http: HttpClient) -> Option<Self> {
        let base_url = config.toss_url.as_deref()?.trim().trim_end_matches('/');
        // A byte order mark, as editors leave it in key files, would become part of the encoded key.
        let key = config.toss_secret_key.as_ref()?.expose_secret().trim_start_matches('\u{FEFF}').trim();
        if base_url.is_empty() || key.is_empty() {
            return None;
        }
        let authorization = SecretString::from(format!("Basic {}", STANDARD.encode(format!("{key}:"))));
        Some(Self { http, base_url: base_url.to_owned(), authorization })
    }

    /// Charges the card. Never repeats the call by itself: whoever gets `Unknown` asks again with the same key.
    pub async fn key_in(&self, request: KeyIn<'_>) -> (KeyInOutcome, ProviderCall) {
        let started = Stopwatch::now();
        let answer = match body::key_in(&request) {
            Ok(body) => {
                let url = format!("{}/v1/payments/key-in", self.base_url);
                let headers = [
                    ("authorization", self.authorization.expose_secret()),
                    ("idempotency-key", request.idempotency_key),
                ];
                self.http.post_json(&url, &headers, body).await
            }
            Err(_unwritable) => Err(HttpError::NotConnected("the request cannot be written".to_owned())),
        };
        let reading = answer::key_in(&request, answer);
        let call = ProviderCall::ended(PROVIDER, "key-in", started, reading.outcome, reading.code);
        (reading.result, ProviderCall { idempotency_key: Some(request.idempotency_key.to_owned()), ..call })
    }

    /// Gives all that is left of a payment back. Never repeats the call by itself.
    pub async fn cancel(&self, request: Cancel<'_>) -> (CancelOutcome, ProviderCall) {
        let started = Stopwatch::now();
        let answer = match cancel::body(&request) {
            Ok(body) => {
                let payment = Reference::PaymentKey(request.payment_key).path();
                let url = format!("{}{payment}/cancel", self.base_url);
                let headers = [
                    ("authorization", self.authorization.expose_secret()),
                    ("idempotency-key", request.idempotency_key),
                ];
                self.http.post_json(&url, &headers, body).await
            }
            Err(_unwritable) => Err(HttpError::NotConnected("the request cannot be written".to_owned())),
        };
        let reading = cancel::read(&request, answer);
        let call = ProviderCall::ended(PROVIDER, "cancel", started, reading.outcome, reading.code);
        (reading.result, ProviderCall { idempotency_key: Some(request.idempotency_key.to_owned()), ..call })
    }

    /// Asks what the books say of a payment.
    pub async fn lookup(&self, reference: Reference<'_>) -> (LookupOutcome, ProviderCall) {
        let started = Stopwatch::now();
        let url = format!("{}{}", self.base_url, reference.path());
        let headers = [("authorization", self.authorization.expose_secret())];
        let reading = lookup::read(reference, self.http.get(&url, &headers).await);
        (reading.result, ProviderCall::ended(PROVIDER, "lookup", started, reading.outcome, reading.code))
    }
}
