use serde_json::json;
use thiserror::Error;

use crate::{
    audit::{self, Deed},
    auth::AdminPrincipal,
    db::{DbError, Transaction},
    failures::SubjectType,
    payments::{Payment, PaymentStatus, Payments, find},
    workers::spawn_tracked,
};

/// Why a payment was not reconciled.
#[derive(Debug, Error)]
pub enum ReconcileError {
    /// There is no such payment.
    #[error("there is no payment {0}")]
    NotFound(i64),
    /// There is nothing to find out about it.
    #[error("a payment that is {} cannot be reconciled; only a PENDING or FAILED one can", .0.status)]
    InvalidState(Box<Payment>),
    /// Toss Payments is not configured.
    #[error("the payment gateway is not configured")]
    GatewayUnavailable,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
    /// The work ended without an answer.
    #[error("the payment's task ended unexpectedly")]
    TaskLost,
}

impl From<diesel::result::Error> for ReconcileError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

/// What an operator wants, for the audit log.
pub(in crate::payments) struct Wish {
    admin: AdminPrincipal,
    reason: String,
    request_id: String,
}

impl Wish {
    /// Written in the transaction of what the provider said.
    pub(super) async fn audit(
        &self,
        tx: &mut Transaction,
        before: &Payment,
        after: &Payment,
    ) -> Result<(), DbError> {
        let state =
            |payment: &Payment| json!({ "status": payment.status, "failureCode": payment.failure_code });
        let deed = Deed {
            action: "reconcilePayment",
            target_type: SubjectType::Payment.as_str(),
            target_id: before.id.to_string(),
            reason: Some(&self.reason),
            before: Some(state(before)),
            after: Some(state(after)),
            request_id: &self.request_id,
            flow_id: Some(before.flow_id),
        };
        audit::record(tx.conn(), &self.admin, deed).await?;
        Ok(())
    }
}

impl Payments {
    /// Asks the provider now, by the reconciler's own rules: ends a PENDING payment if the provider knows, and cancels an
    /// approval of a FAILED one. Audited.
    pub async fn reconcile_now(
        &self,
        admin: &AdminPrincipal,
        id: i64,
        reason: &str,
        request_id: &str,
    ) -> Result<Payment, ReconcileError> {
        let toss = self.toss.clone().ok_or(ReconcileError::GatewayUnavailable)?;
        let wish =
            Wish { admin: admin.clone(), reason: reason.to_owned(), request_id: request_id.to_owned() };
        let payments = self.clone();
        let work = async move {
            let payment = {
                let mut conn = payments.db.conn().await?;
                find(&mut conn, id).await?.ok_or(ReconcileError::NotFound(id))?
            };
            if !payment.is(PaymentStatus::Pending) && !payment.is(PaymentStatus::Failed) {
                return Err(ReconcileError::InvalidState(Box::new(payment)));
            }
            Ok(payments.reconcile(&toss, &payment, Some(&wish)).await?)
        };
        spawn_tracked(&self.tasks, work).await.unwrap_or(Err(ReconcileError::TaskLost))
    }
}
