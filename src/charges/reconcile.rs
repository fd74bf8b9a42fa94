//! The reconciler: charges left in REQUEST are asked about again, by what was presented or by our order id (domain.md §4).

use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use super::{Charges, completion::Look, find, store};
use crate::{
    db::DbError,
    workers::{TickError, Worker},
};

/// Rows that one look claims.
const BATCH: i64 = 50;
/// Rows that are asked about at once.
const AT_ONCE: usize = 8;

/// Completes charges that were paid without anybody telling us.
pub struct ChargeReconciler(pub Charges);

impl Worker for ChargeReconciler {
    const NAME: &'static str = "charge-reconciler";

    fn interval(&self) -> Duration {
        self.0.config.charge_reconcile_interval
    }

    async fn tick(&self, stop: &CancellationToken) -> Result<(), TickError> {
        while !stop.is_cancelled() {
            let after = self.0.config.charge_reconcile_after;
            let claimed = store::claim_unpaid(&mut *self.0.db.conn().await?, after, BATCH).await?;
            let is_last = i64::try_from(claimed.len()).is_ok_and(|claimed| claimed < BATCH);
            let looks = stream::iter(claimed).map(|id| self.0.look(id));
            let ended: Vec<Result<(), DbError>> = looks.buffer_unordered(AT_ONCE).collect().await;
            ended.into_iter().collect::<Result<(), _>>()?;
            if is_last {
                break;
            }
        }
        Ok(())
    }
}

impl Charges {
    /// Asks the gateway, and finishes with what it says.
    async fn look(&self, id: i64) -> Result<(), DbError> {
        let charge = find(&mut *self.db.conn().await?, id).await?;
        let Some(charge) = charge.filter(|charge| !charge.is_complete()) else { return Ok(()) };
        let (Some(gateway), Some(order)) = (charge.gateway(), charge.order()) else { return Ok(()) };
        // By our order id everything that was paid for it is found, whatever was presented.
        let by_order_id = self.gateways.knows_order_ids(gateway);
        let reference = charge.presented_reference.as_deref().filter(|_| !by_order_id);
        let Some(asked) = self.gateways.ask(gateway, &order, reference).await else { return Ok(()) };
        self.conclude(Look { charge: &charge, reference, asked }).await?;
        Ok(())
    }
}
