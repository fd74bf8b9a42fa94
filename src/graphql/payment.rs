//! Payments: object, filter, query, subscription.

mod mutation;

use async_graphql::{Context, Enum, ID, InputObject, Object, Subscription};
use futures_util::Stream;

use super::{
    error::ApiError,
    failure::FailureObject,
    guard,
    input::{self, AvailableAction, TimeRange, filter_id, filter_text, unknown_value},
    loaders::{self, CallsOf, EventsOfPayment, RefundsOfPayment},
    outbox_event::OutboxEventObject,
    page::{self, Connection, Listed, Node, PageArgs},
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
    payments::{self, Payment, PaymentStatus, RefundStatus},
};

pub use mutation::PaymentMutation;

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

impl Listed for PaymentObject {
    type Filter = payments::PaymentFilter;

    const INDEXED: &'static str = "status, userId, meetingId, orderId, paymentKey, flowId, createdAt";

    fn from_row(row: Payment) -> Self {
        Self(row)
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
        FailureObject::of_subject(ctx, SubjectType::Payment, self.0.id).await
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
        let filter = filter.unwrap_or_default().read()?;
        page::connection(ctx, PageArgs { first, after, last, before }, filter).await
    }
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
        watch::row(
            ctx,
            ("payment", &id),
            |services| &services.payment_watcher,
            PaymentObject,
            |payment| payment.is(PaymentStatus::Refunded),
        )
        .await
    }
}
