//! The reconcilers: what nobody knows is asked about until it is known (domain.md §2). Any number of processes may run
//! them: a look claims its rows in one statement, and what it finds ends in the direct path's own compare-and-set.

mod operator;
mod payment;

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Payments, find, find_refund, refund, store};
use crate::{
    db::DbError,
    workers::{TickError, Worker, claim_and_work},
};

pub use operator::ReconcileError;

/// Ends PENDING payments, and cancels approvals that came too late.
pub struct PaymentReconciler(pub Payments);

/// Ends REQUESTED refunds.
pub struct RefundReconciler(pub Payments);

impl Worker for PaymentReconciler {
    const NAME: &'static str = "payment-reconciler";

    fn interval(&self) -> Duration {
        self.0.config.reconcile_interval
    }

    async fn tick(&self, stop: &CancellationToken) -> Result<(), TickError> {
        let Some(toss) = self.0.toss.clone() else { return Ok(()) };
        let (payments, toss, after) = (&self.0, &toss, self.0.config.reconcile_after);
        let due = |limit| async move {
            let mut conn = payments.db.conn().await?;
            Ok::<_, DbError>(store::claim_due(&mut conn, after, limit).await?)
        };
        let look = |id| async move {
            let payment = find(&mut *payments.db.conn().await?, id).await?;
            let Some(payment) = payment else { return Ok(()) };
            payments.reconcile(toss, &payment, None).await.map(drop)
        };
        claim_and_work(stop, due, look).await?;
        Ok(())
    }
}

impl Worker for RefundReconciler {
    const NAME: &'static str = "refund-reconciler";

    fn interval(&self) -> Duration {
        self.0.config.reconcile_interval
    }

    async fn tick(&self, stop: &CancellationToken) -> Result<(), TickError> {
        let Some(toss) = self.0.toss.clone() else { return Ok(()) };
        let (payments, toss, after) = (&self.0, &toss, self.0.config.reconcile_after);
        let due = |limit| async move {
            let mut conn = payments.db.conn().await?;
            Ok::<_, DbError>(refund::claim_due(&mut conn, after, limit).await?)
        };
        let look = |id| async move {
            let refund = find_refund(&mut *payments.db.conn().await?, id).await?;
            let Some(refund) = refund else { return Ok(()) };
            payments.look_up_and_record(toss, refund).await.map(drop)
        };
        claim_and_work(stop, due, look).await?;
        Ok(())
    }
}
