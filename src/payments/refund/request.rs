use std::time::Instant as Stopwatch;

use thiserror::Error;
use uuid::Uuid;

use super::{
    Refund, RefundSource, RefundStatus, RefundWanted, find_refund,
    store::{self, NewRefund},
};
use crate::{
    audit::{self, Deed},
    auth::ServicePrincipal,
    db::{DbError, Transaction},
    failures::SubjectType,
    gateways::TossClient,
    idempotency::{self, CallerKey, InputHash, KeyState, MAX_KEY_CHARS},
    payments::{Payment, PaymentStatus, Payments, find, store as payment_store},
    workers::spawn_tracked,
};

const OPERATION: &str = "refundPayment";
const SUBJECT: SubjectType = SubjectType::Refund;
/// Longest reason: the provider takes no more.
const MAX_REASON_CHARS: usize = 200;

/// What a refund is asked with.
#[derive(Debug, Clone)]
pub struct RefundInput {
    /// The caller's key: the same again has one effect.
    pub idempotency_key: String,
    /// The payment.
    pub payment_id: i64,
    /// Why, 1 to 200 characters.
    pub reason: String,
    /// The user that a service acts for.
    pub on_behalf_of_user_id: Option<i64>,
}

/// The refund that answers a request: REQUESTED when the outcome is unknown, FAILED when the provider refused.
#[derive(Debug, Clone)]
pub struct RefundAnswer {
    /// The refund.
    pub refund: Refund,
    /// Whether an earlier request with the same key made it.
    pub replayed: bool,
}

/// A refund as its first transaction leaves it.
#[derive(Debug, Clone)]
pub enum RefundRequested {
    /// It is new and REQUESTED. After the commit: [`Payments::carry_out_refund`].
    New(Refund),
    /// The payment has one under way or made, or the same message asked before: this one.
    Known(Refund),
}

/// Why there is no refund to answer with.
#[derive(Debug, Error)]
pub enum RefundPaymentError {
    /// A field cannot be worked with.
    #[error("{message}")]
    InvalidInput {
        /// The field, as the API names it.
        field: &'static str,
        /// What it must be.
        message: &'static str,
    },
    /// There is no such payment.
    #[error("there is no payment {0}")]
    NotFound(i64),
    /// The user that the service acts for is not the payer.
    #[error("the payment is another user's")]
    Unauthorized,
    /// Only a COMPLETED payment can be refunded.
    #[error("a payment that is {status} cannot be refunded; only a COMPLETED one can")]
    NotAllowed {
        /// The payment's status.
        status: String,
        /// The refund that gave it back, if one did.
        refund: Option<Box<Refund>>,
    },
    /// The key was used with another input.
    #[error("this idempotencyKey was used with another input")]
    KeyReused,
    /// The first request with this key is still at work.
    #[error("the first request with this idempotencyKey is still running; ask again")]
    RequestInProgress,
    /// Toss Payments is not configured.
    #[error("the payment gateway is not configured")]
    GatewayUnavailable,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
    /// The work ended without an answer.
    #[error("the refund's task ended unexpectedly")]
    TaskLost,
}

impl From<diesel::result::Error> for RefundPaymentError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

/// Where the first transaction leads.
enum Start {
    /// Ask the provider; the flag says whether an earlier request made the row and died.
    CarryOut(Refund, bool),
    /// There is nothing to ask: this is the answer.
    Answer(RefundAnswer),
}

impl RefundInput {
    fn check(&self) -> Result<(), RefundPaymentError> {
        let invalid = |field, message| Err(RefundPaymentError::InvalidInput { field, message });
        if !(1..=MAX_KEY_CHARS).contains(&self.idempotency_key.chars().count()) {
            return invalid("idempotencyKey", "the key must have 1 to 255 characters");
        }
        if !(1..=MAX_REASON_CHARS).contains(&self.reason.chars().count()) || self.reason.trim().is_empty() {
            return invalid("reason", "the reason must have 1 to 200 characters");
        }
        if self.idempotency_key.contains('\0') {
            return invalid("idempotencyKey", "texts must not contain the character NUL");
        }
        if self.reason.contains('\0') {
            return invalid("reason", "texts must not contain the character NUL");
        }
        Ok(())
    }

