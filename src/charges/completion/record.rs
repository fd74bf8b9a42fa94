//! The one transaction after a look at the gateway.

use diesel_async::AsyncPgConnection;
use serde_json::json;
use uuid::Uuid;

use super::{
    ChargeAnswer, Look, Refused, RefusedCode,
    judge::{Again, Verdict, judge},
    refuse,
};
use crate::{
    charges::{
        Charge, Charges, find,
        job::{self, ClaimedJob},
        member, promotion, reference, store,
        wallet::{self, Credit},
    },
    db::{DbError, Recording, Transaction, violated_constraint},
    failures::{self, FailureKind, NewFailure, Severity, SubjectType},
    gateways::{self, PaymentGateway, Purchase, PurchaseOutcome, Refusal},
};

const SUBJECT: SubjectType = SubjectType::Charge;

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
    fn outcome(&self) -> &'static str {
        self.answer.refused.as_ref().map_or(reference::COMPLETE, |refused| refused.code.as_str())
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
                    if violated_constraint(&error)
                        == Some("charge_gateway_transaction_id_payment_gateway_uq") => {}
                Err(error) => recording.wait_after(error).await?,
            }
        }
    }

    async fn try_record(&self, look: &Look<'_>, verdict: &Verdict) -> Result<Recorded, DbError> {
        let mut tx = self.db.begin().await?;
        let Some(charge) = store::locked(tx.conn(), look.charge.id).await? else {
            return Err(DbError::Query(diesel::result::Error::NotFound));
        };
        let recorded = match verdict {
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
            Verdict::Pays(purchase) if charge.reversed_at.is_some() => {
                let message = "the gateway has told that the money went back, and says now that it is paid";
                let refused = Refused::new(RefusedCode::PurchaseCanceled, message);
                mismatch(tx.conn(), &charge, look.way, purchase, &refused).await?;
                Recorded::finally(refuse(charge, refused.code, refused.message))
            }
            Verdict::Pays(purchase) => self.credit(&mut tx, &charge, purchase).await?,
            Verdict::Differs(purchase, refused) => {
                mismatch(tx.conn(), &charge, look.way, purchase, refused).await?;
                Recorded::finally(refuse(charge, refused.code, refused.message.clone()))
            }
            Verdict::AwaitsApproval => self.claim_approval(&mut tx, look, charge).await?,
            Verdict::Nothing { refused, alarm, again } => {
                if let Some(kind) = alarm {
                    alarmed(tx.conn(), &charge, *kind, &look.asked.outcome, refused).await?;
                }
                let answer = refuse(charge, refused.code, refused.message.clone());
                Recorded { again: *again, ..Recorded::finally(answer) }
            }
        };
        if let Some(reference) = look.reference {
            let is_final = recorded.again == Again::Never;
            reference::answered(tx.conn(), look.charge.id, reference, recorded.outcome(), is_final).await?;
            if recorded.again != Again::Unknown {
                store::release_approval(tx.conn(), look.charge.id, reference).await?;
            }
        }
        for call in &look.asked.calls {
            gateways::record_call(tx.conn(), call, SUBJECT.as_str(), look.charge.id, look.charge.flow_id)
                .await?;
        }
        tx.commit().await?;
        Ok(recorded)
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
        if store::claim_approval(tx.conn(), charge.id, reference).await? {
            return Ok(open(charge, RefusedCode::PurchasePending, "the payment is being approved", true));
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
        let credit = Credit {
            member_id: charge.member_id,
            container: &charge.container,
            charge_id: charge.id,
            can: charge.can,
        };
        wallet::credit_charge(tx.conn(), credit).await?;
        let completed = find(tx.conn(), charge.id).await?.ok_or(diesel::result::Error::NotFound)?;
        let earned = promotion::earned(tx.conn(), &completed, self.config.first_charge_percent).await?;
        let earned = job::insert_claimed(tx.conn(), &completed, earned).await?;
        let answer = ChargeAnswer { charge: completed, replayed: false, refused: None };
        Ok(Recorded { earned, ..Recorded::finally(answer) })
    }
}

/// Somebody paid twice for one charge; told once per purchase.
async fn paid_twice(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    purchase: &Purchase,
) -> Result<(), DbError> {
    let message = format!(
        "the charge was paid by {}, and again by {}: look both up at the gateway, and give one of them back there",
        charge.gateway_transaction_id.as_deref().unwrap_or_default(),
        purchase.transaction_id
    );
    let alarm = Alarm {
        kind: FailureKind::DuplicatePurchase,
        code: RefusedCode::OrderAlreadyPaid.as_str(),
        message: &message,
        transaction: &purchase.transaction_id,
    };
    tell_once(conn, charge, alarm).await
}

/// Somebody paid and got nothing; told once per purchase.
async fn mismatch(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    way: PaymentGateway,
    purchase: &Purchase,
    refused: &Refused,
) -> Result<(), DbError> {
    let price = purchase.price.as_ref().map_or_else(String::new, |price| format!(", {}", price.text()));
    let message = format!(
        "somebody paid (transaction {} of {}{price}) and got nothing for the charge of {} {} ({}, {}): {}",
        purchase.transaction_id,
        way.as_str(),
        charge.price,
        charge.currency,
        charge.sku.as_deref().unwrap_or_default(),
        charge.order_id,
        refused.message
    );
    let alarm = Alarm {
        kind: FailureKind::ChargeMismatch,
        code: refused.code.as_str(),
        message: &message,
        transaction: &purchase.transaction_id,
    };
    tell_once(conn, charge, alarm).await
}

/// What our own configuration causes; told once per charge.
async fn alarmed(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    kind: FailureKind,
    outcome: &PurchaseOutcome,
    refused: &Refused,
) -> Result<(), DbError> {
    let code = match outcome {
        PurchaseOutcome::Misconfigured(Refusal { code, .. }) => code.as_str(),
        _ => refused.code.as_str(),
    };
    tell_once(conn, charge, Alarm { kind, code, message: &refused.message, transaction: "" }).await
}

/// A failure that a person must see.
pub(in crate::charges) struct Alarm<'a> {
    /// What kind.
    pub(in crate::charges) kind: FailureKind,
    /// For machines.
    pub(in crate::charges) code: &'a str,
    /// For people.
    pub(in crate::charges) message: &'a str,
    /// The gateway's transaction; each is told once.
    pub(in crate::charges) transaction: &'a str,
}

/// Records a CRITICAL failure of the charge, unless it has this one for this transaction. The caller holds its lock.
pub(in crate::charges) async fn tell_once(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    alarm: Alarm<'_>,
) -> Result<(), DbError> {
    let flow = Some(charge.flow_id);
    tell_once_about(conn, charge.id.to_string(), &charge.order_id, flow, alarm).await
}

/// The same about whatever subject: an order that is none of ours has no charge.
pub(in crate::charges) async fn tell_once_about(
    conn: &mut AsyncPgConnection,
    subject_id: String,
    order_id: &str,
    flow_id: Option<Uuid>,
    alarm: Alarm<'_>,
) -> Result<(), DbError> {
    let Alarm { kind, code, message, transaction } = alarm;
    if failures::is_told(conn, SUBJECT, &subject_id, kind, code, "transactionId", transaction).await? {
        return Ok(());
    }
    let failure = NewFailure {
        kind,
        severity: Severity::Critical,
        subject_type: SUBJECT,
        subject_id,
        event_type: None,
        code: code.to_owned(),
        message: message.to_owned(),
        detail: Some(json!({ "transactionId": transaction, "orderId": order_id })),
        attempt: 1,
        flow_id,
    };
    failures::record(conn, failure).await?;
    Ok(())
}
