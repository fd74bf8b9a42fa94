use diesel_async::AsyncPgConnection;
use futures_util::{FutureExt, future::BoxFuture};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{id, not_consumed, without_provider};
use crate::{
    broker::InboundQueue,
    db::{DbError, Transaction},
    failures::{self, FailureKind, NewFailure, Severity, SubjectType},
    gateways::{Refusal, TossClient},
    inbox::{self, Handler, HandlingError, InboxKey, Message, Subscription},
    payments::{
        Payment, PaymentStatus, Payments,
        event::{self, RefusedRegistration},
        find, seat,
        store::{self, NewPayment},
    },
    telemetry::current_traceparent,
    types::{Card, Won},
};

const SUBSCRIPTION: Subscription = Subscription {
    worker: "consumer-participant-register",
    queue: InboundQueue { name: "payment.participant.register", routing_key: "participant.register" },
    event_type: "PARTICIPANT_REGISTER",
};
/// The failure's code when the participant had cancelled before the registration arrived.
const CANCELED_BEFORE: &str = "CANCELED_BEFORE_REGISTRATION";

/// Pays for a registration with the configured test card ("test key-in").
pub struct ParticipantRegister {
    /// The use cases.
    pub payments: Payments,
    /// With what.
    pub card: Option<Card>,
}

/// The message's data.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    user_id: i64,
    meeting_id: i64,
    amount: i64,
    order_name: Option<String>,
}

#[derive(Debug, Clone)]
struct Registration {
    user_id: i64,
    meeting_id: i64,
    amount: Won,
    order_name: String,
}

/// Where the first transaction leads.
enum Start {
    /// Ask the provider.
    Ask(Box<Payment>),
    /// An earlier try may have asked it.
    AskAgain(Box<Payment>),
    /// There is nothing to ask.
    Done,
}

/// What the seat's state says to a registration.
enum Seat {
    Free,
    Refused(Refusal),
    /// The participant is gone already; nobody waits for an answer.
    Canceled,
}

impl Registration {
    fn read(message: &Message) -> Result<Self, HandlingError> {
        let data: Data = message.data()?;
        let meeting_id = id("meetingId", data.meeting_id)?;
        let order_name = data.order_name.unwrap_or_else(|| format!("Meeting {meeting_id}"));
        if !(1..=100).contains(&order_name.chars().count()) || order_name.contains('\0') {
            return Err(HandlingError::data(
                "INVALID_FIELD",
                "orderName must have 1 to 100 characters, none NUL",
            ));
        }
        let amount =
            Won::new(data.amount).map_err(|error| HandlingError::data("INVALID_FIELD", error.to_string()))?;
        Ok(Self { user_id: id("userId", data.user_id)?, meeting_id, amount, order_name })
    }

    /// How a failure names the seat where there is no payment.
    fn seat(&self) -> String {
        format!("{}:{}", self.meeting_id, self.user_id)
    }
}

impl Handler for ParticipantRegister {
    fn subscription(&self) -> Subscription {
        SUBSCRIPTION
    }

    fn unavailable(&self) -> Option<String> {
        without_provider(&self.payments, &SUBSCRIPTION).or_else(|| {
            let missing = "PAYDESK_TOSS_TEST_CARD is not set";
            self.card.is_none().then(|| not_consumed(&SUBSCRIPTION, missing))
        })
    }

    fn handle<'a>(
        &'a self,
        message: &'a Message,
        key: InboxKey,
        _stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), HandlingError>> {
        self.register(message, key).boxed()
    }
}

impl ParticipantRegister {
    async fn register(&self, message: &Message, key: InboxKey) -> Result<(), HandlingError> {
        let registration = Registration::read(message)?;
        let (toss, card) = self.gateway()?;
        let amount = registration.amount;
        let payment = match self.start(message, key, &registration).await? {
            Start::Ask(payment) => self.payments.ask(toss, *payment, amount, card).await?,
            Start::AskAgain(payment) => self.payments.ask_again(toss, *payment, amount, card).await?,
            Start::Done => return Ok(()),
        };
        if payment.is(PaymentStatus::Pending) {
            let text = format!("whether payment {} was made is unknown", payment.id);
            return Err(HandlingError::system("OUTCOME_UNKNOWN", text));
        }
        Ok(())
    }

    fn gateway(&self) -> Result<(&TossClient, &Card), HandlingError> {
        match (self.payments.toss.as_deref(), &self.card) {
            (Some(toss), Some(card)) => Ok((toss, card)),
            _ => {
                let reason = self.unavailable().unwrap_or_default();
                Err(HandlingError::system("GATEWAY_UNAVAILABLE", reason))
            }
        }
    }

