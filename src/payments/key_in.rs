use std::{sync::Arc, time::Duration};

use diesel_async::AsyncPgConnection;
use thiserror::Error;
use uuid::Uuid;

use super::{
    GATEWAY_MISCONFIGURED, Payment, PaymentStatus, event, find, seat,
    store::{self, NewPayment},
};
use crate::{
    auth::ServicePrincipal,
    config::PaymentConfig,
    db::{Database, DbError, Transaction, violated_constraint},
    failures::{self, FailureKind, NewFailure, Severity, SubjectType},
    gateways::{self, Approval, KeyIn, KeyInOutcome, ProviderCall, Refusal, TossClient},
    idempotency::{self, CallerKey, InputHash, KeyState, MAX_KEY_CHARS},
    outbox::Outbox,
    telemetry::{current_traceparent, record},
    types::{Card, Won},
    workers::{Tasks, spawn_tracked},
};

const OPERATION: &str = "createKeyInPayment";
const SUBJECT: SubjectType = SubjectType::Payment;
/// The waits before the outcome is written again when the database is away: the money has moved, so it is worth trying.
const RECORD_RETRIES: [Duration; 5] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// The payments' use cases.
#[derive(Clone)]
pub struct Payments {
    /// The database.
    pub db: Database,
    /// Where the events go.
    pub outbox: Outbox,
    /// The provider; `None` while it is not configured.
    pub toss: Option<Arc<TossClient>>,
    /// Where the calls run on when nobody waits for them any more.
    pub tasks: Tasks,
    /// The exchange of the events.
    pub exchange: String,
    /// Policies.
    pub config: PaymentConfig,
}

/// What a key-in payment is asked with.
#[derive(Debug, Clone)]
pub struct KeyInInput {
    /// The caller's key: the same again has one effect.
    pub idempotency_key: String,
    /// The payer.
    pub user_id: i64,
    /// What is paid for.
    pub meeting_id: i64,
    /// What the payer reads on the bill, 1 to 100 characters.
    pub order_name: String,
    /// How much.
    pub amount: Won,
    /// With what.
    pub card: Card,
}

/// The payment that answers a request: PENDING when the outcome is unknown, FAILED when it was declined.
#[derive(Debug, Clone)]
pub struct PaymentAnswer {
    /// The payment.
    pub payment: Payment,
    /// Whether an earlier request with the same key made it.
    pub replayed: bool,
}

/// Why there is no payment to answer with.
#[derive(Debug, Error)]
pub enum KeyInError {
    /// A field cannot be worked with.
    #[error("{message}")]
    InvalidInput {
        /// The field, as the API names it.
        field: &'static str,
        /// What it must be.
        message: String,
    },
    /// The user has paid for this meeting.
    #[error("the user has already paid for this meeting")]
    AlreadyPaid,
    /// A payment of the user for this meeting is under way, or its outcome is unknown.
    #[error("a payment of this user for this meeting is in progress")]
    PaymentInProgress,
    /// The meeting was deleted.
    #[error("the meeting was deleted; nobody pays for it any more")]
    MeetingClosed,
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
    #[error("the payment's task ended unexpectedly")]
    TaskLost,
}

impl From<diesel::result::Error> for KeyInError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

/// Where the first transaction leads.
enum Start {
    /// Ask the provider.
    Ask {
        payment: Payment,
        /// An earlier request made the row, and died.
        resumed: bool,
    },
    /// There is nothing to ask: this is the answer.
    Answer(PaymentAnswer),
}

impl KeyInInput {
    fn check(&self) -> Result<(), KeyInError> {
        let invalid =
            |field, message: &str| Err(KeyInError::InvalidInput { field, message: message.to_owned() });
        if !(1..=MAX_KEY_CHARS).contains(&self.idempotency_key.chars().count()) {
            return invalid("idempotencyKey", "the key must have 1 to 255 characters");
        }
        if !(1..=100).contains(&self.order_name.chars().count()) {
            return invalid("orderName", "the order name must have 1 to 100 characters");
        }
        if self.order_name.contains('\0') || self.idempotency_key.contains('\0') {
            return invalid("orderName", "texts must not contain the character NUL");
        }
        Ok(())
    }

    fn hash(&self) -> InputHash {
        InputHash::of(&[
            &self.user_id.to_string(),
            &self.meeting_id.to_string(),
            &self.order_name,
            &self.amount.get().to_string(),
            self.card.last_four(),
        ])
    }
}

impl Payments {
    /// Takes a payment by key-in: a transaction with the PENDING row, the provider's call without any connection,
    /// a transaction with the outcome and its event (domain.md §2). The work goes on when the caller goes away.
    pub async fn create_key_in(
        &self,
        service: &ServicePrincipal,
        input: KeyInInput,
    ) -> Result<PaymentAnswer, KeyInError> {
        input.check()?;
        let toss = self.toss.clone().ok_or(KeyInError::GatewayUnavailable)?;
        let caller = service.principal().subject().to_owned();
        let payments = self.clone();
        let work = async move { payments.pay(&toss, caller, input).await };
        spawn_tracked(&self.tasks, work).await.unwrap_or(Err(KeyInError::TaskLost))
    }

