//! Payments: object, filter, payload, query, mutation, subscription.

use async_graphql::{Context, Enum, ID, InputObject, Object, SimpleObject, Subscription};
use futures_util::Stream;

use super::{
    api::RequestId,
    error::ApiError,
    failure::FailureObject,
    guard,
    input::{
        self, AvailableAction, OperatorActionInput, TimeRange, UserError, UserErrorCode, filter_id,
        filter_text, unknown_value,
    },
    loaders::{self, CallsOf, EventsOfPayment, FailuresOf, RefundsOfPayment},
    outbox_event::OutboxEventObject,
    page::{COUNT_CAP, Connection, Counter, Node, PageArgs},
    provider_call::ProviderCallObject,
    publish::WaitStateObject,
    refund::RefundObject,
    scalars::{DateTime, Long, Uuid},
    schema::Services,
    watch,
};
use crate::{
    auth::Role,
    db::page::Keyset,
    failures::SubjectType,
    payments::{
        self, GATEWAY_MISCONFIGURED, KeyInError, KeyInInput, Payment, PaymentStatus, ReconcileError,
        RefundStatus,
    },
    types::{Card, Won, parse_id},
};

/// The filters of `payments` that an index serves.
const INDEXED: &str = "status, userId, meetingId, orderId, paymentKey, flowId, createdAt";

/// Where a payment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "PaymentStatus", remote = "PaymentStatus")]
pub enum PaymentStatusEnum {
    /// Asked for; the outcome is not known yet.
    Pending,
    /// The money was taken.
    Completed,
    /// No money was taken.
    Failed,
    /// The money was given back; found under refunds.
    Refunded,
}

/// A payment, as the API shows it.
pub struct PaymentObject(pub Payment);

impl Node for PaymentObject {
    const LIST: &'static str = "payments";

    fn keyset(&self) -> Keyset {
        Keyset { at: self.0.created_at, id: self.0.id }
    }
}

/// One try to pay for a meeting.
#[Object(name = "Payment")]
impl PaymentObject {
    /// Primary key.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// Our order id at the provider.
    async fn order_id(&self) -> &str {
        &self.0.order_id
    }

    /// The payer.
    async fn user_id(&self) -> ID {
        self.0.user_id.into()
    }

    /// What is paid for.
    async fn meeting_id(&self) -> ID {
        self.0.meeting_id.into()
    }

    /// What the payer reads on the bill.
    async fn order_name(&self) -> &str {
        &self.0.order_name
    }

    /// Whole KRW.
    async fn amount(&self) -> Result<Long, ApiError> {
        Long::new(self.0.amount).ok_or_else(|| unknown_value("amount"))
    }

    /// The payment provider.
    async fn provider(&self) -> &str {
        &self.0.provider
    }

    /// How it was paid, in the provider's words.
    async fn method(&self) -> Option<&str> {
        self.0.method.as_deref()
    }

    /// Where it stands.
    async fn status(&self) -> Result<PaymentStatusEnum, ApiError> {
        PaymentStatus::parse(&self.0.status).map(Into::into).ok_or_else(|| unknown_value("payment status"))
    }

    /// The provider's id of the approved payment.
    async fn payment_key(&self) -> Option<&str> {
        self.0.payment_key.as_deref()
    }

    /// Ties everything of one flow together.
    async fn flow_id(&self) -> Uuid {
        Uuid(self.0.flow_id)
    }

    /// Why it failed, for machines.
    async fn failure_code(&self) -> Option<&str> {
        self.0.failure_code.as_deref()
    }

    /// Why it failed, for people.
    async fn failure_message(&self) -> Option<&str> {
        self.0.failure_message.as_deref()
    }

    /// When it was asked for.
    async fn requested_at(&self) -> DateTime {
        DateTime(self.0.requested_at)
    }

    /// When it was completed.
    async fn completed_at(&self) -> Option<DateTime> {
        self.0.completed_at.map(DateTime)
    }

    /// When it was written.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When it last changed.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }

    /// The events that tell of it, oldest first, the newest hundred. ADMIN, OPERATOR.
    async fn outbox_events(&self, ctx: &Context<'_>) -> Result<Vec<OutboxEventObject>, ApiError> {
        guard::reader(ctx)?;
        let events = loaders::load(ctx, EventsOfPayment(self.0.id)).await?.unwrap_or_default();
        Ok(events.into_iter().map(OutboxEventObject).collect())
    }

    /// The calls to the provider, oldest first, the newest hundred. ADMIN, OPERATOR.
    async fn provider_calls(&self, ctx: &Context<'_>) -> Result<Vec<ProviderCallObject>, ApiError> {
        guard::reader(ctx)?;
        let key = CallsOf(SubjectType::Payment, self.0.id);
        let calls = loaders::load(ctx, key).await?.unwrap_or_default();
        Ok(calls.into_iter().map(ProviderCallObject).collect())
    }

