//! What gateways tell us by themselves: `POST /webhooks/payverse` and `POST /webhooks/hecto`.

use thiserror::Error;

use super::{
    Charge, ChargeAnswer, Charges, CompleteError, RefusedCode,
    completion::{Refused, tell_once},
    store,
};
use crate::{
    db::{DbError, Recording},
    failures::FailureKind,
    gateways::{Notice, PaymentGateway, Purchase, Reversal},
    workers::spawn_tracked,
};

/// A notice that was taken in: the gateway need not send it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noticed {
    /// The charge is COMPLETE.
    Completed,
    /// It completes nothing, for good.
    Refused(Refused),
    /// Money went back; operators are told.
    Reversed,
    /// There is nothing to do.
    Nothing,
}

/// A notice that is to be sent again, or is none.
#[derive(Debug, Error)]
pub enum NoticeError {
    /// The gateway is not configured.
    #[error("the payment gateway is not configured")]
    GatewayUnavailable,
    /// It is not the gateway's word.
    #[error("{0}")]
    Invalid(String),
    /// It is about an order that we do not know.
    #[error("no charge was requested under the order id")]
    UnknownOrder,
    /// What it tells could not be confirmed now.
    #[error("{0}")]
    TryAgain(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
    /// The work ended without an answer.
    #[error("the notice's task ended unexpectedly")]
    TaskLost,
}

impl From<diesel::result::Error> for NoticeError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

impl From<CompleteError> for NoticeError {
    fn from(error: CompleteError) -> Self {
        match error {
            CompleteError::Database(error) => Self::Database(error),
            CompleteError::NotFound(_) => Self::UnknownOrder,
            CompleteError::InvalidInput { message, .. } => Self::Invalid(message),
            CompleteError::TaskLost => Self::TaskLost,
        }
    }
}

impl Charges {
    /// Takes a notice of Payverse or Hecto in. Idempotent: the same notice again has no second effect. The work goes on
    /// when the gateway hangs up.
    pub async fn notice(&self, gateway: PaymentGateway, body: Vec<u8>) -> Result<Noticed, NoticeError> {
        let charges = self.clone();
        let work = async move { charges.take_in(gateway, &body).await };
        spawn_tracked(&self.tasks, work).await.unwrap_or(Err(NoticeError::TaskLost))
    }

    async fn take_in(&self, gateway: PaymentGateway, body: &[u8]) -> Result<Noticed, NoticeError> {
        let notice = match gateway {
            PaymentGateway::Payverse => self.gateways.read_payverse(body),
            PaymentGateway::Hecto => self.gateways.read_hecto(body),
            PaymentGateway::Pg | PaymentGateway::GoogleIap | PaymentGateway::AppleIap => None,
        };
        match notice.ok_or(NoticeError::GatewayUnavailable)? {
            Notice::Paid(purchase) => self.paid(gateway, purchase).await,
            Notice::Reversed(reversal) => self.reversed(gateway, &reversal).await,
            Notice::Nothing { .. } => Ok(Noticed::Nothing),
            Notice::Refused(refusal) => Err(NoticeError::Invalid(refusal.message)),
        }
    }

    async fn paid(&self, gateway: PaymentGateway, told: Purchase) -> Result<Noticed, NoticeError> {
        let order_id = told.order_id.clone().ok_or(NoticeError::UnknownOrder)?;
        let charge = self.noticed_charge(&order_id).await?;
        let ChargeAnswer { refused, .. } = self.confirm(gateway, &charge, told).await?;
        match refused {
            None => Ok(Noticed::Completed),
            Some(refused) => match refused.code {
                RefusedCode::GatewayUnavailable
                | RefusedCode::GatewayMisconfigured
                | RefusedCode::PurchasePending
                | RefusedCode::ChargeNotPaid => Err(NoticeError::TryAgain(refused.message)),
                _ => Ok(Noticed::Refused(refused)),
            },
        }
    }

    async fn noticed_charge(&self, order_id: &str) -> Result<Charge, NoticeError> {
        if order_id.contains('\0') {
            return Err(NoticeError::UnknownOrder);
        }
        let mut conn = self.db.conn().await?;
        store::of_order(&mut conn, order_id).await?.ok_or(NoticeError::UnknownOrder)
    }

    /// Money went back: no balance changes, and an operator must look (domain.md §4). Told once per transaction.
    async fn reversed(&self, gateway: PaymentGateway, reversal: &Reversal) -> Result<Noticed, NoticeError> {
        let charge = self.noticed_charge(&reversal.order_id).await?;
        let currency = reversal.price.currency.as_deref().unwrap_or_default();
        let message = format!(
            "{} gave {} {currency} of this purchase back (transaction {}); the can stays with the member",
            gateway.as_str(),
            reversal.price.amount,
            reversal.transaction_id
        );
        let mut recording = Recording::of("charge", charge.id);
        loop {
            match self.tell_reversed(&charge, &message, &reversal.transaction_id).await {
                Ok(()) => return Ok(Noticed::Reversed),
                Err(error) => recording.wait_after(error).await?,
            }
        }
    }

    async fn tell_reversed(&self, charge: &Charge, message: &str, transaction: &str) -> Result<(), DbError> {
        let mut tx = self.db.begin().await?;
        store::locked(tx.conn(), charge.id).await?;
        let kind = FailureKind::PurchaseReversed;
        tell_once(tx.conn(), charge, kind, "PURCHASE_REVERSED", message, transaction).await?;
        tx.commit().await
    }
}
