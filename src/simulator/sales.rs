//! Purchases that users made in the gateways' own windows: `/_control/purchases` makes and changes them.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::world::State;

/// Where a purchase stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Standing {
    #[default]
    Paid,
    /// Waits for the merchant's approval (Bootpay's status 2).
    Unapproved,
    Pending,
    Declined,
    /// Given back.
    Cancelled,
}

/// A purchase, with everything by which it can differ from an honest one.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Sale {
    pub(super) gateway: String,
    /// The gateway's id; one that is known changes that purchase.
    #[serde(alias = "purchaseToken")]
    pub(super) transaction_id: String,
    pub(super) order_id: Option<String>,
    /// As the gateway is to tell it: a number or a text.
    pub(super) amount: Option<Value>,
    /// Payverse: what was approved, if that is not what was asked for.
    pub(super) approved_amount: Option<Value>,
    pub(super) currency: Option<String>,
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) status: Standing,
    pub(super) sku: Option<String>,
    pub(super) quantity: Option<i64>,
    pub(super) account_token: Option<String>,
    /// Google's orderId, Apple's originalTransactionId; each purchase has one of its own unless it is said.
    pub(super) store_order_id: Option<String>,
    /// Bootpay's sandbox, Google's licence testers, Apple's sandbox.
    #[serde(default)]
    pub(super) sandbox: bool,
    /// Google: 1 for a code, 2 for a reward.
    pub(super) purchase_type: Option<i64>,
    /// Another merchant's id (Payverse, Hecto).
    pub(super) merchant: Option<String>,
    /// Another app (Apple, Google).
    pub(super) app: Option<String>,
    /// Apple: any environment by name.
    pub(super) environment: Option<String>,
    /// Apple: `Consumable` and so on.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// Apple: `PURCHASED` or `FAMILY_SHARED`.
    pub(super) ownership: Option<String>,
    #[serde(default)]
    pub(super) consumed: bool,
    /// What is forged about the webhook or the signed transaction.
    pub(super) forge: Option<String>,
    /// Sends the webhook.
    #[serde(default)]
    pub(super) webhook: bool,
    /// To another address than the simulator's own.
    pub(super) webhook_url: Option<String>,
}

impl Sale {
    /// The amount as text.
    pub(super) fn amount_text(&self) -> String {
        text(self.amount.as_ref())
    }

    /// The amount in whole won, as far as it is one.
    pub(super) fn won(&self) -> i64 {
        self.amount_text().parse().unwrap_or(0)
    }

    pub(super) fn currency(&self) -> &str {
        self.currency.as_deref().unwrap_or("KRW")
    }

    pub(super) fn title(&self) -> &str {
        self.title.as_deref().unwrap_or("coin")
    }

    /// Whether this part of it is forged.
    pub(super) fn is_forged(&self, what: &str) -> bool {
        self.forge.as_deref() == Some(what)
    }

    /// The app stores sell products, the others take an amount for an order.
    fn check(&self) -> Result<(), String> {
        let missing = match self.gateway.as_str() {
            "apple" | "google" => [("sku", self.sku.is_none()), ("transactionId", false)],
            _ => [("orderId", self.order_id.is_none()), ("amount", self.amount.is_none())],
        };
        match missing.iter().find(|(_, missing)| *missing) {
            Some((field, _)) => Err(format!("a purchase at {} needs {field}", self.gateway)),
            None => Ok(()),
        }
    }

    fn book(&self) -> Value {
        let taken = matches!(self.status, Standing::Paid | Standing::Cancelled);
        json!({
            "gateway": self.gateway,
            "orderId": self.order_id,
            "transactionId": self.transaction_id,
            "status": format!("{:?}", self.status).to_uppercase(),
            "paid": if taken { self.won() } else { 0 },
            "cancelled": if self.status == Standing::Cancelled { self.won() } else { 0 },
            "consumed": self.consumed,
        })
    }
}

/// A JSON text or number as text.
pub(super) fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// All purchases, oldest first.
#[derive(Debug, Default)]
pub(super) struct Sales(Vec<(Map<String, Value>, Sale)>);

impl Sales {
    /// Makes a purchase, or changes the one that is named: what is not said stays.
    pub(super) fn put(&mut self, mut request: Map<String, Value>) -> Result<Sale, String> {
        if let Some(token) = request.remove("purchaseToken") {
            request.insert("transactionId".to_owned(), token);
        }
        let gateway = text(request.get("gateway"));
        let id = request
            .entry("transactionId")
            .or_insert_with(|| json!(format!("{gateway}{}", Uuid::new_v4().simple())))
            .clone();
        let known = self.0.iter().position(|(_, sale)| sale.gateway == gateway && id == sale.transaction_id);
        let mut row =
            known.and_then(|index| self.0.get(index)).map(|(row, _)| row.clone()).unwrap_or_default();
        // Each purchase says anew whether a webhook is wanted, and what is forged.
        row.remove("webhook");
        row.remove("forge");
        row.extend(request);
        let sale: Sale = serde_json::from_value(Value::Object(row.clone()))
            .map_err(|error| format!("not a purchase: {error}"))?;
        sale.check()?;
        match known.and_then(|index| self.0.get_mut(index)) {
            Some(place) => *place = (row, sale.clone()),
            None => self.0.push((row, sale.clone())),
        }
        Ok(sale)
    }

    /// The newest purchase of a gateway that fits.
    pub(super) fn find(&self, gateway: &str, fits: impl Fn(&Sale) -> bool) -> Option<&Sale> {
        self.0.iter().rev().map(|(_, sale)| sale).find(|sale| sale.gateway == gateway && fits(sale))
    }

    /// The purchase with this id.
    pub(super) fn get(&self, gateway: &str, id: &str) -> Option<&Sale> {
        self.find(gateway, |sale| sale.transaction_id == id)
    }

    /// Changes one field of a purchase that exists, and gives it as it is then.
    pub(super) fn change(&mut self, gateway: &str, id: &str, field: &str, value: Value) -> Option<Sale> {
        self.get(gateway, id)?;
        let change = json!({ "gateway": gateway, "transactionId": id, field: value });
        self.put(change.as_object().cloned().unwrap_or_default()).ok()
    }

    /// The books, for `/_control/payments`.
    pub(super) fn books(&self) -> Vec<Value> {
        self.0.iter().map(|(_, sale)| sale.book()).collect()
    }
}

/// The purchase that a gateway is asked about, for `/_control/calls`.
pub(super) fn about(state: &State, gateway: &str, id: &str) -> (Option<String>, Option<i64>) {
    state.sales.get(gateway, id).map_or((None, None), |sale| (sale.order_id.clone(), Some(sale.won())))
}
