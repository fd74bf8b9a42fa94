//! Bootpay, the gateway behind `verify`: token, receipt, approval by the server (gateways.md §3).

mod receipt;
#[cfg(test)]
mod tests;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;

use super::{
    Asked, CallOutcome, Checkout, PurchaseOrder, PurchaseOutcome, PurchaseRefusal, Refusal, RefusalReason,
    dialogue::{self, Dialogue, Failed, Token, TokenCache, is_reference, no_reference, segment},
};
use crate::{
    config::{PurchaseConfig, given},
    httpclient::{HttpAnswer, HttpClient},
};

use receipt::{Receipt, Stage};

const PROVIDER: &str = "BOOTPAY";
/// How long a token lives where the answer does not say (gateways.md §3).
const TOKEN_SECONDS: u64 = 30 * 60;

/// A client of Bootpay as one of its applications. Cloning shares connections and token.
#[derive(Debug, Clone)]
pub(super) struct Bootpay {
    http: HttpClient,
    base_url: String,
    application_id: String,
    private_key: SecretString,
    accept_test_purchases: bool,
    tokens: TokenCache,
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    expire_in: Option<u64>,
}

/// An error. Version 2 says `error_code`, version 1 a negative `code`.
#[derive(Deserialize)]
struct ErrorBody {
    error_code: Option<dialogue::Scalar>,
    code: Option<dialogue::Scalar>,
    message: Option<String>,
}

impl Bootpay {
    /// The client, or none when the gateway is off. The base URL may end in `/v2` or not.
    pub(super) fn new(config: &PurchaseConfig, http: HttpClient) -> Option<Self> {
        let url = given(config.bootpay_url.as_ref())?.trim_end_matches('/');
        let base_url = format!("{}/v2", url.strip_suffix("/v2").unwrap_or(url));
        Some(Self {
            http,
            base_url,
            application_id: given(config.bootpay_application_id.as_ref())?.to_owned(),
            private_key: config.bootpay_private_key.clone()?,
            accept_test_purchases: config.accept_test_purchases,
            tokens: TokenCache::default(),
        })
    }

    /// What Bootpay's script is called with.
    pub(super) fn checkout(&self, order: &PurchaseOrder<'_>) -> Checkout {
        let fields = vec![
            ("application_id", self.application_id.clone()),
            ("order_id", order.order_id.to_owned()),
            ("order_name", order.title.to_owned()),
            ("price", order.amount.get().to_string()),
            ("currency", order.currency.to_owned()),
        ];
        Checkout { endpoint: None, fields }
    }

    /// Reads the receipt.
    pub(super) async fn ask(&self, receipt_id: &str) -> Asked {
        let mut dialogue = Dialogue::new(PROVIDER);
        let outcome = self.look(&mut dialogue, receipt_id).await;
        dialogue.end(outcome)
    }

    /// Approves a receipt that waits for it, if it is what the order asks for: order id and price come from the payer's
    /// browser. An answer that is not clear is followed by another look at the receipt.
    pub(super) async fn approve(&self, order: &PurchaseOrder<'_>, receipt_id: &str) -> Asked {
        let mut dialogue = Dialogue::new(PROVIDER);
        let outcome = match self.look(&mut dialogue, receipt_id).await {
            PurchaseOutcome::AwaitsApproval(purchase) if purchase.check(order).is_ok() => {
                self.confirm(&mut dialogue, receipt_id).await
            }
            other => other,
        };
        dialogue.end(outcome)
    }

    async fn look(&self, dialogue: &mut Dialogue, receipt_id: &str) -> PurchaseOutcome {
        if !is_reference(receipt_id) {
            return no_reference();
        }
        match self.receipt(dialogue, receipt_id).await {
            Ok(receipt) => self.judge(&receipt),
            Err(failed) => failed.into(),
        }
    }

    /// Money moves here.
    async fn confirm(&self, dialogue: &mut Dialogue, receipt_id: &str) -> PurchaseOutcome {
        let url = format!("{}/confirm", self.base_url);
        let body = json!({ "receipt_id": receipt_id }).to_string();
        let confirmed = self.authorized(dialogue, "confirm", receipt_id, |headers| {
            let (url, body) = (url.clone(), body.clone());
            async move { self.http.post_json(&url, &[("authorization", &headers)], body).await }
        });
        let outcome = match confirmed.await {
            Ok(receipt) if receipt.stage() != Stage::AwaitsApproval => self.judge(&receipt),
            _ => self.look(dialogue, receipt_id).await,
        };
        match outcome {
            PurchaseOutcome::AwaitsApproval(_) => {
                let message = "the payment was approved, and Bootpay has not carried it out yet";
                PurchaseOutcome::Pending(Refusal::new("APPROVING", message))
            }
            other => other,
        }
    }

    async fn receipt(&self, dialogue: &mut Dialogue, receipt_id: &str) -> Result<Receipt, Failed> {
        let url = format!("{}/receipt/{}", self.base_url, segment(receipt_id));
        self.authorized(dialogue, "lookup", receipt_id, |headers| {
            let url = url.clone();
            async move { self.http.get(&url, &[("authorization", &headers)]).await }
        })
        .await
    }