    fn hash(&self) -> InputHash {
        let user = self.on_behalf_of_user_id.map(|id| id.to_string()).unwrap_or_default();
        InputHash::of(&[&self.payment_id.to_string(), &self.reason, &user])
    }

    /// Who asks, as the refund keeps it: an ADMIN for anyone, a SERVICE for itself or for a user.
    fn wanted(&self, service: &ServicePrincipal) -> RefundWanted {
        let subject = || service.principal().subject().to_owned();
        let (source, requested_by) = match service.principal().admin() {
            Some(_admin) => (RefundSource::Operator, subject()),
            None => {
                let user = self.on_behalf_of_user_id.map(|id| id.to_string());
                (RefundSource::Api, user.unwrap_or_else(subject))
            }
        };
        RefundWanted { reason: self.reason.clone(), requested_by, source, source_event_id: None }
    }
}

impl Payments {
    /// Gives a payment back: a transaction with the REQUESTED refund and its key, the provider's cancel without any
    /// connection, a transaction with the outcome (domain.md §2). The work goes on when the caller goes away.
    pub async fn refund(
        &self,
        service: &ServicePrincipal,
        input: RefundInput,
        request_id: &str,
    ) -> Result<RefundAnswer, RefundPaymentError> {
        let arrived = Stopwatch::now();
        input.check()?;
        let toss = self.toss.clone().ok_or(RefundPaymentError::GatewayUnavailable)?;
        let (payments, service, request_id) = (self.clone(), service.clone(), request_id.to_owned());
        let work = async move {
            match payments.start_refund(&service, &input, &request_id, arrived).await? {
                Start::Answer(answer) => Ok(answer),
                Start::CarryOut(refund, replayed) => {
                    let refund = if replayed {
                        payments.look_up_and_record(&toss, refund).await?
                    } else {
                        payments.cancel_and_record(&toss, refund).await?
                    };
                    Ok(RefundAnswer { refund, replayed })
                }
            }
        };
        spawn_tracked(&self.tasks, work).await.unwrap_or(Err(RefundPaymentError::TaskLost))
    }

    /// Transaction 1: the caller's key, the guards under the payment's lock, the REQUESTED refund with its own key.
    async fn start_refund(
        &self,
        service: &ServicePrincipal,
        input: &RefundInput,
        request_id: &str,
        arrived: Stopwatch,
    ) -> Result<Start, RefundPaymentError> {
        let caller = service.principal().subject().to_owned();
        let caller_key = CallerKey { caller, operation: OPERATION, key: input.idempotency_key.clone() };
        let mut tx = self.db.begin().await?;
        let lease = self.config.idempotency_lease;
        let (subject, sequence) = (SUBJECT.as_str(), "refund_id_seq");
        match idempotency::take(tx.conn(), &caller_key, input.hash(), subject, sequence, lease).await? {
            KeyState::Fresh { subject_id } => {
                let payment = match guard(&mut tx, service, input, arrived).await {
                    Ok(Guarded::Refundable(payment)) => payment,
                    Ok(Guarded::Refunded(refund)) => {
                        idempotency::point_at(tx.conn(), &caller_key, refund.id, true).await?;
                        tx.commit().await?;
                        return Ok(Start::Answer(RefundAnswer { refund: *refund, replayed: false }));
                    }
                    // A refusal that made no row leaves no key behind.
                    Err(refusal) => return refuse(tx, refusal).await,
                };
                match request_with_id(&mut tx, &payment, input.wanted(service), subject_id).await? {
                    RefundRequested::New(refund) => {
                        audit_request(&mut tx, service, &payment, &refund, request_id).await?;
                        tx.commit().await?;
                        Ok(Start::CarryOut(refund, false))
                    }
                    RefundRequested::Known(refund) => {
                        // The winner answers for this key too, also later.
                        let decided = !refund.is(RefundStatus::Requested);
                        idempotency::point_at(tx.conn(), &caller_key, refund.id, decided).await?;
                        tx.commit().await?;
                        Ok(Start::Answer(RefundAnswer { refund, replayed: false }))
                    }
                }
            }
            KeyState::Finished { subject_id } => {
                let refund = known(&mut tx, subject_id).await?;
                tx.rollback().await?;
                Ok(Start::Answer(RefundAnswer { refund, replayed: true }))
            }
            KeyState::Resumed { subject_id } => {
                let refund = known(&mut tx, subject_id).await?;
                tx.commit().await?;
                Ok(match refund.is(RefundStatus::Requested) {
                    true => Start::CarryOut(refund, true),
                    false => Start::Answer(RefundAnswer { refund, replayed: true }),
                })
            }
            KeyState::Running => refuse(tx, RefundPaymentError::RequestInProgress).await,
            KeyState::Reused => refuse(tx, RefundPaymentError::KeyReused).await,
        }
    }

