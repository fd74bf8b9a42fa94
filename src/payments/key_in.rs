use std::{borrow::Cow, sync::Arc};

use diesel_async::AsyncPgConnection;
use thiserror::Error;
use uuid::Uuid;

use super::{
    Payment, PaymentStatus, find,
    outcome::{Follow, SUBJECT, Settled, foreign_payment_key, misconfigured, payment_key_is_taken, unknown},
    seat,
    store::{self, NewPayment},
};
use crate::{
    auth::ServicePrincipal,
    config::PaymentConfig,
    db::{Database, DbError, Recording, Transaction},
    gateways::{KeyIn, KeyInOutcome, LookupOutcome, ProviderCall, Reference, TossClient},
    idempotency::{self, CallerKey, InputHash, KeyState, MAX_KEY_CHARS},
    outbox::Outbox,
    types::{Card, Won},
    workers::{Tasks, spawn_tracked},
};

const OPERATION: &str = "createKeyInPayment";

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
    /// Ask the provider about this payment, PENDING, which a request that never came back may have made.
    Ask(PaymentAnswer),
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
        // PostgreSQL stores no NUL.
        for (field, text) in [("idempotencyKey", &self.idempotency_key), ("orderName", &self.order_name)] {
            if text.contains('\0') {
                return invalid(field, "the character NUL is not allowed");
            }
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
        let PaymentAnswer { payment, replayed } = match self.start(caller, &input).await? {
            Start::Answer(answer) => return Ok(answer),
            Start::Ask(undecided) => undecided,
        };
        let asked = if replayed {
            self.ask_again(toss, payment.clone(), input.amount, &input.card).await
        } else {
            self.ask(toss, payment.clone(), input.amount, &input.card).await
        };
        let payment = asked.unwrap_or_else(|error| {
            // Nobody could write down what became of it, which is what PENDING means: the reconciler asks.
            tracing::error!(%error, payment = payment.id, "a payment's outcome is not written down");
            payment
        });
        Ok(PaymentAnswer { payment, replayed })
    }

    /// Steps 2 and 3 of a payment that this process has just made PENDING.
    pub(super) async fn ask(
        &self,
        toss: &TossClient,
        payment: Payment,
        amount: Won,
        card: &Card,
    ) -> Result<Payment, DbError> {
        let (outcome, call) = toss.key_in(request(&payment, amount, card)).await;
        let settled = self.record_outcome(&payment, &outcome, &[call]).await?;
        Ok(self.follow_up(settled).await)
    }

    /// The same of a payment that the provider may have been asked about before: its books come first. The same order
    /// id and key charge once, but only under the same secret key of ours, which may have changed in between.
    pub(super) async fn ask_again(
        &self,
        toss: &TossClient,
        payment: Payment,
        amount: Won,
        card: &Card,
    ) -> Result<Payment, DbError> {
        let (books, looked_up) = toss.lookup(Reference::OrderId(&payment.order_id)).await;
        let (outcome, calls) = match books {
            LookupOutcome::Found(_) => {
                return self.finish_by_books(&payment, books, &looked_up, None).await;
            }
            LookupOutcome::NotFound(_) => {
                let (outcome, call) = toss.key_in(request(&payment, amount, card)).await;
                (outcome, vec![looked_up, call])
            }
            LookupOutcome::Unknown(refusal) => (KeyInOutcome::Unknown(refusal), vec![looked_up]),
            LookupOutcome::Misconfigured(refusal) => (KeyInOutcome::Misconfigured(refusal), vec![looked_up]),
        };
        let outcome = match outcome {
            // It says nothing about an earlier call, which may still be carried out.
            KeyInOutcome::Misconfigured(refusal) => KeyInOutcome::Unknown(misconfigured(&refusal)),
            other => other,
        };
        let settled = self.record_outcome(&payment, &outcome, &calls).await?;
        Ok(self.follow_up(settled).await)
    }

    /// Transaction 1: the key and the PENDING payment. When all is as it should be, in one statement; what else it may
    /// be is found out step by step in a second try.
    async fn start(&self, caller: String, input: &KeyInInput) -> Result<Start, KeyInError> {
        let caller_key = CallerKey { caller, operation: OPERATION, key: input.idempotency_key.clone() };
        let lease = self.config.idempotency_lease;
        let mut tx = self.db.begin().await?;
        seat::enter_meeting(tx.conn(), input.meeting_id).await?;
        let new = new_payment(input);
        match store::insert_under_key(tx.conn(), &caller_key, input.hash(), lease, new).await? {
            Some(payment) => {
                tx.commit().await?;
                Ok(Start::Ask(PaymentAnswer { payment, replayed: false }))
            }
            None => {
                tx.rollback().await?;
                self.start_step_by_step(caller_key, input).await
            }
        }
    }

    async fn start_step_by_step(
        &self,
        caller_key: CallerKey,
        input: &KeyInInput,
    ) -> Result<Start, KeyInError> {
        let mut tx = self.db.begin().await?;
        // Before the key, as above: two requests that take them in different order wait for each other.
        seat::enter_meeting(tx.conn(), input.meeting_id).await?;
        let (subject, lease) = (SUBJECT.as_str(), self.config.idempotency_lease);
        let state =
            idempotency::take(tx.conn(), &caller_key, input.hash(), subject, "payment_id_seq", lease).await?;
        match state {
            KeyState::Fresh { subject_id } => {
                if seat::is_closed(tx.conn(), input.meeting_id).await? {
                    return refuse(tx, KeyInError::MeetingClosed).await;
                }
                match store::insert(tx.conn(), subject_id, new_payment(input)).await? {
                    Some(payment) => {
                        tx.commit().await?;
                        Ok(Start::Ask(PaymentAnswer { payment, replayed: false }))
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
                Ok(if undecided { Start::Ask(answer) } else { Start::Answer(answer) })
            }
            KeyState::Running => refuse(tx, KeyInError::RequestInProgress).await,
            KeyState::Reused => refuse(tx, KeyInError::KeyReused).await,
        }
    }

    /// Transaction 2: the outcome and its event.
    async fn record_outcome(
        &self,
        payment: &Payment,
        outcome: &KeyInOutcome,
        calls: &[ProviderCall],
    ) -> Result<Settled, DbError> {
        let mut recording = Recording::of("payment", payment.id);
        let mut outcome = Cow::Borrowed(outcome);
        loop {
            match self.try_record(payment, &outcome, calls).await {
                Ok(settled) => return Ok(settled),
                Err(error) if payment_key_is_taken(&error) => {
                    outcome = Cow::Owned(KeyInOutcome::Unknown(foreign_payment_key()));
                }
                Err(error) => recording.wait_after(error).await?,
            }
        }
    }

    async fn try_record(
        &self,
        payment: &Payment,
        outcome: &KeyInOutcome,
        calls: &[ProviderCall],
    ) -> Result<Settled, DbError> {
        let mut tx = self.db.begin().await?;
        let settled = match outcome {
            KeyInOutcome::Approved(approval) => self.approved(&mut tx, payment, approval).await?,
            KeyInOutcome::Declined(refusal) => {
                let refused = self.refused(&mut tx, payment, refusal).await?;
                as_it_is(tx.conn(), payment, refused).await?
            }
            KeyInOutcome::Misconfigured(refusal) => {
                let refused = self.refused(&mut tx, payment, &misconfigured(refusal)).await?;
                as_it_is(tx.conn(), payment, refused).await?
            }
            KeyInOutcome::Unknown(refusal) => {
                unknown(tx.conn(), payment, refusal).await?;
                as_it_is(tx.conn(), payment, None).await?
            }
        };
        store::note_calls_and_finish(tx.conn(), payment, calls).await?;
        tx.commit().await?;
        Ok(settled)
    }
}

/// The payment as this transaction left it; where it changed nothing (unknown, or somebody else decided), as it is.
async fn as_it_is(
    conn: &mut AsyncPgConnection,
    payment: &Payment,
    changed: Option<Payment>,
) -> Result<Settled, DbError> {
    let payment = match changed {
        Some(changed) => changed,
        None => find(conn, payment.id).await?.unwrap_or_else(|| payment.clone()),
    };
    Ok(Settled { payment, follow: Follow::Nothing })
}

fn request<'a>(payment: &'a Payment, amount: Won, card: &'a Card) -> KeyIn<'a> {
    KeyIn {
        order_id: &payment.order_id,
        order_name: &payment.order_name,
        amount,
        card,
        idempotency_key: &payment.idempotency_key,
    }
}

fn new_payment(input: &KeyInInput) -> NewPayment {
    NewPayment {
        order_id: store::fresh_order_id(),
        user_id: input.user_id,
        meeting_id: input.meeting_id,
        order_name: input.order_name.clone(),
        amount: input.amount.get(),
        idempotency_key: Uuid::new_v4().to_string(),
        flow_id: Uuid::now_v7(),
    }
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
