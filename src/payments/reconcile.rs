//! The reconcilers: what nobody knows is asked about until it is known (domain.md §2). Any number of processes may run
//! them: a look claims its rows in one statement, and what it finds ends in the direct path's own compare-and-set.

mod operator;
mod payment;

use std::time::Duration;

use diesel::result::QueryResult;
use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use super::{Payments, find, find_refund, refund, store};
use crate::workers::{TickError, Worker};

pub use operator::ReconcileError;

/// Rows that one look claims.
const BATCH: i64 = 50;
/// Rows that are asked about at once.
const AT_ONCE: usize = 8;

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
        while !stop.is_cancelled() {
            let claimed = claim(&self.0, Due::Payments).await?;
            let full = claimed.len();
            let looks = stream::iter(claimed).map(|id| {
                let toss = toss.clone();
                async move {
                    let payment = find(&mut *self.0.db.conn().await?, id).await?;
                    let Some(payment) = payment else { return Ok(()) };
                    self.0.reconcile(&toss, &payment, None).await.map(drop)
                }
            });
            let ended: Vec<Result<(), crate::db::DbError>> = looks.buffer_unordered(AT_ONCE).collect().await;
            ended.into_iter().collect::<Result<(), _>>()?;
            if !is_full(full) {
                break;
            }
        }
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
        while !stop.is_cancelled() {
            let claimed = claim(&self.0, Due::Refunds).await?;
            let full = claimed.len();
            let looks = stream::iter(claimed).map(|id| {
                let toss = toss.clone();
                async move {
                    let refund = find_refund(&mut *self.0.db.conn().await?, id).await?;
                    let Some(refund) = refund else { return Ok(()) };
                    self.0.look_up_and_record(&toss, refund).await.map(drop)
                }
            });
            let ended: Vec<Result<(), crate::db::DbError>> = looks.buffer_unordered(AT_ONCE).collect().await;
            ended.into_iter().collect::<Result<(), _>>()?;
            if !is_full(full) {
                break;
            }
        }
        Ok(())
    }
}

enum Due {
    Payments,
    Refunds,
}

async fn claim(payments: &Payments, due: Due) -> Result<Vec<i64>, crate::db::DbError> {
    let after = payments.config.reconcile_after;
    let mut conn = payments.db.conn().await?;
    let claimed: QueryResult<Vec<i64>> = match due {
        Due::Payments => store::claim_due(&mut conn, after, BATCH).await,
        Due::Refunds => refund::claim_due(&mut conn, after, BATCH).await,
    };
    Ok(claimed?)
}

fn is_full(claimed: usize) -> bool {
    i64::try_from(claimed).is_ok_and(|claimed| claimed >= BATCH)
}