    /// A call under our token. A token that is refused is replaced once.
    async fn authorized<F>(
        &self,
        dialogue: &mut Dialogue,
        operation: &'static str,
        receipt_id: &str,
        call: impl Fn(String) -> F,
    ) -> Result<Receipt, Failed>
    where
        F: Future<Output = Result<HttpAnswer, crate::httpclient::HttpError>>,
    {
        let token = self.token(dialogue).await?;
        let header = |token: &Token| token.bearer().expose_secret().to_owned();
        let first = dialogue.call(operation, call(header(&token)), |answer| read(answer, receipt_id)).await;
        match first {
            Err(failed) if failed.outcome == CallOutcome::Misconfigured => {
                self.tokens.forget(&token);
                let token = self.token(dialogue).await?;
                dialogue.call(operation, call(header(&token)), |answer| read(answer, receipt_id)).await
            }
            other => other,
        }
    }

    async fn token(&self, dialogue: &mut Dialogue) -> Result<Token, Failed> {
        if let Some(token) = self.tokens.get() {
            return Ok(token);
        }
        let url = format!("{}/request/token", self.base_url);
        let key = self.private_key.expose_secret().trim();
        let body = json!({ "application_id": self.application_id, "private_key": key }).to_string();
        let token = dialogue.call("token", self.http.post_json(&url, &[], body), read_token).await?;
        self.tokens.put(token.clone());
        Ok(token)
    }

    fn is_sandbox(&self, receipt: &Receipt) -> bool {
        receipt.sandbox == Some(true) && !self.accept_test_purchases
    }

    fn judge(&self, receipt: &Receipt) -> PurchaseOutcome {
        let told = receipt.told();
        match receipt.stage() {
            Stage::Paid | Stage::AwaitsApproval if self.is_sandbox(receipt) => {
                PurchaseOutcome::Refused(PurchaseRefusal {
                    reason: RefusalReason::Sandbox,
                    message: "the payment was made in Bootpay's sandbox".to_owned(),
                })
            }
            stage @ (Stage::Paid | Stage::AwaitsApproval) => match receipt.purchase() {
                Some(purchase) if stage == Stage::Paid => PurchaseOutcome::Paid(purchase),
                Some(purchase) => PurchaseOutcome::AwaitsApproval(purchase),
                None => {
                    let message = "the receipt does not say for which order and how much it is";
                    PurchaseOutcome::Unknown(Refusal::new("UNREADABLE_ANSWER", message))
                }
            },
            Stage::Pending => PurchaseOutcome::Pending(told),
            Stage::Cancelled => PurchaseOutcome::Cancelled(told),
            Stage::Failed => PurchaseOutcome::NotPaid(told),
            Stage::Unclear => PurchaseOutcome::Unknown(told),
        }
    }
}

/// The receipt in an answer, if it is the one that was asked for.
fn read(answer: &HttpAnswer, receipt_id: &str) -> Result<Receipt, Failed> {
    match answer.status {
        200 => {
            let receipt: Receipt = dialogue::json(answer)?;
            if receipt.receipt_id == receipt_id {
                Ok(receipt)
            } else {
                let message = "the answer is another receipt than the one that was asked for";
                Err(Failed::unknown("ANSWER_MISMATCH", message))
            }
        }
        401 => Err(error(answer, CallOutcome::Misconfigured)),
        404 => Err(error(answer, CallOutcome::NotFound)),
        _ => Err(error(answer, CallOutcome::Unknown)),
    }
}

fn read_token(answer: &HttpAnswer) -> Result<Token, Failed> {
    match answer.status {
        200 => {
            let token: TokenAnswer = dialogue::json(answer)?;
            Ok(Token::new(token.access_token, token.expire_in.unwrap_or(TOKEN_SECONDS)))
        }
        400 | 401 | 403 | 404 => {
            let failed = error(answer, CallOutcome::Misconfigured);
            // Its own words may quote the key that it refuses.
            let message = "Bootpay refuses our application id or private key";
            Err(match failed.outcome {
                CallOutcome::Misconfigured => Failed::new(failed.outcome, &failed.refusal.code, message),
                _ => failed,
            })
        }
        _ => Err(Failed::status(answer)),
    }
}

/// An error answer. What has not the shape of Bootpay's errors comes from somebody else, and says nothing; except that
/// a 401 may come without a body.
fn error(answer: &HttpAnswer, outcome: CallOutcome) -> Failed {
    let body = serde_json::from_slice::<ErrorBody>(&answer.body).ok();
    let code = body.as_ref().and_then(|body| body.error_code.as_ref().or(body.code.as_ref()));
    match (code, answer.status) {
        (Some(code), _) => {
            let message = body.as_ref().and_then(|body| body.message.as_deref()).unwrap_or_default();
            Failed::new(outcome, &code.0, message)
        }
        (None, 401) => Failed::new(outcome, "UNAUTHORIZED", "HTTP 401"),
        (None, _) => Failed::status(answer),
    }
}
