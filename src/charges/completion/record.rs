//! The one transaction after a look at the gateway.

use super::{
    ChargeAnswer, Look, Refused, RefusedCode,
    alarm::{alarmed, mismatch, paid_twice, repeated},
    judge::{Again, Verdict, judge},
    refuse,
};
use crate::{
    charges::{
        Charge, Charges, find,
        job::{self, ClaimedJob},
        member, promotion,
        reference::{self, Answered},
        store,
        wallet::{self, Credit},
    },
    db::{DbError, Recording, Transaction, violated_constraint},
    failures::SubjectType,
    gateways::{self, PaymentGateway, Purchase},
};
const SUBJECT: SubjectType = SubjectType::Charge;
/// The indexes by which a purchase pays one charge.
const USED_ONCE: [&str; 2] = ["charge_gateway_transaction_id_payment_gateway_uq", "charge_google_order_uq"];

/// What a caller is told of a reference that nobody asks about by himself.
const NOT_KEPT: &str = "; so much else was presented for this charge that it is not asked about again by itself: present it again";

/// What the transaction came to.
pub(super) struct Recorded {
    pub(super) answer: ChargeAnswer,
    /// Bonuses that the purchase has earned, claimed for whoever completed it.
    pub(super) earned: Vec<ClaimedJob>,
    /// Whether the purchase is to be approved now: the charge is claimed for it.
    pub(super) to_approve: bool,
    /// Whether the reference is asked about again.
    again: Again,
}

impl Recorded {
    /// Nothing is left to do.
    fn finally(answer: ChargeAnswer) -> Self {
        Self { answer, earned: Vec::new(), to_approve: false, again: Again::Never }
    }

    /// What it came to, as it is kept with the reference.
    fn answered(&self, look: &Look<'_>) -> Answered {
        Answered {
            refused: self.answer.refused.as_ref().map(|refused| refused.code),
            is_final: self.again == Again::Never,
            releases: self.again != Again::Unknown,
            approved: look.approved,
        }
    }
}

impl Charges {
    /// Writes down what the gateway said, again while the database is away, at once after a deadlock.
    pub(super) async fn record(&self, look: &Look<'_>) -> Result<Recorded, DbError> {
        let verdict = match look.charge.order() {
            Some(order) => judge(&order, look.asked.outcome.clone()),
            // A bonus is never asked about.
            None => return Err(DbError::Query(diesel::result::Error::NotFound)),
        };
        let mut recording = Recording::of("charge", look.charge.id);
        loop {
            match self.try_record(look, &verdict).await {
                Ok(recorded) => return Ok(recorded),
                // Another charge was completed by this purchase a moment ago; the next look finds it.
                Err(DbError::Query(error))
                    if violated_constraint(&error).is_some_and(|name| USED_ONCE.contains(&name)) => {}
                Err(error) => recording.wait_after(error).await?,
            }
        }
    }

    async fn try_record(&self, look: &Look<'_>, verdict: &Verdict) -> Result<Recorded, DbError> {
        let mut tx = self.db.begin().await?;
        let Some(charge) = store::locked(tx.conn(), look.charge.id).await? else {
            return Err(DbError::Query(diesel::result::Error::NotFound));
        };
        let mut recorded = self.carry_out(&mut tx, look, charge, verdict).await?;
        // Another gateway's word says nothing of what was presented for this charge.
        if let Some(reference) = look.reference.filter(|_| look.charge.gateway() == Some(look.way)) {
            let answered = recorded.answered(look);
            let after = self.config.charge_reconcile_after;
            let kept = reference::answered(tx.conn(), look.charge.id, reference, answered, after).await?;
            if let Some(refused) = recorded.answer.refused.as_mut().filter(|_| !kept && !answered.is_final) {
                refused.message.push_str(NOT_KEPT);
            }
        }
        for call in &look.asked.calls {
            gateways::record_call(tx.conn(), call, SUBJECT.as_str(), look.charge.id, look.charge.flow_id)
                .await?;
        }
        tx.commit().await?;
        Ok(recorded)
    }

