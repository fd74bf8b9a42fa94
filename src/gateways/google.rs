//! Google Play: purchases are read and consumed in the name of a service account (gateways.md §6).

mod account;
mod product;
#[cfg(test)]
mod tests;

use secrecy::ExposeSecret;

use super::{
    Asked, CallOutcome, Checkout, ConsumeOutcome, ProviderCall, PurchaseOrder, PurchaseOutcome,
    PurchaseRefusal, RefusalReason,
    dialogue::{Dialogue, Failed, Token, TokenCache, is_reference, no_reference, segment},
};
use crate::{
    config::{PurchaseConfig, SettingError, given},
    httpclient::{HttpAnswer, HttpClient, HttpError},
    types::clock,
};

use account::ServiceAccount;
use product::Product;

const PROVIDER: &str = "GOOGLE";

/// A client of Google Play for our app. Cloning shares connections and token.
#[derive(Debug, Clone)]
pub(super) struct Google {
    http: HttpClient,
    base_url: String,
    package: String,
    account: ServiceAccount,
    accept_test_purchases: bool,
    tokens: TokenCache,
}

impl Google {
    /// The client, or none when the gateway is off.
    pub(super) fn new(config: &PurchaseConfig, http: HttpClient) -> Result<Option<Self>, SettingError> {
        let (Some(url), Some(file), Some(package)) = (
            given(config.google_url.as_ref()),
            config.google_service_account_file.as_deref(),
            given(config.google_package_name.as_ref()),
        ) else {
            return Ok(None);
        };
        let account = ServiceAccount::read(file, given(config.google_token_url.as_ref()))?;
        Ok(Some(Self {
            http,
            base_url: url.trim_end_matches('/').to_owned(),
            package: package.to_owned(),
            account,
            accept_test_purchases: config.accept_test_purchases,
            tokens: TokenCache::default(),
        }))
    }

    /// What the app starts the billing flow with.
    pub(super) fn checkout(&self, order: &PurchaseOrder<'_>) -> Checkout {
        let fields = vec![
            ("productId", order.sku.to_owned()),
            ("obfuscatedAccountId", order.account_token.to_string()),
            ("packageName", self.package.clone()),
        ];
        Checkout { endpoint: None, fields }
    }

    /// Reads the purchase of the order's product under this token.
    pub(super) async fn ask(&self, order: &PurchaseOrder<'_>, purchase_token: &str) -> Asked {
        let mut dialogue = Dialogue::new(PROVIDER);
        if !is_reference(purchase_token) {
            return dialogue.end(no_reference());
        }
        let outcome = match self.product(&mut dialogue, order.sku, purchase_token).await {
            Ok(product) => product.judge(order.sku, purchase_token, self.accept_test_purchases),
            // The token is of another product.
            Err(failed) if failed.refusal.code == product::OTHER_PRODUCT => {
                let message = failed.refusal.message;
                PurchaseOutcome::Refused(PurchaseRefusal { reason: RefusalReason::OtherProduct, message })
            }
            Err(failed) => failed.into(),
        };
        dialogue.end(outcome)
    }

    /// Consumes a purchase. Google refuses to consume twice in words that are not documented, so that anything but
    /// success is followed by a look at the purchase.
    pub(super) async fn consume(
        &self,
        sku: &str,
        purchase_token: &str,
    ) -> (ConsumeOutcome, Vec<ProviderCall>) {
        let mut dialogue = Dialogue::new(PROVIDER);
        let url = format!("{}:consume", self.url(sku, purchase_token));
        let consumed = self.authorized(&mut dialogue, "consume", product::read_done, |header| {
            let url = url.clone();
            async move { self.http.post_json(&url, &[("authorization", &header)], "{}").await }
        });
        let outcome = match consumed.await {
            Ok(()) => ConsumeOutcome::Consumed,
            Err(failed) if failed.outcome == CallOutcome::Misconfigured => {
                ConsumeOutcome::Misconfigured(failed.refusal)
            }
            Err(failed) => match self.product(&mut dialogue, sku, purchase_token).await {
                Ok(product) if product.is_consumed() => ConsumeOutcome::Consumed,
                Err(gone) if matches!(gone.outcome, CallOutcome::NotFound | CallOutcome::Refused) => {
                    ConsumeOutcome::Refused(gone.refusal)
                }
                _ => ConsumeOutcome::Unknown(failed.refusal),
            },
        };
        (outcome, dialogue.calls)
    }

    async fn product(
        &self,
        dialogue: &mut Dialogue,
        sku: &str,
        purchase_token: &str,
    ) -> Result<Product, Failed> {
        let url = self.url(sku, purchase_token);
        self.authorized(dialogue, "lookup", product::read, |header| {
            let url = url.clone();
            async move { self.http.get(&url, &[("authorization", &header)]).await }
        })
        .await
    }

    fn url(&self, sku: &str, purchase_token: &str) -> String {
        format!(
            "{}/androidpublisher/v3/applications/{}/purchases/products/{}/tokens/{}",
            self.base_url,
            segment(&self.package),
            segment(sku),
            segment(purchase_token)
        )
    }

    /// A call under our access token. A token that is refused is replaced once.
    async fn authorized<T, F>(
        &self,
        dialogue: &mut Dialogue,
        operation: &'static str,
        read: fn(&HttpAnswer) -> Result<T, Failed>,
        call: impl Fn(String) -> F,
    ) -> Result<T, Failed>
    where
        F: Future<Output = Result<HttpAnswer, HttpError>>,
    {
        let token = self.token(dialogue).await?;
        let header = |token: &Token| token.bearer().expose_secret().to_owned();
        match dialogue.call(operation, call(header(&token)), read).await {
            Err(failed) if failed.refusal.code == product::UNAUTHORIZED => {
                self.tokens.forget(&token);
                let token = self.token(dialogue).await?;
                dialogue.call(operation, call(header(&token)), read).await
            }
            other => other,
        }
    }

    async fn token(&self, dialogue: &mut Dialogue) -> Result<Token, Failed> {
        if let Some(token) = self.tokens.get() {
            return Ok(token);
        }
        let assertion = self.account.assertion(clock::now());
        let fields = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
            ("assertion", assertion.expose_secret()),
        ];
        let request = self.http.post_form(self.account.token_url(), &[], &fields);
        let token = dialogue.call("token", request, account::read_token).await?;
        self.tokens.put(token.clone());
        Ok(token)
    }
}
