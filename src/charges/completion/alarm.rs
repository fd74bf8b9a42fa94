//! What a person must see of a charge: CRITICAL failures, each told once.

use diesel_async::AsyncPgConnection;
use serde_json::json;
use uuid::Uuid;

use super::{Look, Refused, RefusedCode};
use crate::{
    charges::Charge,
    db::DbError,
    failures::{self, FailureKind, NewFailure, Severity, SubjectType},
    gateways::{PaymentGateway, Purchase, PurchaseOutcome, Refusal},
};

const SUBJECT: SubjectType = SubjectType::Charge;

/// Somebody paid twice for one charge; told once per purchase.
pub(super) async fn paid_twice(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    purchase: &Purchase,
) -> Result<(), DbError> {
    let second = shown(charge, &purchase.transaction_id);
    let message = format!(
        "the charge was paid by {}, and again by {second}: look both up at the gateway, and give one of them back there",
        shown(charge, charge.gateway_transaction_id.as_deref().unwrap_or_default()),
    );
    let alarm = Alarm {
        kind: FailureKind::DuplicatePurchase,
        code: RefusedCode::OrderAlreadyPaid.as_str(),
        message: &message,
        transaction: &second,
    };
    tell_once(conn, charge, alarm).await
}

/// Apple shows one purchase under several transactions now and then: each is credited, and a person looks.
pub(super) async fn repeated(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    purchase: &Purchase,
) -> Result<(), DbError> {
    let message = format!(
        "transaction {} was credited although another transaction of the same purchase, {}, was credited before",
        purchase.transaction_id,
        purchase.store_id.as_deref().unwrap_or_default()
    );
    let alarm = Alarm {
        kind: FailureKind::DuplicatePurchase,
        code: "ORIGINAL_TRANSACTION_REPEATED",
        message: &message,
        transaction: &purchase.transaction_id,
    };
    tell_once(conn, charge, alarm).await
}

/// Somebody paid and got nothing; told once per purchase.
pub(super) async fn mismatch(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    way: PaymentGateway,
    purchase: &Purchase,
    refused: &Refused,
) -> Result<(), DbError> {
    let transaction = way.shown(&purchase.transaction_id);
    let store = purchase.store_id.as_ref().map_or_else(String::new, |id| format!(", its order {id}"));
    let price = purchase.price.as_ref().map_or_else(String::new, |price| format!(", {}", price.text()));
    let message = format!(
        "somebody paid (transaction {transaction} of {}{store}{price}) and got nothing for the charge of {} {} ({}, {}): {}",
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
        transaction: &transaction,
    };
    tell_once(conn, charge, alarm).await
}

/// What is no purchase of this charge, and yet a person must see: our own configuration, told once per charge, or
/// something that was presented, told once each.
pub(super) async fn alarmed(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    kind: FailureKind,
    look: &Look<'_>,
    refused: &Refused,
) -> Result<(), DbError> {
    if let PurchaseOutcome::Misconfigured(Refusal { code, .. }) = &look.asked.outcome {
        return tell_once(conn, charge, Alarm { kind, code, message: &refused.message, transaction: "" })
            .await;
    }
    let transaction = look.way.shown(look.reference.unwrap_or_default());
    let message = format!(
        "{transaction} was presented, which is of another product than {}: somebody may have paid and got nothing ({})",
        charge.sku.as_deref().unwrap_or_default(),
        refused.message
    );
    let alarm = Alarm { kind, code: refused.code.as_str(), message: &message, transaction: &transaction };
    tell_once(conn, charge, alarm).await
}

/// A transaction of the charge's gateway, for people.
pub(in crate::charges) fn shown(charge: &Charge, transaction_id: &str) -> String {
    charge.gateway().map_or_else(|| transaction_id.to_owned(), |gateway| gateway.shown(transaction_id))
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