    async fn pay(
        &self,
        toss: &TossClient,
        caller: String,
        input: KeyInInput,
    ) -> Result<PaymentAnswer, KeyInError> {
        let (payment, replayed) = match self.start(caller, &input).await? {
            Start::Answer(answer) => return Ok(answer),
            Start::Ask { payment, resumed } => (payment, resumed),
        };
        let payment = self.ask(toss, payment, input.amount, &input.card).await?;
        Ok(PaymentAnswer { payment, replayed })
    }

    /// Steps 2 and 3 of a PENDING payment, which may be repeated: the same order id and key charge once.
    pub(super) async fn ask(
        &self,
        toss: &TossClient,
        payment: Payment,
        amount: Won,
        card: &Card,
    ) -> Result<Payment, DbError> {
        let request = KeyIn {
            order_id: &payment.order_id,
            order_name: &payment.order_name,
            amount,
            card,
            idempotency_key: &payment.idempotency_key,
        };
        let (outcome, call) = toss.key_in(request).await;
        record::provider_call(call.provider, call.operation, call.outcome.as_str(), call.duration);
        self.record_outcome(payment, outcome, call).await
    }

    /// Transaction 1: the key and the PENDING payment.
    async fn start(&self, caller: String, input: &KeyInInput) -> Result<Start, KeyInError> {
        let caller_key = CallerKey { caller, operation: OPERATION, key: input.idempotency_key.clone() };
        let mut tx = self.db.begin().await?;
        let (subject, lease) = (SUBJECT.as_str(), self.config.idempotency_lease);
        let state =
            idempotency::take(tx.conn(), &caller_key, input.hash(), subject, "payment_id_seq", lease).await?;
        match state {
            KeyState::Fresh { subject_id } => {
                seat::enter_meeting(tx.conn(), input.meeting_id).await?;
                if seat::is_closed(tx.conn(), input.meeting_id).await? {
                    return refuse(tx, KeyInError::MeetingClosed).await;
                }
                match store::insert(tx.conn(), new_payment(subject_id, input)).await? {
                    Some(payment) => {
                        tx.commit().await?;
                        Ok(Start::Ask { payment, resumed: false })
                    }
                    // A refusal that made no row leaves no key behind.
                    None => Err(active_payment(tx, input).await?),
                }
            }
            KeyState::Finished { subject_id } => replay(tx, subject_id).await.map(Start::Answer),
            KeyState::Resumed { subject_id } => {
                let answer = PaymentAnswer { payment: known(tx.conn(), subject_id).await?, replayed: true };
                tx.commit().await?;
                let undecided = answer.payment.is(PaymentStatus::Pending);
                Ok(if undecided {
                    Start::Ask { payment: answer.payment, resumed: true }
                } else {
                    Start::Answer(answer)
                })
            }
            KeyState::Running => refuse(tx, KeyInError::RequestInProgress).await,
            KeyState::Reused => refuse(tx, KeyInError::KeyReused).await,
        }
    }

    /// Transaction 2: the outcome and its event, again while the database is away. If it cannot be written the
    /// payment stays PENDING, which is what unknown means.
    async fn record_outcome(
        &self,
        payment: Payment,
        mut outcome: KeyInOutcome,
        call: ProviderCall,
    ) -> Result<Payment, DbError> {
        let mut waits = RECORD_RETRIES.into_iter();
        loop {
            let error = match self.try_record(&payment, &outcome, &call).await {
                Ok(recorded) => return Ok(recorded),
                Err(error) => error,
            };
            if payment_key_is_taken(&error) {
                // An approval must name a payment of its own (gateways.md §1.9): whose money this is, nobody knows.
                outcome = KeyInOutcome::Unknown(Refusal {
                    code: "PAYMENT_KEY_USED".to_owned(),
                    message: "the provider answered with the payment key of another payment".to_owned(),
                });
                continue;
            }
            match waits.next() {
                Some(wait) if error.is_retryable() || error.is_connection_loss() => {
                    tracing::warn!(%error, payment = payment.id, "a payment's outcome cannot be written; trying again");
                    tokio::time::sleep(wait).await;
                }
                _ => return Err(error),
            }
        }
    }

