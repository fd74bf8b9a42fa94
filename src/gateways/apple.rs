//! Apple: signed transactions, verified as Apple's own library does (gateways.md §5). Nobody is asked: the signature
//! says it all, so refunds made since then are not seen.

mod chain;
#[cfg(test)]
mod tests;

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    Asked, Checkout, Purchase, PurchaseOrder, PurchaseOutcome, PurchaseRefusal, Refusal, RefusalReason,
    dialogue::is_reference,
};
use crate::config::{AppleEnvironment, PurchaseConfig, SettingError, given};

use chain::Roots;

/// The only algorithm that Apple signs with. Whatever else a header asks for, `none` included, is refused.
const ALGORITHM: &str = "ES256";
const ROOT_FILE: &str = "PAYDESK_APPLE_ROOT_CERT_FILE";
/// Far more than a transaction with its three certificates takes.
const MAX_BYTES: usize = 64 * 1024;

/// Verifies what Apple signed for our app.
#[derive(Debug, Clone)]
pub(super) struct Apple {
    roots: Roots,
    bundle_id: String,
    environments: Vec<AppleEnvironment>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    x5c: Vec<String>,
}

/// The claims that decide.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Transaction {
    transaction_id: Option<String>,
    original_transaction_id: Option<String>,
    bundle_id: Option<String>,
    product_id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    quantity: Option<i32>,
    app_account_token: Option<String>,
    in_app_ownership_type: Option<String>,
    environment: Option<String>,
    revocation_date: Option<i64>,
    signed_date: Option<i64>,
}

impl Apple {
    /// The verifier, or none when the gateway is off.
    pub(super) fn new(config: &PurchaseConfig) -> Result<Option<Self>, SettingError> {
        let (Some(file), Some(bundle_id)) =
            (config.apple_root_cert_file.as_deref(), given(config.apple_bundle_id.as_ref()))
        else {
            return Ok(None);
        };
        let bytes = std::fs::read(file).map_err(|error| {
            SettingError::new(ROOT_FILE, format!("{} cannot be read: {error}", file.display()))
        })?;
        let roots = Roots::read(&bytes).ok_or_else(|| {
            SettingError::new(ROOT_FILE, format!("{} holds no certificate, in PEM or DER", file.display()))
        })?;
        let environments = config.apple_environments.clone();
        Ok(Some(Self { roots, bundle_id: bundle_id.to_owned(), environments }))
    }

    /// What the app gives `StoreKit` with the purchase.
    pub(super) fn checkout(order: &PurchaseOrder<'_>) -> Checkout {
        let fields =
            vec![("productId", order.sku.to_owned()), ("appAccountToken", order.account_token.to_string())];
        Checkout { endpoint: None, fields }
    }

    /// What a signed transaction says.
    pub(super) fn ask(&self, signed: &str) -> Asked {
        let outcome = match self.verify(signed.trim()) {
            Ok(transaction) => self.judge(transaction),
            Err(message) => refused(RefusalReason::Signature, message),
        };
        Asked { outcome, calls: Vec::new() }
    }

    /// The payload, once the chain leads to our root and the leaf's key has signed it.
    fn verify(&self, signed: &str) -> Result<Transaction, &'static str> {
        if signed.len() > MAX_BYTES {
            return Err("it is longer than any signed transaction");
        }
        let parts: Vec<&str> = signed.split('.').collect();
        let [header, payload, signature] = parts.as_slice() else {
            return Err("it is no signed transaction: it has not three parts");
        };
        let Header { alg, x5c } = part(header).ok_or("its header cannot be read")?;
        if alg != ALGORITHM {
            return Err("it is not signed with ES256");
        }
        let transaction: Transaction = part(payload).ok_or("its payload cannot be read")?;
        let at = transaction.signed_date.ok_or("it does not say when it was signed")?;
        let key = self.roots.leaf_key(&x5c, at)?;
        let message = signed.rsplit_once('.').map_or("", |(message, _)| message);
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_odd| "its signature cannot be read")?;
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key)
            .verify(message.as_bytes(), &signature)
            .map_err(|_wrong| "its signature is wrong")?;
        Ok(transaction)
    }

    fn judge(&self, transaction: Transaction) -> PurchaseOutcome {
        let is = |claim: &Option<String>, expected: &str| claim.as_deref() == Some(expected);
        if !is(&transaction.bundle_id, &self.bundle_id) {
            return refused(RefusalReason::Foreign, "the transaction is of another app");
        }
        let accepted = self.environments.iter().any(|environment| match environment {
            AppleEnvironment::Production => is(&transaction.environment, "Production"),
            AppleEnvironment::Sandbox => is(&transaction.environment, "Sandbox"),
        });
        if !accepted {
            return refused(RefusalReason::Sandbox, "purchases of its environment are not accepted");
        }
        if !is(&transaction.kind, "Consumable") {
            return refused(RefusalReason::NotConsumable, "the product is no consumable");
        }
        if !is(&transaction.in_app_ownership_type, "PURCHASED") {
            return refused(RefusalReason::NotOwned, "the product was shared, not bought");
        }
        if transaction.revocation_date.is_some() {
            let message = "Apple has given the money back";
            return PurchaseOutcome::Cancelled(Refusal::new("REVOKED", message));
        }
        let (Some(transaction_id), Some(sku)) =
            (transaction.transaction_id.filter(|id| is_reference(id)), transaction.product_id)
        else {
            return refused(RefusalReason::Signature, "it names no transaction or no product");
        };
        let (quantity, account) = (transaction.quantity, transaction.app_account_token);
        let original = transaction.original_transaction_id;
        PurchaseOutcome::Paid(Purchase::of_product(transaction_id, sku, quantity, account, original))
    }
}

fn refused(reason: RefusalReason, message: &str) -> PurchaseOutcome {
    PurchaseOutcome::Refused(PurchaseRefusal { reason, message: message.to_owned() })
}

/// One part of a JWS as JSON.
fn part<T: DeserializeOwned>(encoded: &str) -> Option<T> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()
}
