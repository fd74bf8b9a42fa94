//! Google purchases are consumed once they are credited, so that the product can be bought again and Google does not give
//! the money back after three days.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Charge, Charges, completion::tell_once, find, store};
use crate::{
    db::{DbError, Recording},
    failures::{FailureKind, SubjectType},
    gateways::{self, ConsumeOutcome, ProviderCall},
    workers::{TickError, Worker, claim_and_work},
};

/// Consumes credited purchases at Google until Google confirms it.
pub struct GoogleConsume(pub Charges);

impl Worker for GoogleConsume {
    const NAME: &'static str = "google-consume";

    fn interval(&self) -> Duration {
        self.0.config.charge_reconcile_interval
    }

    async fn woken(&self) {
        self.0.credited.notified().await;
    }

    async fn tick(&self, stop: &CancellationToken) -> Result<(), TickError> {
        let (charges, after) = (&self.0, self.0.config.charge_reconcile_after);
        let credited = |limit| async move {
            let mut conn = charges.db.conn().await?;
            Ok::<_, DbError>(store::claim_unconsumed(&mut conn, after, limit).await?)
        };
        claim_and_work(stop, credited, |id| charges.consume(id)).await?;
        Ok(())
    }
}

impl Charges {
    async fn consume(&self, id: i64) -> Result<(), DbError> {
        let charge = find(&mut *self.db.conn().await?, id).await?;
        let Some(charge) = charge.filter(|charge| charge.consume_due_at.is_some()) else { return Ok(()) };
        let (Some(sku), Some(token)) = (&charge.sku, &charge.gateway_transaction_id) else { return Ok(()) };
        let Some((outcome, calls)) = self.gateways.consume(sku, token).await else { return Ok(()) };
        let mut recording = Recording::of("charge", charge.id);
        loop {
            match self.record_consumed(&charge, &outcome, &calls).await {
                Ok(()) => return Ok(()),
                Err(error) => recording.wait_after(error).await?,
            }
        }
    }

    async fn record_consumed(
        &self,
        charge: &Charge,
        outcome: &ConsumeOutcome,
        calls: &[ProviderCall],
    ) -> Result<(), DbError> {
        let mut tx = self.db.begin().await?;
        store::locked(tx.conn(), charge.id).await?;
        let transaction = charge.gateway_transaction_id.as_deref().unwrap_or_default();
        match outcome {
            ConsumeOutcome::Consumed => drop(store::consumed(tx.conn(), charge.id, true).await?),
            // It is gone at Google although it was credited here: nobody consumes it any more, and a person must look.
            ConsumeOutcome::Refused(refusal) => {
                store::consumed(tx.conn(), charge.id, false).await?;
                let message = format!("Google will not consume this credited purchase: {}", refusal.message);
                let kind = FailureKind::PurchaseReversed;
                tell_once(tx.conn(), charge, kind, &refusal.code, &message, transaction).await?;
            }
            // Due again when the claim's wait is over.
            ConsumeOutcome::Unknown(_) => {}
            ConsumeOutcome::Misconfigured(refusal) => {
                let kind = FailureKind::GatewayMisconfigured;
                tell_once(tx.conn(), charge, kind, &refusal.code, &refusal.message, transaction).await?;
            }
        }
        for call in calls {
            let subject = SubjectType::Charge.as_str();
            gateways::record_call(tx.conn(), call, subject, charge.id, charge.flow_id).await?;
        }
        tx.commit().await
    }
}
