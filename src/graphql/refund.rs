//! Refunds: object, filter, query, subscription.

mod mutation;

use async_graphql::{Context, Enum, ID, InputObject, Object, Subscription};
use futures_util::Stream;

use super::{
    error::ApiError,
    failure::FailureObject,
    guard,
    input::{self, AvailableAction, TimeRange, filter_id, filter_texts, unknown_value},
    loaders::{self, CallsOf, EventsOfPayment, PaymentById},
    outbox_event::OutboxEventObject,
    page::{self, Connection, Listed, Node, PageArgs},
    payment::PaymentObject,
    provider_call::ProviderCallObject,
    publish::WaitStateObject,
    scalars::{DateTime, Long, Uuid},
    schema::Services,
    watch,
};
use crate::{
    auth::Role,
    db::page::Keyset,
    failures::SubjectType,
    payments::{self, Refund, RefundSource, RefundStatus},
};

pub use mutation::RefundMutation;

/// Where a refund stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "RefundStatus", remote = "RefundStatus")]
pub enum RefundStatusEnum {
    /// Asked for; the outcome is not known yet.
    Requested,
    /// The money went back.
    Completed,
    /// The provider refused for good; the payment stays COMPLETED.
    Failed,
}

/// What asked for a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "RefundSource", remote = "RefundSource")]
pub enum RefundSourceEnum {
    /// Another service, through the API.
    Api,
    /// A participant who cancelled.
    ParticipantCancel,
    /// A meeting that was deleted.
    MeetingDeleted,
    /// An operator.
    Operator,
}

/// A refund, as the API shows it.
pub struct RefundObject(pub Refund);

impl Node for RefundObject {
    const LIST: &'static str = "refunds";

    fn keyset(&self) -> Keyset {
        Keyset { at: self.0.created_at, id: self.0.id }
    }
}

impl Listed for RefundObject {
    type Filter = payments::RefundFilter;

    const INDEXED: &'static str =
        "status, userId, meetingId, paymentId, flowId, createdAt, failureCode with status FAILED";

    fn from_row(row: Refund) -> Self {
        Self(row)
    }
}

/// One try to give the money of a payment back. Kept for ever.
#[Object(name = "Refund")]
impl RefundObject {
    /// Primary key.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// The payment that it gives back.
    async fn payment_id(&self) -> ID {
        self.0.payment_id.into()
    }

    /// The payment as it was; the row itself is gone once refunded.
    async fn payment(&self, ctx: &Context<'_>) -> Result<PaymentObject, ApiError> {
        if !self.0.is(RefundStatus::Completed)
            && let Some(payment) = loaders::load(ctx, PaymentById(self.0.payment_id)).await?
        {
            return Ok(PaymentObject(payment));
        }
        self.0.payment().map(PaymentObject).map_err(ApiError::internal)
    }

    /// The payer.
    async fn user_id(&self) -> ID {
        self.0.user_id.into()
    }

    /// What was paid for.
    async fn meeting_id(&self) -> ID {
        self.0.meeting_id.into()
    }

    /// Whole KRW: all of the payment.
    async fn amount(&self) -> Result<Long, ApiError> {
        Long::new(self.0.amount).ok_or_else(|| unknown_value("amount"))
    }

    /// Why.
    async fn reason(&self) -> &str {
        &self.0.reason
    }

    /// The token's subject, or the user that a service acted for.
    async fn requested_by(&self) -> &str {
        &self.0.requested_by
    }

    /// What asked for it.
    async fn source(&self) -> Result<RefundSourceEnum, ApiError> {
        RefundSource::parse(&self.0.source).map(Into::into).ok_or_else(|| unknown_value("refund source"))
    }

    /// Where it stands.
    async fn status(&self) -> Result<RefundStatusEnum, ApiError> {
        RefundStatus::parse(&self.0.status).map(Into::into).ok_or_else(|| unknown_value("refund status"))
    }

