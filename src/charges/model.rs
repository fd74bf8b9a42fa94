use diesel::{
    pg::Pg,
    prelude::{Queryable, Selectable},
};
use uuid::Uuid;

use crate::{
    db::schema::charge,
    gateways::{PaymentGateway, PurchaseOrder},
    types::{Instant, Won, stored_enum},
};

stored_enum! {
    /// The kind of store that was paid in, and the wallet that it fills.
    Container {
        /// The web: Bootpay, Payverse, Hecto.
        Pg = "PG",
        /// Google Play.
        Aos = "AOS",
        /// Apple's App Store.
        Ios = "IOS",
    }
}

stored_enum! {
    /// What kind of charge it is.
    ChargeStatus {
        /// Bought.
        Charge = "CHARGE",
        /// A bonus.
        Event = "EVENT",
    }
}

stored_enum! {
    /// Whether a charge is paid.
    ChargePaymentStatus {
        /// Asked for, not known to be paid.
        Request = "REQUEST",
        /// Paid and credited.
        Complete = "COMPLETE",
    }
}

/// The container follows the gateway.
pub(super) const fn container_of(gateway: PaymentGateway) -> Container {
    match gateway {
        PaymentGateway::GoogleIap => Container::Aos,
        PaymentGateway::AppleIap => Container::Ios,
        PaymentGateway::Pg | PaymentGateway::Payverse | PaymentGateway::Hecto => Container::Pg,
    }
}

/// A charge.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = charge, check_for_backend(Pg))]
pub struct Charge {
    /// Primary key.
    pub id: i64,
    /// Who buys.
    pub member_id: i64,
    /// A [`ChargeStatus`].
    pub status: String,
    /// How much can; once paid, of all its packs.
    pub can: i64,
    /// How many packs were bought.
    pub quantity: i32,
    /// A [`Container`].
    pub container: String,
    /// Our order id at the gateway; of a bonus, its job's idempotency key.
    pub order_id: String,
    /// The product; none for a bonus.
    pub sku: Option<String>,
    /// What the buyer reads.
    pub title: String,
    /// Whole won; 0 for a bonus.
    pub price: i64,
    /// `KRW`.
    pub currency: String,
    /// A [`PaymentGateway`].
    pub payment_gateway: String,
    /// A [`ChargePaymentStatus`].
    pub payment_status: String,
    /// How it was paid, in the gateway's words.
    pub method: Option<String>,
    /// The receipt that we approve at the gateway.
    pub approving_reference: Option<String>,
    /// Until when whoever approves it has it for itself.
    pub approving_until: Option<Instant>,
    /// The gateway's id of the purchase that paid it.
    pub gateway_transaction_id: Option<String>,
    /// The app store's own id of the purchase.
    pub store_purchase_id: Option<String>,
    /// Given to the store with the purchase.
    pub account_token: Option<Uuid>,
    /// When the reconciler asks the gateway by our order id next.
    pub next_check_at: Option<Instant>,
    /// When a credited Google purchase is to be consumed.
    pub consume_due_at: Option<Instant>,
    /// When it was consumed.
    pub consumed_at: Option<Instant>,
    /// The flow.
    pub flow_id: Uuid,
    /// When it was credited.
    pub completed_at: Option<Instant>,
    /// When it was requested.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

impl Charge {
    /// Whether it is paid and credited.
    pub fn is_complete(&self) -> bool {
        self.payment_status == ChargePaymentStatus::Complete.as_str()
    }

    /// The gateway; none for what no version of ours wrote.
    pub fn gateway(&self) -> Option<PaymentGateway> {
        PaymentGateway::parse(&self.payment_gateway)
    }

    /// The transaction that paid it, for people: of Google's purchase token, which is a secret, only the end.
    pub fn shown_transaction_id(&self) -> Option<String> {
        let id = self.gateway_transaction_id.as_deref()?;
        Some(self.gateway().map_or_else(|| id.to_owned(), |gateway| gateway.shown(id)))
    }

    /// Whether it was paid by this transaction of its gateway.
    pub(super) fn was_paid_by(&self, transaction_id: &str) -> bool {
        self.is_complete() && self.gateway_transaction_id.as_deref() == Some(transaction_id)
    }

    /// What a purchase must agree with; none for a bonus, which nobody buys.
    pub(super) fn order(&self) -> Option<PurchaseOrder<'_>> {
        Some(PurchaseOrder {
            order_id: &self.order_id,
            title: &self.title,
            amount: Won::new(self.price).ok()?,
            currency: &self.currency,
            sku: self.sku.as_deref()?,
            account_token: self.account_token?,
            requested_at: self.created_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_container_follows_the_gateway() {
        let containers: Vec<_> = PaymentGateway::ALL
            .iter()
            .map(|gateway| (gateway.as_str(), container_of(*gateway).as_str()))
            .collect();
        assert_eq!(
            containers,
            [("PG", "PG"), ("PAYVERSE", "PG"), ("HECTO", "PG"), ("GOOGLE_IAP", "AOS"), ("APPLE_IAP", "IOS")]
        );
    }
}
