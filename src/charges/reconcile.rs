//! The reconciler: what was presented is asked about again until the answer is final, and charges left in REQUEST by our
//! order id, where the gateway can be asked so (domain.md §4).

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{
    Charges,
    completion::Look,
    find,
    reference::{self, DueReference},
    store,
};
use crate::{
    db::DbError,
    workers::{TickError, Worker, claim_and_work},
};

/// Completes charges that were paid without anybody telling us.
pub struct ChargeReconciler(pub Charges);

impl Worker for ChargeReconciler {
    const NAME: &'static str = "charge-reconciler";

    fn interval(&self) -> Duration {
        self.0.config.charge_reconcile_interval
    }

    async fn tick(&self, stop: &CancellationToken) -> Result<(), TickError> {
        let (charges, after) = (&self.0, self.0.config.charge_reconcile_after);
        let presented = |limit| async move {
            let mut conn = charges.db.conn().await?;
            Ok::<_, DbError>(reference::claim_due(&mut conn, after, limit).await?)
        };
        let by_reference =
            |due: DueReference| async move { charges.look(due.charge_id, Some(&due.reference)).await };
        claim_and_work(stop, presented, by_reference).await?;
        let unpaid = |limit| async move {
            let mut conn = charges.db.conn().await?;
            Ok::<_, DbError>(store::claim_unpaid(&mut conn, after, limit).await?)
        };
        claim_and_work(stop, unpaid, |id| charges.look(id, None)).await?;
        Ok(())
    }
}

impl Charges {
    /// Asks the gateway by what was presented, or by our order id, and finishes with what it says. A charge that is
    /// COMPLETE is asked about by what else was presented for it: somebody may have paid twice.
    async fn look(&self, id: i64, reference: Option<&str>) -> Result<(), DbError> {
        let charge = find(&mut *self.db.conn().await?, id).await?;
        let Some(charge) = charge.filter(|charge| reference.is_some() || !charge.is_complete()) else {
            return Ok(());
        };
        let (Some(gateway), Some(order)) = (charge.gateway(), charge.order()) else { return Ok(()) };
        let Some(asked) = self.gateways.ask(gateway, &order, reference).await else { return Ok(()) };
        self.conclude(Look { charge: &charge, way: gateway, reference, asked }).await?;
        Ok(())
    }
}