    /// What went wrong with it, oldest first, the newest hundred. ADMIN, OPERATOR.
    async fn failures(&self, ctx: &Context<'_>) -> Result<Vec<FailureObject>, ApiError> {
        guard::reader(ctx)?;
        let key = FailuresOf(SubjectType::Payment, self.0.id.to_string());
        Ok(loaders::load(ctx, key).await?.unwrap_or_default().into_iter().map(FailureObject).collect())
    }

    /// Its refunds, oldest first. ADMIN, OPERATOR.
    async fn refunds(&self, ctx: &Context<'_>) -> Result<Vec<RefundObject>, ApiError> {
        guard::reader(ctx)?;
        let refunds = loaders::load(ctx, RefundsOfPayment(self.0.id)).await?.unwrap_or_default();
        Ok(refunds.into_iter().map(RefundObject).collect())
    }

    /// Why it is where it is: while PENDING, that the provider did not say how it ended, and when it is asked next.
    /// ADMIN, OPERATOR.
    async fn waiting_for(&self, ctx: &Context<'_>) -> Result<Option<WaitStateObject>, ApiError> {
        guard::reader(ctx)?;
        let first_look = Services::of(ctx)?.payments.first_look(self.0.requested_at);
        Ok(payments::payment_waits_for(&self.0, first_look).map(WaitStateObject))
    }

    /// What the viewer may do to it now, and if not, why. ADMIN, OPERATOR.
    async fn available_actions(&self, ctx: &Context<'_>) -> Result<Vec<AvailableAction>, ApiError> {
        guard::reader(ctx)?;
        let is_admin = guard::principal(ctx)?.has(Role::Admin);
        let refunds = loaders::load(ctx, RefundsOfPayment(self.0.id)).await?.unwrap_or_default();
        let is_under_way = refunds.iter().any(|refund| refund.is(RefundStatus::Requested));
        let refund = if !is_admin {
            Some("only ADMIN may refund".to_owned())
        } else if is_under_way {
            Some("a refund is under way".to_owned())
        } else if self.0.is(PaymentStatus::Completed) {
            None
        } else {
            Some(format!("it is {}; only a COMPLETED payment can be refunded", self.0.status))
        };
        let reconcile = if !is_admin {
            Some("only ADMIN may reconcile".to_owned())
        } else if self.0.is(PaymentStatus::Pending) || self.0.is(PaymentStatus::Failed) {
            None
        } else {
            Some(format!("it is {}; only a PENDING or FAILED payment can be reconciled", self.0.status))
        };
        Ok(vec![
            AvailableAction::new("refundPayment", refund),
            AvailableAction::new("reconcilePayment", reconcile),
        ])
    }
}

/// Which payments. Refunded payments are found under refunds: status REFUNDED here is BAD_USER_INPUT.
#[derive(Debug, Clone, Default, InputObject)]
pub struct PaymentFilter {
    /// In these states.
    pub status: Option<Vec<PaymentStatusEnum>>,
    /// Of this payer.
    pub user_id: Option<ID>,
    /// For this meeting.
    pub meeting_id: Option<ID>,
    /// With this order id.
    pub order_id: Option<String>,
    /// With this payment key.
    pub payment_key: Option<String>,
    /// Of this flow.
    pub flow_id: Option<Uuid>,
    /// Written within.
    pub created_at: Option<TimeRange>,
}

impl PaymentFilter {
    fn read(self) -> Result<payments::PaymentFilter, ApiError> {
        let status = |status| match status {
            PaymentStatusEnum::Pending => Ok(PaymentStatus::Pending),
            PaymentStatusEnum::Completed => Ok(PaymentStatus::Completed),
            PaymentStatusEnum::Failed => Ok(PaymentStatus::Failed),
            PaymentStatusEnum::Refunded => Err(ApiError::bad_user_input(
                ["filter", "status"],
                "Refunded payments are found under refunds, not under payments.",
            )),
        };
        let (from, to) = TimeRange::ends(self.created_at);
        Ok(payments::PaymentFilter {
            status: self.status.map(|several| several.into_iter().map(status).collect()).transpose()?,
            user_id: filter_id("userId", self.user_id.as_ref())?,
            meeting_id: filter_id("meetingId", self.meeting_id.as_ref())?,
            order_id: filter_text("orderId", self.order_id)?,
            payment_key: filter_text("paymentKey", self.payment_key)?,
            flow_id: self.flow_id.map(|flow_id| flow_id.0),
            from,
            to,
        })
    }
}

/// Reads of payments.
#[derive(Default)]
pub struct PaymentQuery;

