//! What gateways tell us by themselves: `POST /webhooks/payverse` and `POST /webhooks/hecto`.

use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use thiserror::Error;

use super::{
    Charge, ChargeAnswer, Charges, CompleteError, RefusedCode,
    completion::{Alarm, Refused, tell_once, tell_once_about},
    reference, store,
};
use crate::{
    db::{DbError, Recording, Statement},
    failures::FailureKind,
    gateways::{Notice, PaymentGateway, Price, Purchase, Reversal},
    types::text::storable,
    workers::spawn_tracked,
};

/// Longest order id that is kept of an order that is none of ours.
const MAX_ORDER_BYTES: usize = 255;

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
        let Some(charge) = self.charge_of(&order_id).await? else {
            self.tell_unknown(gateway, &order_id, &told).await?;
            return Err(NoticeError::UnknownOrder);
        };
        let ChargeAnswer { refused, .. } = self.confirm(gateway, &charge, told).await?;
        match refused {
            None => Ok(Noticed::Completed),
            Some(refused) => match refused.code {
                RefusedCode::GatewayUnavailable
                | RefusedCode::GatewayMisconfigured
                | RefusedCode::PurchasePending
                | RefusedCode::ChargeNotPaid
                | RefusedCode::PaymentInProgress => Err(NoticeError::TryAgain(refused.message)),
                _ => Ok(Noticed::Refused(refused)),
            },
        }
    }

    async fn charge_of(&self, order_id: &str) -> Result<Option<Charge>, NoticeError> {
        if order_id.contains('\0') {
            return Ok(None);
        }
        Ok(store::of_order(&mut *self.db.conn().await?, order_id).await?)
    }

    /// Somebody paid for an order that nobody asked for here. Told once per transaction.
    async fn tell_unknown(
        &self,
        gateway: PaymentGateway,
        order_id: &str,
        told: &Purchase,
    ) -> Result<(), NoticeError> {
        let order_id = storable(order_id, MAX_ORDER_BYTES);
        let price = told.price.as_ref().map(Price::text).unwrap_or_default();
        let transaction = &told.transaction_id;
        let message = format!(
            "{} tells of a payment (transaction {transaction}, {price}) for an order that is none of ours, {order_id}",
            gateway.as_str()
        );
        let alarm = Alarm {
            kind: FailureKind::ChargeMismatch,
            code: "UNKNOWN_ORDER",
            message: &message,
            transaction,
        };
        let mut tx = self.db.begin().await?;
        // There is no row to lock: of two notices at once one waits here, and finds it told.
        Statement::new("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
            .bind::<Text, _>(format!("unknown-order:{order_id}"))
            .execute(tx.conn())
            .await?;
        tell_once_about(tx.conn(), order_id.clone(), &order_id, None, alarm).await?;
        Ok(tx.commit().await?)
    }

    /// Money went back: no balance changes, and an operator must look (domain.md §4). Nothing is asked: not to credit is
    /// the safe side. A cancel may name its own number instead of our order id. Told once per transaction.
    async fn reversed(&self, gateway: PaymentGateway, reversal: &Reversal) -> Result<Noticed, NoticeError> {
        let by_order = self.charge_of(&reversal.order_id).await?;
        let charge = match by_order.filter(|charge| charge.gateway() == Some(gateway)) {
            Some(charge) => charge,
            None => store::of_transaction(&mut *self.db.conn().await?, gateway, &reversal.original)
                .await?
                .ok_or(NoticeError::UnknownOrder)?,
        };
        let mut recording = Recording::of("charge", charge.id);
        loop {
            match self.tell_reversed(charge.id, gateway, reversal).await {
                Ok(()) => return Ok(Noticed::Reversed),
                Err(error) => recording.wait_after(error).await?,
            }
        }
    }

    async fn tell_reversed(
        &self,
        id: i64,
        gateway: PaymentGateway,
        reversal: &Reversal,
    ) -> Result<(), DbError> {
        let mut tx = self.db.begin().await?;
        let charge = store::locked(tx.conn(), id).await?.ok_or(diesel::result::Error::NotFound)?;
        reference::reversed(tx.conn(), id, &reversal.original).await?;
        let so = match &charge.gateway_transaction_id {
            Some(credited) => {
                format!(
                    "the charge was credited for transaction {credited}, and the can stays with the member"
                )
            }
            None => "nothing was credited for it, and nothing will be without you".to_owned(),
        };
        let Reversal { transaction_id, price, .. } = reversal;
        let (gateway, price) = (gateway.as_str(), price.text());
        let message = format!(
            "{gateway} tells that {price} of this purchase went back (transaction {transaction_id}); {so}"
        );
        let alarm = Alarm {
            kind: FailureKind::PurchaseReversed,
            code: "PURCHASE_REVERSED",
            message: &message,
            transaction: transaction_id,
        };
        tell_once(tx.conn(), &charge, alarm).await?;
        tx.commit().await
    }
}
