//! Completion: seven ways in, one rule (domain.md §4). What was presented is stored, the gateway is asked with no
//! connection held, and only the transition REQUEST → COMPLETE does anything, all of it in one transaction.

mod alarm;
mod judge;
mod record;

use thiserror::Error;

pub(super) use alarm::{Alarm, shown, tell_once, tell_once_about};

use super::{Charge, Charges, reference, store};
use crate::{
    auth::ServicePrincipal,
    db::DbError,
    gateways::{Asked, PaymentGateway, Purchase, PurchaseOrder, PurchaseOutcome, Refusal},
    telemetry,
    types::stored_enum,
    workers::spawn_tracked,
};

/// Longest reference: a signed transaction of Apple is some kilobytes.
const MAX_REFERENCE_BYTES: usize = 64 * 1024;

stored_enum! {
    /// Why a purchase does not complete a charge, as the API names it.
    RefusedCode {
        /// The gateway knows of no payment.
        ChargeNotPaid = "CHARGE_NOT_PAID",
        /// Not paid yet; it is asked about again.
        PurchasePending = "PURCHASE_PENDING",
        /// Cancelled, or given back.
        PurchaseCanceled = "PURCHASE_CANCELED",
        /// Another amount was paid.
        AmountMismatch = "AMOUNT_MISMATCH",
        /// It was paid in another currency.
        CurrencyMismatch = "CURRENCY_MISMATCH",
        /// It is another product.
        ProductMismatch = "PRODUCT_MISMATCH",
        /// It is for another order, or was made for somebody else.
        OwnerMismatch = "OWNER_MISMATCH",
        /// The charge was requested for another gateway.
        GatewayMismatch = "GATEWAY_MISMATCH",
        /// Made in a test environment.
        SandboxRefused = "SANDBOX_REFUSED",
        /// Not the gateway's word.
        SignatureInvalid = "SIGNATURE_INVALID",
        /// It has paid another charge.
        TransactionAlreadyUsed = "TRANSACTION_ALREADY_USED",
        /// Another purchase has paid this charge.
        OrderAlreadyPaid = "ORDER_ALREADY_PAID",
        /// Another purchase of this charge is being approved.
        PaymentInProgress = "PAYMENT_IN_PROGRESS",
        /// The gateway is off, or does not answer; it is asked again.
        GatewayUnavailable = "GATEWAY_UNAVAILABLE",
        /// The gateway refuses our key or contract.
        GatewayMisconfigured = "GATEWAY_MISCONFIGURED",
    }
}

/// What a client brings along as proof that it has paid.
#[derive(Debug, Clone)]
pub struct Presented {
    /// The way in: the gateway that the mutation is for.
    pub gateway: PaymentGateway,
    /// Our order id.
    pub order_id: String,
    /// Receipt id, transaction id, signed transaction or purchase token.
    pub reference: String,
    /// The product that the client believes to have bought, where it says so.
    pub sku: Option<String>,
}

/// A refusal, for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// For machines.
    pub code: RefusedCode,
    /// For people.
    pub message: String,
}