#[Object]
impl PaymentQuery {
    /// One payment, a refunded one too; null if there is none. Any role.
    async fn payment(&self, ctx: &Context<'_>, id: ID) -> Result<Option<PaymentObject>, ApiError> {
        guard::any_role(ctx)?;
        let id = input::id(&["id"], &id)?;
        let mut conn = Services::of(ctx)?.db.read().await.map_err(input::failed)?;
        let payment = payments::find(&mut conn, id).await.map_err(input::failed)?;
        Ok(payment.map(PaymentObject))
    }

    /// Payments, newest first. ADMIN, OPERATOR.
    async fn payments(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
        filter: Option<PaymentFilter>,
    ) -> Result<Connection<PaymentObject>, ApiError> {
        guard::reader(ctx)?;
        let page = PageArgs { first, after, last, before }.request::<PaymentObject>()?;
        let filter = filter.unwrap_or_default().read()?;
        let db = Services::of(ctx)?.db.clone();
        let mut conn = db.read().await.map_err(input::failed)?;
        let rows =
            payments::list(&mut conn, &filter, &page).await.map_err(|e| input::read_failed(e, INDEXED))?;
        drop(conn);
        let counter: Counter = Box::new(move || {
            let (db, filter) = (db.clone(), filter.clone());
            Box::pin(async move {
                let mut conn = db.read().await.map_err(input::failed)?;
                let counted = payments::count(&mut conn, &filter, COUNT_CAP).await;
                counted.map(input::counted).map_err(|error| input::read_failed(error, INDEXED))
            })
        });
        Ok(Connection::new(rows, PaymentObject, counter))
    }
}

/// A key-in payment.
#[derive(Debug, InputObject)]
pub struct CreateKeyInPaymentInput {
    /// 1 to 255 characters; the same again within 15 days has one effect and the same answer.
    pub idempotency_key: String,
    /// The payer, a positive whole number.
    pub user_id: ID,
    /// What is paid for, a positive whole number.
    pub meeting_id: ID,
    /// What the payer reads on the bill, 1 to 100 characters.
    pub order_name: String,
    /// Whole KRW, from 1 on.
    pub amount: Long,
    /// With what.
    pub card: CardInput,
}

/// Never stored, never logged.
#[derive(InputObject)]
pub struct CardInput {
    /// 12 to 20 digits.
    pub number: String,
    /// Two digits.
    pub expiration_year: String,
    /// Two digits, 01 to 12.
    pub expiration_month: String,
    /// The first two digits of the PIN, where the contract asks for them.
    pub password: Option<String>,
    /// Birth date (6 digits) or business number (10 digits), where the contract asks for it.
    pub identity_number: Option<String>,
}

impl std::fmt::Debug for CardInput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("CardInput(redacted)")
    }
}

impl CreateKeyInPaymentInput {
    fn read(self) -> Result<KeyInInput, UserError> {
        let id = |field: &str, text: &ID| {
            parse_id(text).map_err(|error| UserError::invalid(&[field], format!("{field} {error}")))
        };
        let card = self.card;
        Ok(KeyInInput {
            user_id: id("userId", &self.user_id)?,
            meeting_id: id("meetingId", &self.meeting_id)?,
            amount: Won::new(self.amount.get())
                .map_err(|error| UserError::invalid(&["amount"], error.to_string()))?,
            card: Card::new(
                card.number,
                card.expiration_year,
                card.expiration_month,
                card.password,
                card.identity_number,
            )
            .map_err(|error| UserError::invalid(&["card", error.field], error.message))?,
            idempotency_key: self.idempotency_key,
            order_name: self.order_name,
        })
    }
}

/// What became of a payment's mutation.
#[derive(SimpleObject)]
pub struct PaymentPayload {
    /// The payment; also when it was declined (FAILED) or its outcome is unknown (PENDING).
    pub payment: Option<PaymentObject>,
    /// Whether an earlier request with the same key made it.
    pub replayed: bool,
    /// Why it was refused.
    pub user_errors: Vec<UserError>,
}

impl PaymentPayload {
    fn refused(error: UserError) -> Self {
        Self { payment: None, replayed: false, user_errors: vec![error] }
    }

    fn answered(answer: payments::PaymentAnswer) -> Self {
        let payment = answer.payment;
        let message = || payment.failure_message.clone().unwrap_or_else(|| "the payment failed".to_owned());
        let user_errors = match payment.failure_code.as_deref() {
            None => Vec::new(),
            Some(GATEWAY_MISCONFIGURED) => vec![UserError::new(
                UserErrorCode::GatewayMisconfigured,
                "the payment gateway refuses our configuration; no money moved",
            )],
            Some(_) => vec![UserError::new(UserErrorCode::PaymentDeclined, message())],
        };
        Self { replayed: answer.replayed, user_errors, payment: Some(PaymentObject(payment)) }
    }
}

/// Changes of payments.
#[derive(Default)]
pub struct PaymentMutation;

