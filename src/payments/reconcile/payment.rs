use std::time::Duration;

use super::operator::Wish;
use crate::{
    db::{DbError, Recording, Transaction},
    gateways::{
        self, LookupOutcome, ProviderCall, ProviderPayment, ProviderState, Reference, Refusal, TossClient,
    },
    idempotency,
    payments::{
        NOT_APPROVED, Payment, PaymentStatus, Payments, find,
        outcome::{
            Follow, SUBJECT, Settled, foreign_payment_key, misconfigured, payment_key_is_taken, unknown,
        },
        store,
        void::tell_voided,
    },
};

/// A payment that was given up is looked up again after an hour,
const FIRST_LOOK_BACK: Duration = Duration::from_secs(60 * 60);
/// and for the last time after a day.
const LAST_LOOK_BACK: Duration = Duration::from_secs(23 * 60 * 60);

impl Payments {
    /// Asks the provider by our order id, and finishes with what it says.
    pub(super) async fn reconcile(
        &self,
        toss: &TossClient,
        payment: &Payment,
        wish: Option<&Wish>,
    ) -> Result<Payment, DbError> {
        let (books, call) = toss.lookup(Reference::OrderId(&payment.order_id)).await;
        self.finish_by_books(payment, books, &call, wish).await
    }

    /// Ends a payment by what the provider's books say of it.
    pub(in crate::payments) async fn finish_by_books(
        &self,
        payment: &Payment,
        mut books: LookupOutcome,
        call: &ProviderCall,
        wish: Option<&Wish>,
    ) -> Result<Payment, DbError> {
        let mut recording = Recording::of("payment", payment.id);
        let settled = loop {
            match self.record_look(payment, &books, call, wish).await {
                Ok(settled) => break settled,
                Err(error) if payment_key_is_taken(&error) => {
                    books = LookupOutcome::Unknown(foreign_payment_key());
                }
                Err(error) => recording.wait_after(error).await?,
            }
        };
        Ok(self.follow_up(settled).await)
    }

    async fn record_look(
        &self,
        payment: &Payment,
        books: &LookupOutcome,
        call: &ProviderCall,
        wish: Option<&Wish>,
    ) -> Result<Settled, DbError> {
        let mut tx = self.db.begin().await?;
        let follow = if payment.is(PaymentStatus::Failed) {
            self.look_back(&mut tx, payment, books).await?
        } else {
            self.look(&mut tx, payment, books).await?
        };
        gateways::record_call(tx.conn(), call, SUBJECT.as_str(), payment.id, payment.flow_id).await?;
        let now = find(tx.conn(), payment.id).await?.unwrap_or_else(|| payment.clone());
        if !now.is(PaymentStatus::Pending) {
            idempotency::finish(tx.conn(), SUBJECT.as_str(), payment.id).await?;
        }
        if let Some(wish) = wish {
            wish.audit(&mut tx, payment, &now).await?;
        }
        tx.commit().await?;
        Ok(Settled { payment: now, follow })
    }

    /// A PENDING payment: only the provider's clear word ends it.
    async fn look(
        &self,
        tx: &mut Transaction,
        payment: &Payment,
        books: &LookupOutcome,
    ) -> Result<Follow, DbError> {
        match books {
            LookupOutcome::Found(found) => self.found(tx, payment, found).await,
            LookupOutcome::NotFound(refusal) => {
                let age = self.config.unknown_give_up;
                if !store::is_older(tx.conn(), payment.requested_at, age).await? {
                    return Ok(Follow::Nothing);
                }
                let message = format!("the provider knows no such payment: {}", refusal.message);
                let refusal = Refusal { code: NOT_APPROVED.to_owned(), message };
                if self.refused(tx, payment, &refusal).await?.is_some() {
                    store::look_back_after(tx.conn(), payment.id, Some(FIRST_LOOK_BACK), 0).await?;
                }
                Ok(Follow::Nothing)
            }
            // A provider that cannot be reached, or refuses us, says nothing about the money.
            LookupOutcome::Unknown(refusal) => {
                unknown(tx.conn(), payment, refusal).await?;
                Ok(Follow::Nothing)
            }
            LookupOutcome::Misconfigured(refusal) => {
                unknown(tx.conn(), payment, &misconfigured(refusal)).await?;
                Ok(Follow::Nothing)
            }
        }
    }

    async fn found(
        &self,
        tx: &mut Transaction,
        payment: &Payment,
        found: &ProviderPayment,
    ) -> Result<Follow, DbError> {
        match found.state {
            ProviderState::Paid if found.total == Some(payment.amount) => {
                Ok(self.approved(tx, payment, &found.approval).await?.follow)
            }
            ProviderState::Paid => {
                let message = "the provider has this order with another amount or currency".to_owned();
                unknown(tx.conn(), payment, &Refusal { code: "ANSWER_MISMATCH".to_owned(), message }).await?;
                Ok(Follow::Nothing)
            }
            // The money came and went: none of it is with us.
            ProviderState::Cancelled => {
                let message = "the payment was cancelled at the provider before we recorded it".to_owned();
                let refusal = Refusal { code: "CANCELED_AT_PROVIDER".to_owned(), message };
                self.refused(tx, payment, &refusal).await?;
                Ok(Follow::Nothing)
            }
            ProviderState::Failed => {
                let refusal = found.failure.clone().unwrap_or_else(|| Refusal {
                    code: NOT_APPROVED.to_owned(),
                    message: "the provider did not approve the payment".to_owned(),
                });
                self.refused(tx, payment, &refusal).await?;
                Ok(Follow::Nothing)
            }
            ProviderState::Open => {
                let message = "the provider has not decided yet".to_owned();
                unknown(tx.conn(), payment, &Refusal { code: "UNDECIDED".to_owned(), message }).await?;
                Ok(Follow::Nothing)
            }
        }
    }

    /// A payment that we called FAILED: an approval of it must not stay.
    async fn look_back(
        &self,
        tx: &mut Transaction,
        payment: &Payment,
        books: &LookupOutcome,
    ) -> Result<Follow, DbError> {
        match books {
            LookupOutcome::Found(found) if found.state == ProviderState::Paid => {
                Ok(self.approved(tx, payment, &found.approval).await?.follow)
            }
            // Cancelled, by a void that could not be recorded or by hand.
            LookupOutcome::Found(found) if found.state == ProviderState::Cancelled => {
                let was_approved = payment.payment_key.is_some();
                if was_approved || payment.failure_code.as_deref() == Some(NOT_APPROVED) {
                    store::locked(tx.conn(), payment.id).await?;
                    tell_voided(tx.conn(), payment).await?;
                }
                store::look_back_after(tx.conn(), payment.id, None, payment.check_count).await?;
                Ok(Follow::Nothing)
            }
            LookupOutcome::Found(found) if found.state == ProviderState::Failed => {
                store::look_back_after(tx.conn(), payment.id, None, payment.check_count).await?;
                Ok(Follow::Nothing)
            }
            LookupOutcome::NotFound(_) if payment.next_check_at.is_some() => {
                let next = (payment.check_count == 0).then_some(LAST_LOOK_BACK);
                store::look_back_after(tx.conn(), payment.id, next, payment.check_count + 1).await?;
                Ok(Follow::Nothing)
            }
            // Asked again when the claim's wait is over.
            LookupOutcome::Found(_)
            | LookupOutcome::NotFound(_)
            | LookupOutcome::Unknown(_)
            | LookupOutcome::Misconfigured(_) => Ok(Follow::Nothing),
        }
    }
}