impl Refused {
    pub(super) fn new(code: RefusedCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The charge after something was presented for it: COMPLETE, or as it is with the reason why.
#[derive(Debug, Clone)]
pub struct ChargeAnswer {
    /// The charge.
    pub charge: Charge,
    /// Whether it was COMPLETE already, by the same purchase.
    pub replayed: bool,
    /// Why it was not completed.
    pub refused: Option<Refused>,
}

/// Why there is no charge to answer with.
#[derive(Debug, Error)]
pub enum CompleteError {
    /// A field cannot be worked with.
    #[error("{message}")]
    InvalidInput {
        /// The field, as the API names it.
        field: &'static str,
        /// What it must be.
        message: String,
    },
    /// No charge was requested under this order id.
    #[error("no charge was requested under the order id {0}")]
    NotFound(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
    /// The work ended without an answer.
    #[error("the charge's task ended unexpectedly")]
    TaskLost,
}

impl From<diesel::result::Error> for CompleteError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

impl Presented {
    fn check(&self) -> Result<(), CompleteError> {
        if self.sku.as_ref().is_some_and(|sku| !(1..=100).contains(&sku.len())) {
            let message = "the sku must have 1 to 100 bytes".to_owned();
            return Err(CompleteError::InvalidInput { field: "sku", message });
        }
        let invalid = |field, message: String| Err(CompleteError::InvalidInput { field, message });
        if !(1..=255).contains(&self.order_id.len()) || self.order_id.contains('\0') {
            return invalid("orderId", "the order id must have 1 to 255 bytes, and no NUL".to_owned());
        }
        if !(1..=MAX_REFERENCE_BYTES).contains(&self.reference.len()) || self.reference.contains('\0') {
            let field = match self.gateway {
                PaymentGateway::AppleIap => "signedTransaction",
                PaymentGateway::GoogleIap => "purchaseToken",
                PaymentGateway::Pg | PaymentGateway::Payverse | PaymentGateway::Hecto => "transactionId",
            };
            return invalid(field, format!("it must have 1 to {MAX_REFERENCE_BYTES} bytes, and no NUL"));
        }
        Ok(())
    }
}

/// What is about to be written down of a look at the gateway.
pub(super) struct Look<'a> {
    /// The charge as it was before.
    pub(super) charge: &'a Charge,
    /// The gateway that was asked.
    pub(super) way: PaymentGateway,
    /// What was presented, if anything was.
    pub(super) reference: Option<&'a str>,
    /// What the gateway says.
    pub(super) asked: Asked,
    /// Whether it says so after we have approved it, under the lease that ends with this.
    pub(super) approved: bool,
}

impl Charges {
    /// Completes a charge by what a client presents. Idempotent by order and purchase; the work goes on when the caller
    /// goes away.
    pub async fn complete(
        &self,
        _service: &ServicePrincipal,
        presented: Presented,
    ) -> Result<ChargeAnswer, CompleteError> {
        presented.check()?;
        let charges = self.clone();
        let work = async move { charges.present(presented).await };
        spawn_tracked(&self.tasks, work).await.unwrap_or(Err(CompleteError::TaskLost))
    }

    async fn present(&self, presented: Presented) -> Result<ChargeAnswer, CompleteError> {
        let Presented { gateway, order_id, reference, sku } = presented;
        let charge = {
            let mut conn = self.db.conn().await?;
            let Some(charge) = store::of_order(&mut conn, &order_id).await? else {
                return Err(CompleteError::NotFound(order_id));
            };
            if charge.gateway() != Some(gateway) {
                let (ours, theirs) = (&charge.payment_gateway, gateway.as_str());
                let message = format!("the charge was requested for {ours}, not for {theirs}");
                return Ok(refuse(charge, RefusedCode::GatewayMismatch, message));
            }
            if charge.was_paid_by(&reference)
                || (charge.is_complete() && reference::has_paid(&mut conn, charge.id, &reference).await?)
            {
                return Ok(ChargeAnswer { charge, replayed: true, refused: None });
            }
            // Before the gateway is asked: whatever happens from here on, the reconciler knows what to ask by.
            reference::present(&mut conn, charge.id, &reference, self.config.charge_reconcile_after).await?;
            charge
        };
        let Some(order) = charge.order() else { return Err(CompleteError::NotFound(order_id)) };
        // Asked by the product that the client names: if another one was paid, somebody must hear of it.
        let order = PurchaseOrder { sku: sku.as_deref().unwrap_or(order.sku), ..order };
        self.ask_and_conclude(gateway, &charge, &order, Some(&reference)).await
    }

    /// A payment that a gateway told us of by itself. It is asked by the number that the notice names, which no signature
    /// covers, and by our order id; where it cannot be asked, the notice is all that there is.
    pub(super) async fn confirm(
        &self,
        way: PaymentGateway,
        charge: &Charge,
        told: Purchase,
    ) -> Result<ChargeAnswer, CompleteError> {
        let Some(order) = charge.order() else {
            return Err(CompleteError::NotFound(charge.order_id.clone()));
        };
        let reference = told.transaction_id.clone();
        let reference = reference.as_str();
        if charge.gateway() == Some(way) {
            if charge.was_paid_by(reference) {
                return Ok(ChargeAnswer { charge: charge.clone(), replayed: true, refused: None });
            }
            let mut conn = self.db.conn().await?;
            reference::present(&mut conn, charge.id, reference, self.config.charge_reconcile_after).await?;
        }
        let asked = if self.gateways.knows_order_ids(way) {
            self.gateways.ask(way, &order, Some(reference)).await.unwrap_or_else(off)
        } else {
            Asked { outcome: PurchaseOutcome::Paid(told), calls: Vec::new() }
        };
        let look = |reference, asked| Look { charge, way, reference, asked, approved: false };
        if matches!(asked.outcome, PurchaseOutcome::Paid(_) | PurchaseOutcome::Refused(_)) {
            return Ok(self.conclude(look(Some(reference), asked)).await?);
        }
        // Nothing was paid under that number, as far as one knows: perhaps under another one. The number is asked about
        // again by the reconciler.
        let by_order = self.gateways.ask(way, &order, None).await.unwrap_or_else(off);
        let calls = [asked.calls, by_order.calls].concat();
        Ok(self.conclude(look(None, Asked { outcome: by_order.outcome, calls })).await?)
    }

    async fn ask_and_conclude(
        &self,
        way: PaymentGateway,
        charge: &Charge,
        order: &PurchaseOrder<'_>,
        reference: Option<&str>,
    ) -> Result<ChargeAnswer, CompleteError> {
        let asked = self.gateways.ask(way, order, reference).await.unwrap_or_else(off);
        Ok(self.conclude(Look { charge, way, reference, asked, approved: false }).await?)
    }

    /// Writes down what the gateway said, approves what awaits our approval and has got it, and grants at once what the
    /// purchase has earned.
    pub(super) async fn conclude(&self, look: Look<'_>) -> Result<ChargeAnswer, DbError> {
        let mut recorded = self.record(&look).await?;
        if recorded.to_approve
            && let (Some(order), Some(reference)) = (look.charge.order(), look.reference)
            && let Some(asked) = self.gateways.approve(look.way, &order, reference).await
        {
            recorded = self.record(&Look { asked, approved: true, ..look }).await?;
        }
        let ChargeAnswer { replayed, refused, charge } = &recorded.answer;
        if let Some(gateway) = charge.gateway() {
            let complete = if *replayed { "REPLAYED" } else { "COMPLETE" };
            let outcome = refused.as_ref().map_or(complete, |refused| refused.code.as_str());
            telemetry::record::charge(gateway.as_str(), outcome);
        }
        if recorded.answer.charge.consume_due_at.is_some() {
            self.credited.notify_one();
        }
        for job in recorded.earned {
            self.grant_at_once(job).await;
        }
        Ok(recorded.answer)
    }
}

/// Of a gateway that is off nobody knows anything.
fn off() -> Asked {
    let message = "the payment gateway is not configured".to_owned();
    let refusal = Refusal { code: "NOT_CONFIGURED".to_owned(), message };
    Asked { outcome: PurchaseOutcome::Unknown(refusal), calls: Vec::new() }
}

pub(super) fn refuse(charge: Charge, code: RefusedCode, message: impl Into<String>) -> ChargeAnswer {
    ChargeAnswer { charge, replayed: false, refused: Some(Refused::new(code, message)) }
}