    async fn try_record(
        &self,
        payment: &Payment,
        outcome: &KeyInOutcome,
        call: &ProviderCall,
    ) -> Result<Payment, DbError> {
        let mut tx = self.db.begin().await?;
        let recorded = match outcome {
            KeyInOutcome::Approved(approval) => self.approved(&mut tx, payment.id, approval).await?,
            KeyInOutcome::Declined(refusal) => self.refused(&mut tx, payment.id, refusal, None).await?,
            KeyInOutcome::Misconfigured(refusal) => {
                let message = format!("{}: {}", refusal.code, refusal.message);
                let ours = Refusal { code: GATEWAY_MISCONFIGURED.to_owned(), message };
                self.refused(&mut tx, payment.id, &ours, Some(FailureKind::GatewayMisconfigured)).await?
            }
            KeyInOutcome::Unknown(refusal) => {
                unknown(tx.conn(), payment, refusal).await?;
                None
            }
        };
        let recorded = match recorded {
            Some(recorded) => recorded,
            // Unknown, or somebody else decided it: the row as it is.
            None => find(tx.conn(), payment.id).await?.unwrap_or_else(|| payment.clone()),
        };
        gateways::record_call(tx.conn(), call, SUBJECT.as_str(), payment.id, payment.flow_id).await?;
        idempotency::finish(tx.conn(), SUBJECT.as_str(), payment.id).await?;
        tx.commit().await?;
        Ok(recorded)
    }

    async fn approved(
        &self,
        tx: &mut Transaction,
        id: i64,
        approval: &Approval,
    ) -> Result<Option<Payment>, DbError> {
        let completed = store::complete(tx.conn(), id, approval).await?;
        if let Some(payment) = &completed {
            let traceparent = current_traceparent();
            let event = event::completed(payment, approval.approved_at, self.exchange.clone(), traceparent);
            self.outbox.enqueue(tx, event).await?;
        }
        Ok(completed)
    }

    /// No money moved: FAILED, with the event that lets the meeting service give the seat back.
    async fn refused(
        &self,
        tx: &mut Transaction,
        id: i64,
        refusal: &Refusal,
        misconfigured: Option<FailureKind>,
    ) -> Result<Option<Payment>, DbError> {
        let failed = store::fail(tx.conn(), id, refusal).await?;
        if let Some(payment) = &failed {
            let (kind, severity) = match misconfigured {
                Some(kind) => (kind, Severity::Critical),
                None => (FailureKind::PaymentFailed, Severity::Info),
            };
            failures::record(tx.conn(), failure(payment, kind, severity, refusal)).await?;
            let event = event::failed(payment, self.exchange.clone(), current_traceparent());
            self.outbox.enqueue(tx, event).await?;
        }
        Ok(failed)
    }
}

fn new_payment(id: i64, input: &KeyInInput) -> NewPayment {
    NewPayment {
        id,
        order_id: store::fresh_order_id(),
        user_id: input.user_id,
        meeting_id: input.meeting_id,
        order_name: input.order_name.clone(),
        amount: input.amount.get(),
        idempotency_key: Uuid::new_v4().to_string(),
        flow_id: Uuid::now_v7(),
    }
}

fn payment_key_is_taken(error: &DbError) -> bool {
    matches!(error, DbError::Query(error)
        if violated_constraint(error) == Some("payment_provider_payment_key_uq"))
}

async fn refuse(tx: Transaction, error: KeyInError) -> Result<Start, KeyInError> {
    tx.rollback().await?;
    Err(error)
}

/// Which refusal it is when the user has an active payment for the meeting.
async fn active_payment(mut tx: Transaction, input: &KeyInInput) -> Result<KeyInError, DbError> {
    let active = store::active(tx.conn(), input.meeting_id, input.user_id).await?;
    tx.rollback().await?;
    Ok(match active {
        Some(payment) if payment.is(PaymentStatus::Completed) => KeyInError::AlreadyPaid,
        // Gone since: the next request will find the way free.
        Some(_) | None => KeyInError::PaymentInProgress,
    })
}

async fn replay(mut tx: Transaction, id: i64) -> Result<PaymentAnswer, KeyInError> {
    let payment = known(tx.conn(), id).await?;
    tx.rollback().await?;
    Ok(PaymentAnswer { payment, replayed: true })
}

async fn known(conn: &mut AsyncPgConnection, id: i64) -> Result<Payment, DbError> {
    Ok(find(conn, id).await?.ok_or(diesel::result::Error::NotFound)?)
}

/// Stays PENDING; told once per payment.
async fn unknown(conn: &mut AsyncPgConnection, payment: &Payment, refusal: &Refusal) -> Result<(), DbError> {
    let told = failures::for_subjects(conn, SUBJECT.as_str(), vec![payment.id.to_string()], 100).await?;
    if told.iter().all(|failure| failure.kind != FailureKind::PaymentUnknown.as_str()) {
        let unknown = failure(payment, FailureKind::PaymentUnknown, Severity::Warning, refusal);
        failures::record(conn, unknown).await?;
    }
    Ok(())
}

fn failure(payment: &Payment, kind: FailureKind, severity: Severity, refusal: &Refusal) -> NewFailure {
    NewFailure {
        kind,
        severity,
        subject_type: SUBJECT,
        subject_id: payment.id.to_string(),
        event_type: None,
        code: refusal.code.clone(),
        message: refusal.message.clone(),
        detail: None,
        attempt: 1,
        flow_id: Some(payment.flow_id),
    }
}