    /// Transaction 1: the PENDING payment and the inbox row that names it; or the refusal with its event.
    async fn start(
        &self,
        message: &Message,
        key: InboxKey,
        registration: &Registration,
    ) -> Result<Start, HandlingError> {
        let mut tx = self.payments.db.begin().await?;
        let entry = inbox::lock(tx.conn(), key).await?;
        if let Some(id) = entry.subject_id {
            let payment = find(tx.conn(), id).await?;
            tx.rollback().await?;
            // Gone: it was refunded since. Decided: an earlier try, or the reconciler, did it.
            let undecided = payment.filter(|payment| payment.is(PaymentStatus::Pending));
            return Ok(undecided.map_or(Start::Done, |payment| Start::AskAgain(Box::new(payment))));
        }
        if entry.is_done() {
            tx.rollback().await?;
            return Ok(Start::Done);
        }
        let seat = self.seat(tx.conn(), message, registration).await?;
        if matches!(seat, Seat::Free) {
            let id = store::next_id(tx.conn()).await?;
            let new = new_payment(message.flow_id, registration);
            if let Some(payment) = store::insert(tx.conn(), id, new).await? {
                inbox::name_subject(tx.conn(), key, SubjectType::Payment, payment.id).await?;
                tx.commit().await?;
                return Ok(Start::Ask(Box::new(payment)));
            }
        }
        match seat {
            Seat::Canceled => self.canceled(tx, message.flow_id, key, registration).await?,
            Seat::Refused(refusal) => self.refuse(tx, message.flow_id, key, registration, refusal).await?,
            Seat::Free => {
                let refusal = taken(tx.conn(), registration).await?;
                self.refuse(tx, message.flow_id, key, registration, refusal).await?;
            }
        }
        Ok(Start::Done)
    }

    /// Registrations, cancels and deletions of one seat wait here for each other.
    async fn seat(
        &self,
        conn: &mut AsyncPgConnection,
        message: &Message,
        registration: &Registration,
    ) -> Result<Seat, DbError> {
        let (meeting_id, user_id) = (registration.meeting_id, registration.user_id);
        seat::enter_meeting(conn, meeting_id).await?;
        seat::take_seat(conn, meeting_id, user_id).await?;
        if seat::canceled_since(conn, meeting_id, user_id, message.occurred_at).await? {
            return Ok(Seat::Canceled);
        }
        if seat::is_closed(conn, meeting_id).await? {
            return Ok(Seat::Refused(refusal("MEETING_CLOSED", "the meeting was deleted")));
        }
        Ok(Seat::Free)
    }

    /// A business refusal: the event gives the seat back, the message is done with.
    async fn refuse(
        &self,
        mut tx: Transaction,
        flow_id: Uuid,
        key: InboxKey,
        registration: &Registration,
        refusal: Refusal,
    ) -> Result<(), DbError> {
        let occurred_at = inbox::finish(tx.conn(), key).await?;
        let told = failure(registration, flow_id, Severity::Info, &refusal);
        failures::record(tx.conn(), told).await?;
        let refused = RefusedRegistration {
            user_id: registration.user_id,
            meeting_id: registration.meeting_id,
            amount: registration.amount.get(),
            flow_id,
            occurred_at,
            refusal,
        };
        let event = event::refused(refused, self.payments.exchange.clone(), current_traceparent());
        self.payments.outbox.enqueue(&mut tx, event).await?;
        tx.commit().await
    }

    /// Nobody is charged who has left already, and no seat is to be given back: the cancel did that.
    async fn canceled(
        &self,
        mut tx: Transaction,
        flow_id: Uuid,
        key: InboxKey,
        registration: &Registration,
    ) -> Result<(), DbError> {
        inbox::finish(tx.conn(), key).await?;
        let refusal =
            refusal(CANCELED_BEFORE, "the participant had cancelled before the registration arrived");
        let told = failure(registration, flow_id, Severity::Warning, &refusal);
        failures::record(tx.conn(), told).await?;
        tx.commit().await
    }
}

fn new_payment(flow_id: Uuid, registration: &Registration) -> NewPayment {
    NewPayment {
        order_id: store::fresh_order_id(),
        user_id: registration.user_id,
        meeting_id: registration.meeting_id,
        order_name: registration.order_name.clone(),
        amount: registration.amount.get(),
        idempotency_key: Uuid::new_v4().to_string(),
        flow_id,
    }
}

/// Which refusal it is when the user has an active payment for the meeting.
async fn taken(conn: &mut AsyncPgConnection, registration: &Registration) -> Result<Refusal, DbError> {
    let active = store::active(conn, registration.meeting_id, registration.user_id).await?;
    Ok(match active {
        Some(payment) if payment.is(PaymentStatus::Completed) => {
            refusal("ALREADY_PAID", "the user has already paid for this meeting")
        }
        Some(_) | None => {
            refusal("PAYMENT_IN_PROGRESS", "a payment of this user for this meeting is in progress")
        }
    })
}

fn refusal(code: &str, message: &str) -> Refusal {
    Refusal { code: code.to_owned(), message: message.to_owned() }
}

fn failure(registration: &Registration, flow_id: Uuid, severity: Severity, refusal: &Refusal) -> NewFailure {
    NewFailure {
        kind: FailureKind::PaymentFailed,
        severity,
        subject_type: SubjectType::Payment,
        subject_id: registration.seat(),
        event_type: Some(SUBSCRIPTION.event_type.to_owned()),
        code: refusal.code.clone(),
        message: refusal.message.clone(),
        detail: None,
        attempt: 1,
        flow_id: Some(flow_id),
    }
}
