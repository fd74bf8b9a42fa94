//! Google purchases are consumed once they are credited, so that the product can be bought again and Google does not give
//! the money back after three days.

use std::time::Duration;

use diesel_async::AsyncPgConnection;
use tokio_util::sync::CancellationToken;

use super::{
    Charge, Charges,
    completion::{Alarm, shown, tell_once},
    find, store,
};
use crate::{
    db::{DbError, Recording},
    failures::{FailureKind, SubjectType},
    gateways::{self, ConsumeOutcome, ProviderCall, Refusal},
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
        let (outcome, calls) = self.gateways.consume(sku, token).await.unwrap_or_else(|| {
            let message = "Google is not configured here".to_owned();
            (ConsumeOutcome::Unknown(Refusal { code: "NOT_CONFIGURED".to_owned(), message }), Vec::new())
        });
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
        match outcome {
            ConsumeOutcome::Consumed => drop(store::consumed(tx.conn(), charge.id).await?),
            // Due again when the claim's wait is over: whatever Google says, it may say otherwise the next time.
            ConsumeOutcome::Refused(refusal) | ConsumeOutcome::Unknown(refusal) => {
                self.give_up(tx.conn(), charge, refusal).await?;
            }
            ConsumeOutcome::Misconfigured(refusal) => {
                let (code, message) = (refusal.code.as_str(), refusal.message.as_str());
                let kind = FailureKind::GatewayMisconfigured;
                tell_once(tx.conn(), charge, Alarm { kind, code, message, transaction: "" }).await?;
                self.give_up(tx.conn(), charge, refusal).await?;
            }
        }
        for call in calls {
            let subject = SubjectType::Charge.as_str();
            gateways::record_call(tx.conn(), call, subject, charge.id, charge.flow_id).await?;
        }
        tx.commit().await
    }

    /// After Google's three days there is nothing left to consume: it gives the money back, and a person must look.
    async fn give_up(
        &self,
        conn: &mut AsyncPgConnection,
        charge: &Charge,
        last: &Refusal,
    ) -> Result<(), DbError> {
        if !store::give_up_consuming(conn, charge.id).await? {
            return Ok(());
        }
        let message = format!(
            "Google did not confirm in three days that this credited purchase is consumed, and gives its money back \
             after that; it said last: {} ({})",
            last.message, last.code
        );
        let transaction = shown(charge, charge.gateway_transaction_id.as_deref().unwrap_or_default());
        let alarm = Alarm {
            kind: FailureKind::PurchaseReversed,
            code: "NOT_CONSUMED",
            message: &message,
            transaction: &transaction,
        };
        tell_once(conn, charge, alarm).await
    }
}
