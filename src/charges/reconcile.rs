//! The reconciler: what was presented is asked about again until the answer is final, and charges left in REQUEST by our
//! order id, where the gateway can be asked so (domain.md §4).

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{
    Charges, RefusedCode,
    completion::{Alarm, Look, Refused, shown, tell_once},
    find,
    reference::{self, DueReference},
    store,
};
use crate::{
    db::DbError,
    failures::FailureKind,
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
        let by_reference = |due: DueReference| async move {
            let refused = charges.look(due.charge_id, Some(&due.reference)).await?;
            match refused.filter(|_| due.is_overdue) {
                Some(refused) => charges.tell_overdue(&due, &refused).await,
                None => Ok(()),
            }
        };
        claim_and_work(stop, presented, by_reference).await?;
        let unpaid = |limit| async move {
            let mut conn = charges.db.conn().await?;
            Ok::<_, DbError>(store::claim_unpaid(&mut conn, after, limit).await?)
        };
        let by_order = |id| async move { charges.look(id, None).await.map(drop) };
        claim_and_work(stop, unpaid, by_order).await?;
        Ok(())
    }
}

impl Charges {
    /// Asks the gateway by what was presented, or by our order id, and finishes with what it says. A charge that is
    /// COMPLETE is asked about by what else was presented for it: somebody may have paid twice. Tells why nothing came of it.
    async fn look(&self, id: i64, reference: Option<&str>) -> Result<Option<Refused>, DbError> {
        let charge = find(&mut *self.db.conn().await?, id).await?;
        let Some(charge) = charge.filter(|charge| reference.is_some() || !charge.is_complete()) else {
            return Ok(None);
        };
        let (Some(gateway), Some(order)) = (charge.gateway(), charge.order()) else { return Ok(None) };
        let Some(asked) = self.gateways.ask(gateway, &order, reference).await else { return Ok(None) };
        let answer =
            self.conclude(Look { charge: &charge, way: gateway, reference, asked, approved: false }).await?;
        Ok(answer.refused)
    }

    /// For a week nobody knows whether what was presented is paid: a person must look. Told once.
    async fn tell_overdue(&self, due: &DueReference, refused: &Refused) -> Result<(), DbError> {
        let is_unknown =
            matches!(refused.code, RefusedCode::GatewayUnavailable | RefusedCode::PurchasePending);
        let mut tx = self.db.begin().await?;
        let Some(charge) = store::locked(tx.conn(), due.charge_id).await?.filter(|_| is_unknown) else {
            return tx.rollback().await;
        };
        let reference = shown(&charge, &due.reference);
        let message = format!(
            "whether {reference}, which was presented a week ago, is paid is still unknown ({}); it is asked about once a day: \
             look it up at the gateway",
            refused.message
        );
        let kind = FailureKind::ChargeMismatch;
        let alarm = Alarm { kind, code: "OUTCOME_UNKNOWN", message: &message, transaction: &reference };
        tell_once(tx.conn(), &charge, alarm).await?;
        tx.commit().await
    }
}