    /// Locks a user's active payment for a meeting, for a decision in this transaction: a COMPLETED one can be
    /// refunded with [`Payments::request_refund_in_tx`], a PENDING one with [`Payments::want_refund_in_tx`].
    pub async fn lock_active_in_tx(
        &self,
        tx: &mut Transaction,
        meeting_id: i64,
        user_id: i64,
    ) -> Result<Option<Payment>, DbError> {
        Ok(payment_store::active_locked(tx.conn(), meeting_id, user_id).await?)
    }

    /// Locks a payment by its id, for a decision in this transaction.
    pub async fn lock_in_tx(&self, tx: &mut Transaction, id: i64) -> Result<Option<Payment>, DbError> {
        Ok(payment_store::locked(tx.conn(), id).await?)
    }

    /// Writes a REQUESTED refund of a COMPLETED payment that this transaction has locked. The caller adds what else
    /// belongs to the transaction (an inbox row), commits, then calls [`Payments::carry_out_refund`]; if it dies in
    /// between, the reconciler carries it out.
    pub async fn request_refund_in_tx(
        &self,
        tx: &mut Transaction,
        payment: &Payment,
        wanted: RefundWanted,
    ) -> Result<RefundRequested, DbError> {
        let id = store::next_id(tx.conn()).await?;
        request_with_id(tx, payment, wanted, id).await
    }

    /// Notes on a PENDING payment that it is to be refunded: whoever makes it COMPLETED requests the refund in the
    /// same transaction. The first wish stands. False if the payment is no longer PENDING.
    pub async fn want_refund_in_tx(
        &self,
        tx: &mut Transaction,
        payment_id: i64,
        wanted: &RefundWanted,
    ) -> Result<bool, DbError> {
        let json = serde_json::to_value(wanted)
            .map_err(|error| diesel::result::Error::SerializationError(Box::new(error)))?;
        Ok(payment_store::want_refund(tx.conn(), payment_id, json).await?)
    }
}

enum Guarded {
    Refundable(Box<Payment>),
    /// Another request gave it back while this one was on its way.
    Refunded(Box<Refund>),
}

/// May this be refunded? Leaves the payment locked.
async fn guard(
    tx: &mut Transaction,
    service: &ServicePrincipal,
    input: &RefundInput,
    arrived: Stopwatch,
) -> Result<Guarded, RefundPaymentError> {
    let id = input.payment_id;
    let (payment, refund) = match payment_store::locked(tx.conn(), id).await? {
        Some(payment) => (payment, None),
        None => {
            let gone = find(tx.conn(), id).await?.ok_or(RefundPaymentError::NotFound(id))?;
            (gone, store::active(tx.conn(), id).await?)
        }
    };
    let is_admin = service.principal().admin().is_some();
    if !is_admin && input.on_behalf_of_user_id.is_some_and(|user| user != payment.user_id) {
        return Err(RefundPaymentError::Unauthorized);
    }
    match refund {
        None if payment.is(PaymentStatus::Completed) => Ok(Guarded::Refundable(Box::new(payment))),
        Some(refund)
            if payment_store::is_since(tx.conn(), refund.completed_at, arrived.elapsed()).await? =>
        {
            Ok(Guarded::Refunded(Box::new(refund)))
        }
        refund => {
            Err(RefundPaymentError::NotAllowed { status: payment.status, refund: refund.map(Box::new) })
        }
    }
}

