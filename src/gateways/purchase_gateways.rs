//! The purchase gateways that are on, behind one face. Whatever returns an option returns none for a gateway that is
//! off (`GATEWAY_UNAVAILABLE`).

use super::{Asked, Checkout, ConsumeOutcome, Notice, PaymentGateway, ProviderCall, Purchase, PurchaseOrder};

/// The clients of the purchase gateways. Cloning shares connections and tokens.
#[derive(Debug, Clone, Default)]
pub struct PurchaseGateways {}

impl PurchaseGateways {
    /// Whether this gateway has its settings.
    pub fn is_on(&self, _gateway: PaymentGateway) -> bool {
        false
    }

    /// Whether it can be asked by our order id, for a payer who never came back with a reference (Payverse, Hecto).
    pub fn knows_order_ids(&self, _gateway: PaymentGateway) -> bool {
        false
    }

    /// Asks whether this purchase is really paid. `reference` is what the client presented: Bootpay's receipt id,
    /// Payverse's `tid`, Hecto's `trdNo`, Apple's signed transaction, Google's purchase token. Without one, a gateway
    /// that knows our order ids is asked by that, and of any other nobody can know (`Unknown`).
    pub async fn ask(
        &self,
        _gateway: PaymentGateway,
        _order: &PurchaseOrder<'_>,
        _reference: Option<&str>,
    ) -> Option<Asked> {
        None
    }

    /// Reads the body of `POST /webhooks/payverse`.
    pub fn read_payverse(&self, _body: &[u8]) -> Option<Notice> {
        None
    }

    /// Reads the body of `POST /webhooks/hecto`.
    pub fn read_hecto(&self, _body: &[u8]) -> Option<Notice> {
        None
    }

    /// What a [`Notice::Paid`] comes to once its order is known. Payverse's signature leaves out what decides, so its
    /// lookup is asked where there is one; Hecto's notice is enough by itself.
    pub async fn confirm(
        &self,
        _gateway: PaymentGateway,
        _order: &PurchaseOrder<'_>,
        _told: Purchase,
    ) -> Option<Asked> {
        None
    }

    /// What the client needs to pay for this order. The same order has the same checkout, whenever it is asked for.
    pub fn checkout(&self, _gateway: PaymentGateway, _order: &PurchaseOrder<'_>) -> Option<Checkout> {
        None
    }

    /// Consumes a purchase at Google, so that the user can buy the product again and Google does not give the money
    /// back. Consuming twice is no error.
    pub async fn consume(
        &self,
        _sku: &str,
        _purchase_token: &str,
    ) -> Option<(ConsumeOutcome, Vec<ProviderCall>)> {
        None
    }
}