    /// The provider's id of the cancel.
    async fn provider_transaction_key(&self) -> Option<&str> {
        self.0.provider_transaction_key.as_deref()
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

    /// Cancels that the provider was asked for, ever.
    async fn attempt_count(&self) -> i32 {
        self.0.attempt_count
    }

    /// When it was written.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When the money had gone back.
    async fn completed_at(&self) -> Option<DateTime> {
        self.0.completed_at.map(DateTime)
    }

    /// When it last changed.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }

    /// The event that tells of it, once it is COMPLETED. ADMIN, OPERATOR.
    async fn outbox_events(&self, ctx: &Context<'_>) -> Result<Vec<OutboxEventObject>, ApiError> {
        guard::reader(ctx)?;
        if !self.0.is(RefundStatus::Completed) {
            return Ok(Vec::new());
        }
        // A payment is given back once: its event is this refund's.
        let events = loaders::load(ctx, EventsOfPayment(self.0.payment_id)).await?.unwrap_or_default();
        let refunded = events.into_iter().filter(|event| event.event_type == "PAYMENT_REFUNDED");
        Ok(refunded.map(OutboxEventObject).collect())
    }

    /// The calls to the provider, oldest first, the newest hundred. ADMIN, OPERATOR.
    async fn provider_calls(&self, ctx: &Context<'_>) -> Result<Vec<ProviderCallObject>, ApiError> {
        guard::reader(ctx)?;
        let key = CallsOf(SubjectType::Refund, self.0.id);
        let calls = loaders::load(ctx, key).await?.unwrap_or_default();
        Ok(calls.into_iter().map(ProviderCallObject).collect())
    }

    /// What went wrong with it, oldest first, the newest hundred. ADMIN, OPERATOR.
    async fn failures(&self, ctx: &Context<'_>) -> Result<Vec<FailureObject>, ApiError> {
        FailureObject::of_subject(ctx, SubjectType::Refund, self.0.id).await
    }

    /// Why it is where it is: the provider did not say how it ended, and is asked next when; or it needs an operator.
    /// Null once it is COMPLETED. ADMIN, OPERATOR.
    async fn waiting_for(&self, ctx: &Context<'_>) -> Result<Option<WaitStateObject>, ApiError> {
        guard::reader(ctx)?;
        let first_look = Services::of(ctx)?.payments.first_look(self.0.requested_at);
        Ok(payments::refund_waits_for(&self.0, first_look).map(WaitStateObject))
    }

    /// What the viewer may do to it now, and if not, why. ADMIN, OPERATOR.
    async fn available_actions(&self, ctx: &Context<'_>) -> Result<Vec<AvailableAction>, ApiError> {
        guard::reader(ctx)?;
        let reason = if !guard::principal(ctx)?.has(Role::Admin) {
            Some("only ADMIN may retry".to_owned())
        } else if self.0.is(RefundStatus::Failed) {
            None
        } else {
            Some(format!("it is {}; only a FAILED refund can be retried", self.0.status))
        };
        Ok(vec![AvailableAction::new("retryRefund", reason)])
    }
}

/// Which refunds.
#[derive(Debug, Clone, Default, InputObject)]
pub struct RefundFilter {
    /// In these states.
    pub status: Option<Vec<RefundStatusEnum>>,
    /// Asked for by these.
    pub source: Option<Vec<RefundSourceEnum>>,
    /// Of this payer.
    pub user_id: Option<ID>,
    /// For this meeting.
    pub meeting_id: Option<ID>,
    /// Of this payment.
    pub payment_id: Option<ID>,
    /// With these failure codes.
    pub failure_code: Option<Vec<String>>,
    /// Of this flow.
    pub flow_id: Option<Uuid>,
    /// Written within.
    pub created_at: Option<TimeRange>,
}

impl RefundFilter {
    fn read(self) -> Result<payments::RefundFilter, ApiError> {
        let (from, to) = TimeRange::ends(self.created_at);
        Ok(payments::RefundFilter {
            status: self.status.map(|several| several.into_iter().map(Into::into).collect()),
            source: self.source.map(|several| several.into_iter().map(Into::into).collect()),
            user_id: filter_id("userId", self.user_id.as_ref())?,
            meeting_id: filter_id("meetingId", self.meeting_id.as_ref())?,
            payment_id: filter_id("paymentId", self.payment_id.as_ref())?,
            failure_code: filter_texts("failureCode", self.failure_code)?,
            flow_id: self.flow_id.map(|flow_id| flow_id.0),
            from,
            to,
        })
    }
}

/// Reads of refunds.
#[derive(Default)]
pub struct RefundQuery;

#[Object]
impl RefundQuery {
    /// One refund; null if there is none. Any role.
    async fn refund(&self, ctx: &Context<'_>, id: ID) -> Result<Option<RefundObject>, ApiError> {
        guard::any_role(ctx)?;
        let id = input::id(&["id"], &id)?;
        let mut conn = Services::of(ctx)?.db.read().await.map_err(input::failed)?;
        Ok(payments::find_refund(&mut conn, id).await.map_err(input::failed)?.map(RefundObject))
    }

    /// Refunds, newest first. ADMIN, OPERATOR.
    async fn refunds(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
        filter: Option<RefundFilter>,
    ) -> Result<Connection<RefundObject>, ApiError> {
        guard::reader(ctx)?;
        let filter = filter.unwrap_or_default().read()?;
        page::connection(ctx, PageArgs { first, after, last, before }, filter).await
    }
}

/// Live refunds.
#[derive(Default)]
pub struct RefundSubscription;

#[Subscription]
impl RefundSubscription {
    /// The refund as it is, then each change from any process. ADMIN, OPERATOR.
    async fn refund_changed(
        &self,
        ctx: &Context<'_>,
        id: ID,
    ) -> Result<impl Stream<Item = RefundObject> + use<>, ApiError> {
        watch::row(ctx, ("refund", &id), |services| &services.refund_watcher, RefundObject, watch::never)
            .await
    }
}