#[Object]
impl PaymentMutation {
    /// Takes a payment with a card in one call. Declined: the payment is there, FAILED, with PAYMENT_DECLINED. Outcome
    /// unknown: the payment is there, PENDING, without an error. SERVICE, ADMIN. Idempotent by `idempotencyKey` per
    /// caller for 15 days.
    async fn create_key_in_payment(
        &self,
        ctx: &Context<'_>,
        input: CreateKeyInPaymentInput,
    ) -> Result<PaymentPayload, ApiError> {
        let service = guard::service(ctx)?;
        let input = match input.read() {
            Ok(input) => input,
            Err(error) => return Ok(PaymentPayload::refused(error)),
        };
        let services = Services::of(ctx)?;
        let outcome = services.payments.create_key_in(&service, input).await;
        services.payment_watcher.hint();
        match outcome {
            Ok(answer) => Ok(PaymentPayload::answered(answer)),
            Err(error) => refusal(error).map(PaymentPayload::refused),
        }
    }

    /// Asks the provider now how a PENDING payment ended, or whether a FAILED one was approved after all, and finishes
    /// with what it says, as the reconciler would. The payment is answered as it is then, PENDING if the provider does
    /// not know. ADMIN; audited. Safe to repeat.
    async fn reconcile_payment(
        &self,
        ctx: &Context<'_>,
        input: OperatorActionInput,
    ) -> Result<PaymentPayload, ApiError> {
        let admin = guard::admin(ctx)?;
        let (id, reason) = match input.read() {
            Ok(read) => read,
            Err(error) => return Ok(PaymentPayload::refused(error)),
        };
        let services = Services::of(ctx)?;
        let request_id = ctx.data_opt::<RequestId>().map_or("", |request_id| request_id.0.as_str());
        let outcome = services.payments.reconcile_now(&admin, id, reason, request_id).await;
        services.payment_watcher.hint();
        match outcome {
            Ok(payment) => Ok(PaymentPayload {
                payment: Some(PaymentObject(payment)),
                replayed: false,
                user_errors: Vec::new(),
            }),
            Err(error) => not_reconciled(error),
        }
    }
}

fn not_reconciled(error: ReconcileError) -> Result<PaymentPayload, ApiError> {
    let message = error.to_string();
    match error {
        ReconcileError::NotFound(_) => {
            Ok(PaymentPayload::refused(UserError::new(UserErrorCode::NotFound, message)))
        }
        ReconcileError::InvalidState(payment) => Ok(PaymentPayload {
            payment: Some(PaymentObject(*payment)),
            ..PaymentPayload::refused(UserError::new(UserErrorCode::InvalidState, message))
        }),
        ReconcileError::GatewayUnavailable => {
            Ok(PaymentPayload::refused(UserError::new(UserErrorCode::GatewayUnavailable, message)))
        }
        ReconcileError::Database(error) => Err(input::failed(error)),
        ReconcileError::TaskLost => Err(ApiError::internal(error)),
    }
}

fn refusal(error: KeyInError) -> Result<UserError, ApiError> {
    let code = match error {
        KeyInError::InvalidInput { field, message } => return Ok(UserError::invalid(&[field], message)),
        KeyInError::AlreadyPaid => UserErrorCode::AlreadyPaid,
        KeyInError::PaymentInProgress => UserErrorCode::PaymentInProgress,
        KeyInError::MeetingClosed => UserErrorCode::MeetingClosed,
        KeyInError::KeyReused => UserErrorCode::IdempotencyKeyReused,
        KeyInError::RequestInProgress => UserErrorCode::IdempotentRequestInProgress,
        KeyInError::GatewayUnavailable => UserErrorCode::GatewayUnavailable,
        KeyInError::Database(error) => return Err(input::failed(error)),
        KeyInError::TaskLost => return Err(ApiError::internal(error)),
    };
    Ok(UserError::new(code, error.to_string()))
}

/// Live payments.
#[derive(Default)]
pub struct PaymentSubscription;

#[Subscription]
impl PaymentSubscription {
    /// The payment as it is, then each change from any process. Ends after a refund with the snapshot, REFUNDED. ADMIN,
    /// OPERATOR.
    async fn payment_changed(
        &self,
        ctx: &Context<'_>,
        id: ID,
    ) -> Result<impl Stream<Item = PaymentObject> + use<>, ApiError> {
        guard::reader(ctx)?;
        let id = input::id(&["id"], &id)?;
        let services = Services::of(ctx)?;
        let watching = services.payment_watcher.watch(id).await.map_err(input::failed)?;
        let watching = watching.ok_or_else(|| ApiError::not_found("There is no such payment."))?;
        Ok(watch::changes(watching, PaymentObject, |payment| payment.is(PaymentStatus::Refunded)))
    }
}
