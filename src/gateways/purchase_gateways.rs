//! The purchase gateways that are on, behind one face. Whatever returns an option returns none for a gateway that is
//! off (`GATEWAY_UNAVAILABLE`).

#[cfg(test)]
mod tests;

use super::{
    Asked, Checkout, ConsumeOutcome, Notice, PaymentGateway, ProviderCall, PurchaseOrder, PurchaseOutcome,
    Refusal, apple::Apple, bootpay::Bootpay, google::Google, hecto::Hecto, payverse::Payverse,
};
use crate::{
    config::{PurchaseConfig, SettingError},
    httpclient::HttpClient,
};

/// The clients of the purchase gateways. Cloning shares connections and tokens.
#[derive(Debug, Clone, Default)]
pub struct PurchaseGateways {
    bootpay: Option<Bootpay>,
    payverse: Option<Payverse>,
    hecto: Option<Hecto>,
    google: Option<Google>,
    apple: Option<Apple>,
}

impl PurchaseGateways {
    /// The clients of those gateways that have their settings. Files are read here; nothing is connected. A call's
    /// timeout is `http`'s.
    pub fn new(config: &PurchaseConfig, http: &HttpClient) -> Result<Self, SettingError> {
        Ok(Self {
            bootpay: Bootpay::new(config, http.clone()),
            payverse: Payverse::new(config, http.clone()),
            hecto: Hecto::new(config, http.clone())?,
            google: Google::new(config, http.clone())?,
            apple: Apple::new(config)?,
        })
    }

    /// Whether this gateway has its settings.
    pub fn is_on(&self, gateway: PaymentGateway) -> bool {
        match gateway {
            PaymentGateway::Pg => self.bootpay.is_some(),
            PaymentGateway::Payverse => self.payverse.is_some(),
            PaymentGateway::Hecto => self.hecto.is_some(),
            PaymentGateway::GoogleIap => self.google.is_some(),
            PaymentGateway::AppleIap => self.apple.is_some(),
        }
    }

    /// Whether it can be asked by our order id, for a payer who never came back with a reference.
    pub fn knows_order_ids(&self, gateway: PaymentGateway) -> bool {
        match gateway {
            PaymentGateway::Payverse => self.payverse.as_ref().is_some_and(Payverse::has_lookup),
            PaymentGateway::Hecto => self.hecto.is_some(),
            PaymentGateway::Pg | PaymentGateway::GoogleIap | PaymentGateway::AppleIap => false,
        }
    }

    /// Asks whether this purchase is really paid. Moves no money. `reference` is what the client presented: Bootpay's receipt id,
    /// Payverse's `tid`, Hecto's `trdNo`, Apple's signed transaction, Google's purchase token. Without one, a gateway
    /// that knows our order ids is asked by that, and of any other nobody can know (`Unknown`).
    pub async fn ask(
        &self,
        gateway: PaymentGateway,
        order: &PurchaseOrder<'_>,
        reference: Option<&str>,
    ) -> Option<Asked> {
        let asked = match (gateway, reference) {
            (PaymentGateway::Payverse, tid) => self.payverse.as_ref()?.ask(order, tid).await,
            (PaymentGateway::Hecto, number) => self.hecto.as_ref()?.ask(order, number).await,
            (PaymentGateway::Pg, Some(receipt)) => self.bootpay.as_ref()?.ask(receipt).await,
            (PaymentGateway::GoogleIap, Some(token)) => self.google.as_ref()?.ask(order, token).await,
            (PaymentGateway::AppleIap, Some(signed)) => self.apple.as_ref()?.ask(signed),
            (gateway, None) => {
                if !self.is_on(gateway) {
                    return None;
                }
                let message = "this gateway can only be asked by a reference that the payer brings";
                let refusal = Refusal::new("NO_REFERENCE", message);
                Asked { outcome: PurchaseOutcome::Unknown(refusal), calls: Vec::new() }
            }
        };
        Some(asked)
    }

    /// Approves a purchase that awaits it ([`PurchaseOutcome::AwaitsApproval`]): money moves here. Idempotent by
    /// reference: the gateway is asked first, and a purchase that does not agree with the order is not approved. The
    /// caller sees to it that no other purchase pays the order meanwhile.
    pub async fn approve(
        &self,
        gateway: PaymentGateway,
        order: &PurchaseOrder<'_>,
        reference: &str,
    ) -> Option<Asked> {
        match gateway {
            PaymentGateway::Pg => Some(self.bootpay.as_ref()?.approve(order, reference).await),
            PaymentGateway::Payverse
            | PaymentGateway::Hecto
            | PaymentGateway::GoogleIap
            | PaymentGateway::AppleIap => None,
        }
    }

    /// Reads the body of `POST /webhooks/payverse`.
    pub fn read_payverse(&self, body: &[u8]) -> Option<Notice> {
        Some(self.payverse.as_ref()?.notice(body))
    }

    /// Reads the body of `POST /webhooks/hecto`.
    pub fn read_hecto(&self, body: &[u8]) -> Option<Notice> {
        Some(self.hecto.as_ref()?.notice(body))
    }

    /// What the client needs to pay for this order. The same order has the same checkout, whenever it is asked for.
    pub fn checkout(&self, gateway: PaymentGateway, order: &PurchaseOrder<'_>) -> Option<Checkout> {
        match gateway {
            PaymentGateway::Pg => self.bootpay.as_ref().map(|bootpay| bootpay.checkout(order)),
            PaymentGateway::Payverse => self.payverse.as_ref().map(|payverse| payverse.checkout(order)),
            PaymentGateway::Hecto => self.hecto.as_ref().map(|hecto| hecto.checkout(order)),
            PaymentGateway::GoogleIap => self.google.as_ref().map(|google| google.checkout(order)),
            PaymentGateway::AppleIap => self.apple.as_ref().map(|_on| Apple::checkout(order)),
        }
    }

    /// Consumes a purchase at Google, so that the user can buy the product again and Google does not give the money
    /// back. Consuming twice is no error.
    pub async fn consume(
        &self,
        sku: &str,
        purchase_token: &str,
    ) -> Option<(ConsumeOutcome, Vec<ProviderCall>)> {
        Some(self.google.as_ref()?.consume(sku, purchase_token).await)
    }
}