    /// What the verdict changes, under the charge's lock.
    async fn carry_out(
        &self,
        tx: &mut Transaction,
        look: &Look<'_>,
        charge: Charge,
        verdict: &Verdict,
    ) -> Result<Recorded, DbError> {
        Ok(match verdict {
            Verdict::Pays(purchase) | Verdict::Differs(purchase, _) if charge.gateway() != Some(look.way) => {
                let code = RefusedCode::GatewayMismatch;
                let message =
                    format!("it was paid through {}, not through the charge's gateway", look.way.as_str());
                let refused = Refused::new(code, message);
                mismatch(tx.conn(), &charge, look.way, purchase, &refused).await?;
                Recorded::finally(refuse(charge, code, refused.message))
            }
            Verdict::Pays(purchase) | Verdict::Differs(purchase, _)
                if charge.was_paid_by(&purchase.transaction_id) =>
            {
                Recorded::finally(ChargeAnswer { charge, replayed: true, refused: None })
            }
            Verdict::Pays(purchase) | Verdict::Differs(purchase, _)
                if store::other_paid_by(tx.conn(), &charge, &purchase.transaction_id).await?.is_some() =>
            {
                let code = RefusedCode::TransactionAlreadyUsed;
                let refused = Refused::new(code, "this purchase has paid another charge");
                // By the gateway's own word it is for this one.
                if purchase.order_id.as_ref() == Some(&charge.order_id) {
                    mismatch(tx.conn(), &charge, look.way, purchase, &refused).await?;
                }
                Recorded::finally(refuse(charge, code, refused.message))
            }
            Verdict::Pays(purchase) if charge.is_complete() => {
                paid_twice(tx.conn(), &charge, purchase).await?;
                let message = "another purchase has paid this charge; the payer paid twice";
                Recorded::finally(refuse(charge, RefusedCode::OrderAlreadyPaid, message))
            }
            Verdict::Pays(purchase) if self.is_reversed(tx, look, &charge, purchase).await? => {
                let message = "the gateway has told that the money went back, and says now that it is paid";
                let refused = Refused::new(RefusedCode::PurchaseCanceled, message);
                mismatch(tx.conn(), &charge, look.way, purchase, &refused).await?;
                Recorded::finally(refuse(charge, refused.code, refused.message))
            }
            Verdict::Pays(purchase)
                if look.way == PaymentGateway::GoogleIap
                    && store::other_of_store_purchase(tx.conn(), &charge, purchase).await?.is_some() =>
            {
                let message = "this order of Google's has paid another charge, under another purchase token";
                let refused = Refused::new(RefusedCode::TransactionAlreadyUsed, message);
                mismatch(tx.conn(), &charge, look.way, purchase, &refused).await?;
                Recorded::finally(refuse(charge, refused.code, refused.message))
            }
            Verdict::Pays(purchase) => self.credit(tx, &charge, purchase).await?,
            Verdict::Differs(purchase, refused) => {
                mismatch(tx.conn(), &charge, look.way, purchase, refused).await?;
                Recorded::finally(refuse(charge, refused.code, refused.message.clone()))
            }
            Verdict::AwaitsApproval => self.claim_approval(tx, look, charge).await?,
            Verdict::Nothing { refused, alarm, again } => {
                if let Some(kind) = alarm {
                    alarmed(tx.conn(), &charge, *kind, look, refused).await?;
                }
                let answer = refuse(charge, refused.code, refused.message.clone());
                Recorded { again: *again, ..Recorded::finally(answer) }
            }
        })
    }

    /// Whether the gateway told that this purchase went back. Where it cannot be asked which of them did, none is credited.
    async fn is_reversed(
        &self,
        tx: &mut Transaction,
        look: &Look<'_>,
        charge: &Charge,
        purchase: &Purchase,
    ) -> Result<bool, DbError> {
        let this = self.gateways.knows_order_ids(look.way).then_some(purchase.transaction_id.as_str());
        Ok(reference::is_reversed(tx.conn(), charge.id, this).await?)
    }

    /// Claims the charge's one approval for this reference, before money may move. A payment that is not approved takes
    /// nothing from the payer.
    async fn claim_approval(
        &self,
        tx: &mut Transaction,
        look: &Look<'_>,
        charge: Charge,
    ) -> Result<Recorded, DbError> {
        let reference = look.reference.unwrap_or_default();
        if charge.is_complete() {
            let message = "the charge is paid already; this payment is not approved, nothing is taken";
            return Ok(Recorded::finally(refuse(charge, RefusedCode::OrderAlreadyPaid, message)));
        }
        let open = |charge, code, message: &str, to_approve| Recorded {
            to_approve,
            again: Again::Unknown,
            ..Recorded::finally(refuse(charge, code, message))
        };
        if store::claim_approval(tx.conn(), charge.id, reference, self.approval_lease).await? {
            return Ok(open(charge, RefusedCode::PurchasePending, "the payment is being approved", true));
        }
        if charge.approving_reference.as_deref() == Some(reference) {
            let message = "the payment is being approved by another request";
            return Ok(open(charge, RefusedCode::PurchasePending, message, false));
        }
        if let Some(first) = &charge.approving_reference {
            let after = self.config.charge_reconcile_after;
            reference::ask_again(tx.conn(), charge.id, first, after).await?;
        }
        let message =
            "another payment of this charge is being approved; this one is not, unless that one fails";
        Ok(open(charge, RefusedCode::PaymentInProgress, message, false))
    }

    /// REQUEST → COMPLETE: credit, ledger entry, and the bonuses that are earned by it.
    async fn credit(
        &self,
        tx: &mut Transaction,
        charge: &Charge,
        purchase: &Purchase,
    ) -> Result<Recorded, DbError> {
        if !store::complete(tx.conn(), charge, purchase).await? {
            // It is locked, so nobody can have changed it since it was read.
            return Err(DbError::Query(diesel::result::Error::RollbackTransaction));
        }
        member::lock(tx.conn(), charge.member_id).await?;
        let completed = find(tx.conn(), charge.id).await?.ok_or(diesel::result::Error::NotFound)?;
        let credit = Credit {
            member_id: completed.member_id,
            container: &completed.container,
            charge_id: completed.id,
            can: completed.can,
        };
        wallet::credit_charge(tx.conn(), credit).await?;
        if store::other_of_store_purchase(tx.conn(), &completed, purchase).await?.is_some() {
            repeated(tx.conn(), &completed, purchase).await?;
        }
        let earned = promotion::earned(tx.conn(), &completed, self.config.first_charge_percent).await?;
        let earned = job::insert_claimed(tx.conn(), &completed, earned).await?;
        let answer = ChargeAnswer { charge: completed, replayed: false, refused: None };
        Ok(Recorded { earned, ..Recorded::finally(answer) })
    }
}
