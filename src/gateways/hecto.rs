//! Hecto Financial: its window's encrypted and hashed fields, its notices, and its lookup (gateways.md §4).

mod cipher;
mod inquiry;
mod noti;
#[cfg(test)]
mod tests;

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::{
    Asked, Checkout, Notice, PurchaseOrder, PurchaseOutcome, Refusal,
    dialogue::{Dialogue, hex, is_reference, no_reference, seoul},
};
use crate::{
    config::{HectoField, PurchaseConfig, SettingError, given},
    httpclient::HttpClient,
    types::clock,
};

use cipher::Cipher;

const PROVIDER: &str = "HECTO";
/// How Hecto writes a date, in Korean time.
const DATE: &str = "%Y%m%d";
/// How Hecto writes a time of day.
const TIME: &str = "%H%M%S";

/// A client of Hecto as one of its merchants. Cloning shares the connections.
#[derive(Debug, Clone)]
pub(super) struct Hecto {
    http: HttpClient,
    base_url: String,
    merchant_id: String,
    license_key: SecretString,
    cipher: Cipher,
    lookup_path: String,
    lookup_version: String,
    lookup_hash: Vec<HectoField>,
    method: String,
    window_url: String,
    notice_url: Option<String>,
}

impl Hecto {
    /// The client, or none when the gateway is off.
    pub(super) fn new(config: &PurchaseConfig, http: HttpClient) -> Result<Option<Self>, SettingError> {
        let (Some(url), Some(merchant_id), Some(license_key), Some(aes_key)) = (
            given(config.hecto_url.as_ref()),
            given(config.hecto_merchant_id.as_ref()),
            config.hecto_license_key.clone(),
            config.hecto_aes_key.as_ref(),
        ) else {
            return Ok(None);
        };
        let cipher = Cipher::new(aes_key)
            .ok_or_else(|| SettingError::new("PAYDESK_HECTO_AES_KEY", "it must be 32 bytes long"))?;
        let public_url = given(config.public_url.as_ref()).map(|url| url.trim_end_matches('/'));
        Ok(Some(Self {
            http,
            base_url: url.trim_end_matches('/').to_owned(),
            merchant_id: merchant_id.to_owned(),
            license_key,
            cipher,
            lookup_path: format!("/{}", config.hecto_lookup_path.trim().trim_start_matches('/')),
            lookup_version: config.hecto_lookup_version.clone(),
            lookup_hash: config.hecto_lookup_hash.clone(),
            method: config.hecto_method.clone(),
            window_url: config.hecto_window_url.clone(),
            notice_url: public_url.map(|url| format!("{url}/webhooks/hecto")),
        }))
    }

    /// The window's fields: the amount encrypted, and hashed in plain.
    pub(super) fn checkout(&self, order: &PurchaseOrder<'_>) -> Checkout {
        let (date, time) = (seoul(order.requested_at, DATE), seoul(order.requested_at, TIME));
        let amount = order.amount.get().to_string();
        let hash = self.hash(&[&self.merchant_id, &self.method, order.order_id, &date, &time, &amount]);
        let mut fields = vec![
            ("mchtId", self.merchant_id.clone()),
            ("method", self.method.clone()),
            ("trdDt", date),
            ("trdTm", time),
            ("mchtTrdNo", order.order_id.to_owned()),
            ("pmtPrdtNm", order.title.to_owned()),
            ("trdAmt", self.cipher.encrypt(&amount)),
            ("pktHash", hash),
        ];
        fields.extend(self.notice_url.clone().map(|url| ("notiUrl", url)));
        Checkout { endpoint: Some(self.window_url.clone()), fields }
    }

    /// Reads what came to our webhook.
    pub(super) fn notice(&self, body: &[u8]) -> Notice {
        noti::read(self, body)
    }

    /// Asks Hecto about an order. What the browser brought back is signed by nobody; only its `trdNo` is used, and it
    /// must be the one that Hecto names.
    pub(super) async fn ask(&self, order: &PurchaseOrder<'_>, transaction: Option<&str>) -> Asked {
        let mut dialogue = Dialogue::new(PROVIDER);
        if transaction.is_some_and(|number| !is_reference(number)) {
            return dialogue.end(no_reference());
        }
        let now = clock::now();
        let body = inquiry::request(self, order, transaction, &seoul(now, DATE), &seoul(now, TIME));
        let url = format!("{}{}", self.base_url, self.lookup_path);
        let request = self.http.post_json(&url, &[], body.to_string());
        let found = dialogue.call("lookup", request, |answer| inquiry::read(self, order, answer)).await;
        let outcome = match found {
            Ok(PurchaseOutcome::Paid(purchase))
                if transaction.is_some_and(|number| number != purchase.transaction_id) =>
            {
                let message = "the order was paid by another transaction than the presented one";
                PurchaseOutcome::NotPaid(Refusal::new("OTHER_TRANSACTION", message))
            }
            Ok(outcome) => outcome,
            Err(failed) => failed.into(),
        };
        dialogue.end(outcome)
    }

    /// Lowercase SHA-256 over the fields and our licence key, one after the other.
    fn hash(&self, fields: &[&str]) -> String {
        hash(&self.license_key, fields)
    }
}

fn hash(license_key: &SecretString, fields: &[&str]) -> String {
    let key = license_key.expose_secret().trim();
    hex(&Sha256::digest(format!("{}{key}", fields.concat())))
}
