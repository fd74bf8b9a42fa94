//! A purchase in Google's words, and Google's errors.

use serde::Deserialize;

use crate::{
    gateways::{
        CallOutcome, Purchase, PurchaseOutcome, PurchaseRefusal, Refusal, RefusalReason,
        dialogue::{Failed, json},
    },
    httpclient::HttpAnswer,
};

/// Our code for an access token that is refused.
pub(super) const UNAUTHORIZED: &str = "UNAUTHORIZED";
/// Google's reason for a purchase token of another product.
pub(super) const OTHER_PRODUCT: &str = "purchaseTokenDoesNotMatchProductId";

const PURCHASED: i64 = 0;
const CANCELED: i64 = 1;
const PENDING: i64 = 2;
const CONSUMED: i64 = 1;
const TEST: i64 = 0;

/// The reasons with which Google says that there is no such purchase.
const NO_PURCHASE: [&str; 3] = ["purchaseTokenNotFound", "purchaseTokenNoLongerValid", "invalid"];
/// The reasons of a 403 that pass.
const BUSY: [&str; 4] = ["quotaExceeded", "rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded"];

/// The fields that decide.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Product {
    purchase_state: Option<i64>,
    consumption_state: Option<i64>,
    purchase_type: Option<i64>,
    purchase_token: Option<String>,
    product_id: Option<String>,
    quantity: Option<i32>,
    order_id: Option<String>,
    obfuscated_external_account_id: Option<String>,
}

#[derive(Deserialize)]
struct ErrorBody {
    error: ErrorDetail,
}

#[derive(Deserialize)]
struct ErrorDetail {
    #[serde(default)]
    message: String,
    #[serde(default)]
    errors: Vec<ErrorReason>,
}

#[derive(Deserialize)]
struct ErrorReason {
    reason: String,
}

impl Product {
    pub(super) fn is_consumed(&self) -> bool {
        self.consumption_state == Some(CONSUMED)
    }

    /// Paid only at state 0 (the app's libraries count differently) and, since it has no price, by its product.
    pub(super) fn judge(self, sku: &str, purchase_token: &str, accept_test: bool) -> PurchaseOutcome {
        if self.purchase_token.as_deref().is_some_and(|token| token != purchase_token) {
            let message = "the answer is another purchase than the one that was asked for";
            return PurchaseOutcome::Unknown(Refusal::new("ANSWER_MISMATCH", message));
        }
        let told = |text: &str| Refusal::new("PURCHASE_STATE", text);
        match (self.purchase_state, self.purchase_type) {
            (Some(PENDING), _) => PurchaseOutcome::Pending(told("the purchase is pending")),
            (Some(CANCELED), _) => PurchaseOutcome::Cancelled(told("the purchase was cancelled")),
            (Some(PURCHASED), None) => PurchaseOutcome::Paid(self.purchase(sku, purchase_token)),
            (Some(PURCHASED), Some(TEST)) if accept_test => {
                PurchaseOutcome::Paid(self.purchase(sku, purchase_token))
            }
            (Some(PURCHASED), Some(TEST)) => PurchaseOutcome::Refused(PurchaseRefusal {
                reason: RefusalReason::Sandbox,
                message: "the purchase was made by a licence tester".to_owned(),
            }),
            (Some(PURCHASED), Some(_)) => {
                PurchaseOutcome::NotPaid(told("the product was given away: by a code, or for watching"))
            }
            _ => PurchaseOutcome::Unknown(told("the purchase is in no known state")),
        }
    }

    fn purchase(self, sku: &str, purchase_token: &str) -> Purchase {
        let consumed = self.is_consumed();
        let sku = self.product_id.unwrap_or_else(|| sku.to_owned());
        let account = self.obfuscated_external_account_id;
        let (token, order) = (purchase_token.to_owned(), self.order_id);
        Purchase { consumed, ..Purchase::of_product(token, sku, self.quantity, account, order) }
    }
}

/// The answer to "what is this purchase?".
pub(super) fn read(answer: &HttpAnswer) -> Result<Product, Failed> {
    if answer.status == 200 { json(answer) } else { Err(error(answer)) }
}

/// The answer to an order to do something.
pub(super) fn read_done(answer: &HttpAnswer) -> Result<(), Failed> {
    if matches!(answer.status, 200 | 204) { Ok(()) } else { Err(error(answer)) }
}

/// An error, by its reason. Without one it is not Google's word on the purchase.
fn error(answer: &HttpAnswer) -> Failed {
    if answer.status == 401 {
        return Failed::new(CallOutcome::Misconfigured, UNAUTHORIZED, "Google refuses our access token");
    }
    let Ok(ErrorBody { error }) = serde_json::from_slice::<ErrorBody>(&answer.body) else {
        return Failed::status(answer);
    };
    let reason = error.errors.first().map_or("UNNAMED", |first| first.reason.as_str());
    let outcome = match answer.status {
        403 if !BUSY.contains(&reason) => CallOutcome::Misconfigured,
        400 if reason == OTHER_PRODUCT => CallOutcome::Refused,
        400 | 404 | 410 if NO_PURCHASE.contains(&reason) => CallOutcome::NotFound,
        _ => CallOutcome::Unknown,
    };
    Failed::new(outcome, reason, &error.message)
}