/// Inserts the refund, or tells the one that stands in its way.
pub(in crate::payments) async fn request_with_id(
    tx: &mut Transaction,
    payment: &Payment,
    wanted: RefundWanted,
    id: i64,
) -> Result<RefundRequested, DbError> {
    let snapshot = serde_json::to_value(payment)
        .map_err(|error| diesel::result::Error::SerializationError(Box::new(error)))?;
    let new = NewRefund {
        id,
        payment_id: payment.id,
        payment_snapshot: snapshot,
        order_id: payment.order_id.clone(),
        payment_key: payment.payment_key.clone().unwrap_or_default(),
        user_id: payment.user_id,
        meeting_id: payment.meeting_id,
        amount: payment.amount,
        reason: wanted.reason,
        requested_by: wanted.requested_by,
        source: wanted.source.as_str(),
        source_event_id: wanted.source_event_id,
        idempotency_key: Uuid::new_v4().to_string(),
        flow_id: payment.flow_id,
    };
    if let Some(refund) = store::insert(tx.conn(), new).await? {
        return Ok(RefundRequested::New(refund));
    }
    let known = match wanted.source_event_id {
        Some(event_id) => store::of_message(tx.conn(), event_id, payment.id).await?,
        None => None,
    };
    let known = match known {
        Some(refund) => Some(refund),
        None => store::active(tx.conn(), payment.id).await?,
    };
    Ok(RefundRequested::Known(known.ok_or(diesel::result::Error::NotFound)?))
}

/// An operator's refund is a deed like any other.
async fn audit_request(
    tx: &mut Transaction,
    service: &ServicePrincipal,
    payment: &Payment,
    refund: &Refund,
    request_id: &str,
) -> Result<(), DbError> {
    let Some(admin) = service.principal().admin() else { return Ok(()) };
    let deed = Deed {
        action: OPERATION,
        target_type: SubjectType::Payment.as_str(),
        target_id: payment.id.to_string(),
        reason: Some(&refund.reason),
        before: Some(serde_json::json!({ "status": payment.status })),
        after: Some(serde_json::json!({ "status": payment.status, "refundId": refund.id.to_string() })),
        request_id,
        flow_id: Some(payment.flow_id),
    };
    audit::record(tx.conn(), &admin, deed).await?;
    Ok(())
}

async fn refuse(tx: Transaction, error: RefundPaymentError) -> Result<Start, RefundPaymentError> {
    tx.rollback().await?;
    Err(error)
}

async fn known(tx: &mut Transaction, id: i64) -> Result<Refund, DbError> {
    Ok(find_refund(tx.conn(), id).await?.ok_or(diesel::result::Error::NotFound)?)
}

/// What the provider is asked with, for whoever has a refund in hand.
impl Payments {
    /// Asks the provider to carry out a refund, if it is REQUESTED, and records the answer: COMPLETED, FAILED, or still
    /// REQUESTED when nobody knows. Safe to call again, and beside the reconciler: the key is the refund's own.
    /// Call it after the commit of the transaction that requested it, in a tracked task. Without a provider the
    /// refund stays REQUESTED.
    pub async fn carry_out_refund(&self, requested: RefundRequested) -> Result<Refund, DbError> {
        let toss = self.toss.clone();
        match (requested, toss) {
            (RefundRequested::New(refund), Some(toss)) => self.cancel_and_record(&toss, refund).await,
            (RefundRequested::Known(refund), Some(toss)) if refund.is(RefundStatus::Requested) => {
                self.look_up_and_record(&toss, refund).await
            }
            (RefundRequested::New(refund) | RefundRequested::Known(refund), _) => Ok(refund),
        }
    }

    /// As [`Payments::carry_out_refund`], in a task of its own.
    pub(in crate::payments) fn carry_out_in_background(
        &self,
        toss: std::sync::Arc<TossClient>,
        refund: Refund,
    ) {
        let payments = self.clone();
        let work = async move {
            let id = refund.id;
            if let Err(error) = payments.cancel_and_record(&toss, refund).await {
                tracing::warn!(%error, refund = id, "a refund's outcome was not recorded; the reconciler will ask");
            }
        };
        drop(spawn_tracked(&self.tasks, work));
    }
}
