use thiserror::Error;
use uuid::Uuid;

use super::{Refund, RefundStatus, carry_out::Verdict, find_refund, store};
use crate::{
    audit::{self, Deed},
    auth::AdminPrincipal,
    db::{DbError, Transaction},
    failures::SubjectType,
    gateways::{LookupOutcome, ProviderCall, ProviderState, Reference, TossClient, record_call},
    payments::{PaymentStatus, Payments, store as payment_store},
    workers::spawn_tracked,
};

const SUBJECT: SubjectType = SubjectType::Refund;

/// Why a refund was not retried.
#[derive(Debug, Error)]
pub enum RetryRefundError {
    /// There is no such refund.
    #[error("there is no refund {0}")]
    NotFound(i64),
    /// Its state, or its payment's, does not allow it.
    #[error("{why}")]
    InvalidState {
        /// The refund as it is.
        refund: Box<Refund>,
        /// Why not.
        why: String,
    },
    /// Toss Payments is not configured, or does not answer: nothing was changed.
    #[error("{0}")]
    GatewayUnavailable(String),
    /// Toss Payments refuses our key or contract: nothing was changed.
    #[error("the payment gateway refuses our configuration; nothing was changed")]
    GatewayMisconfigured,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
    /// The work ended without an answer.
    #[error("the refund's task ended unexpectedly")]
    TaskLost,
}

impl From<diesel::result::Error> for RetryRefundError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

/// What an operator wants, for the audit log.
struct Wish {
    admin: AdminPrincipal,
    reason: String,
    request_id: String,
}

impl Payments {
    /// Tries a FAILED refund again. The provider's books decide first: nothing left there → COMPLETED. Otherwise a
    /// new key is committed, since the provider would replay its refusal for the old one, and the money is asked
    /// for once more. Audited with the first change. Of two at once one wins.
    pub async fn retry_refund(
        &self,
        admin: &AdminPrincipal,
        id: i64,
        reason: &str,
        request_id: &str,
    ) -> Result<Refund, RetryRefundError> {
        let unavailable =
            || RetryRefundError::GatewayUnavailable("the payment gateway is not configured".to_owned());
        let toss = self.toss.clone().ok_or_else(unavailable)?;
        let wish =
            Wish { admin: admin.clone(), reason: reason.to_owned(), request_id: request_id.to_owned() };
        let payments = self.clone();
        let work = async move { payments.retry(&toss, id, &wish).await };
        spawn_tracked(&self.tasks, work).await.unwrap_or(Err(RetryRefundError::TaskLost))
    }

    async fn retry(&self, toss: &TossClient, id: i64, wish: &Wish) -> Result<Refund, RetryRefundError> {
        let failed = {
            let mut conn = self.db.conn().await?;
            find_refund(&mut conn, id).await?.ok_or(RetryRefundError::NotFound(id))?
        };
        if !failed.is(RefundStatus::Failed) {
            return Err(not_failed(failed));
        }
        let (books, call) = toss.lookup(Reference::PaymentKey(&failed.payment_key)).await;
        match books {
            LookupOutcome::Found(found) if found.state == ProviderState::Cancelled => {
                let verdict = Verdict::GivenBack { transaction_key: found.cancel_transaction };
                self.converge(&failed, &verdict, call, wish).await
            }
            LookupOutcome::Found(_) | LookupOutcome::NotFound(_) => {
                let requested = self.request_anew(&failed, &call, wish).await?;
                Ok(self.cancel_and_record(toss, requested).await?)
            }
            LookupOutcome::Unknown(refusal) => Err(RetryRefundError::GatewayUnavailable(format!(
                "the payment gateway cannot say how the payment stands ({}); nothing was changed",
                refusal.code
            ))),
            LookupOutcome::Misconfigured(_) => Err(RetryRefundError::GatewayMisconfigured),
        }
    }

    /// The money went back already: FAILED → COMPLETED.
    async fn converge(
        &self,
        failed: &Refund,
        verdict: &Verdict,
        call: ProviderCall,
        wish: &Wish,
    ) -> Result<Refund, RetryRefundError> {
        let mut tx = self.db.begin().await?;
        let completed = self.record_in_tx(&mut tx, failed, verdict, &[call]).await?;
        if !completed.is(RefundStatus::Completed) {
            tx.rollback().await?;
            return Err(overtaken(completed));
        }
        audit_retry(&mut tx, failed, &completed, wish).await?;
        tx.commit().await?;
        Ok(completed)
    }

    /// FAILED → REQUESTED under a new key, committed before the provider hears of it.
    async fn request_anew(
        &self,
        failed: &Refund,
        call: &ProviderCall,
        wish: &Wish,
    ) -> Result<Refund, RetryRefundError> {
        let mut tx = self.db.begin().await?;
        let payment = payment_store::locked(tx.conn(), failed.payment_id).await?;
        let is_completed = payment.is_some_and(|payment| payment.is(PaymentStatus::Completed));
        if !is_completed || store::active(tx.conn(), failed.payment_id).await?.is_some() {
            let now = find_refund(tx.conn(), failed.id).await?.unwrap_or_else(|| failed.clone());
            tx.rollback().await?;
            return Err(if now.is(RefundStatus::Failed) { overtaken(now) } else { not_failed(now) });
        }
        let key = Uuid::new_v4().to_string();
        let Some(requested) = store::request_anew(tx.conn(), failed.id, &key).await? else {
            let now = find_refund(tx.conn(), failed.id).await?.unwrap_or_else(|| failed.clone());
            tx.rollback().await?;
            return Err(not_failed(now));
        };
        record_call(tx.conn(), call, SUBJECT.as_str(), failed.id, failed.flow_id).await?;
        audit_retry(&mut tx, failed, &requested, wish).await?;
        tx.commit().await?;
        Ok(requested)
    }
}

fn not_failed(refund: Refund) -> RetryRefundError {
    let why = format!("a refund that is {} cannot be retried; only a FAILED one can", refund.status);
    RetryRefundError::InvalidState { refund: Box::new(refund), why }
}

fn overtaken(refund: Refund) -> RetryRefundError {
    let why = "another refund of the payment is under way or made".to_owned();
    RetryRefundError::InvalidState { refund: Box::new(refund), why }
}

async fn audit_retry(
    tx: &mut Transaction,
    before: &Refund,
    after: &Refund,
    wish: &Wish,
) -> Result<(), DbError> {
    let state = |refund: &Refund| {
        serde_json::json!({
            "status": refund.status, "keyNo": refund.key_no, "failureCode": refund.failure_code,
            "attemptCount": refund.attempt_count,
        })
    };
    let deed = Deed {
        action: "retryRefund",
        target_type: SUBJECT.as_str(),
        target_id: before.id.to_string(),
        reason: Some(&wish.reason),
        before: Some(state(before)),
        after: Some(state(after)),
        request_id: &wish.request_id,
        flow_id: Some(before.flow_id),
    };
    audit::record(tx.conn(), &wish.admin, deed).await?;
    Ok(())
}
