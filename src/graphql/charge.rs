//! Charges: object, filter, query.

mod mutation;

use async_graphql::{Context, Enum, ID, InputObject, Object};

use super::{
    charge_job::ChargeJobObject,
    error::ApiError,
    failure::FailureObject,
    guard,
    input::{self, TimeRange, filter_id, filter_text, unknown_value},
    loaders::{self, CallsOf, JobsOfCharge, MemberById},
    member::MemberObject,
    page::{self, Connection, Listed, Node, PageArgs},
    provider_call::ProviderCallObject,
    scalars::{DateTime, Long, Uuid},
    schema::Services,
};
use crate::{
    charges::{self, Charge, ChargePaymentStatus, ChargeStatus, Container},
    db::page::Keyset,
    failures::SubjectType,
    gateways::PaymentGateway,
};

pub use mutation::ChargeMutation;

/// The kind of store that was paid in, and the wallet that it fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "Container", remote = "Container")]
pub enum ContainerEnum {
    /// The web.
    Pg,
    /// Google Play.
    Aos,
    /// Apple's App Store.
    Ios,
}

/// Where a charge is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "PaymentGateway", remote = "PaymentGateway")]
pub enum PaymentGatewayEnum {
    /// The generic payment gateway behind `verify`: Bootpay.
    Pg,
    /// Payverse.
    Payverse,
    /// Hecto Financial.
    Hecto,
    /// Google Play.
    GoogleIap,
    /// Apple's App Store.
    AppleIap,
}

/// What kind of charge it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "ChargeStatus", remote = "ChargeStatus")]
pub enum ChargeStatusEnum {
    /// Bought.
    Charge,
    /// A bonus.
    Event,
}

/// Whether a charge is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "ChargePaymentStatus", remote = "ChargePaymentStatus")]
pub enum ChargePaymentStatusEnum {
    /// Asked for, not known to be paid.
    Request,
    /// Paid and credited.
    Complete,
}

/// Reads a stored container.
pub(super) fn container(stored: &str) -> Result<ContainerEnum, ApiError> {
    Container::parse(stored).map(Into::into).ok_or_else(|| unknown_value("container"))
}

/// Reads a stored gateway.
pub(super) fn payment_gateway(stored: &str) -> Result<PaymentGatewayEnum, ApiError> {
    PaymentGateway::parse(stored).map(Into::into).ok_or_else(|| unknown_value("payment gateway"))
}

/// A charge, as the API shows it.
pub struct ChargeObject(pub Charge);

impl Node for ChargeObject {
    const LIST: &'static str = "charges";

    fn keyset(&self) -> Keyset {
        Keyset { at: self.0.created_at, id: self.0.id }
    }
}

impl Listed for ChargeObject {
    type Filter = charges::ChargeFilter;

    const INDEXED: &'static str =
        "status, paymentStatus, paymentGateway, memberId, orderId, gatewayTransactionId, createdAt";

    fn from_row(row: Charge) -> Self {
        Self(row)
    }
}

/// Can that a member buys, or got as a bonus.
#[Object(name = "Charge")]
impl ChargeObject {
    /// Primary key.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// Who buys.
    async fn member(&self, ctx: &Context<'_>) -> Result<MemberObject, ApiError> {
        MemberObject::load(ctx, MemberById(self.0.member_id)).await
    }

    /// Bought, or a bonus.
    async fn status(&self) -> Result<ChargeStatusEnum, ApiError> {
        ChargeStatus::parse(&self.0.status).map(Into::into).ok_or_else(|| unknown_value("charge status"))
    }

    /// How many packs were bought; can and price are those of all of them.
    async fn quantity(&self) -> i32 {
        self.0.quantity
    }

    /// How much can.
    async fn can(&self) -> Result<Long, ApiError> {
        Long::new(self.0.can).ok_or_else(|| unknown_value("can"))
    }

    /// Which wallet it goes to; follows the gateway.
    async fn container(&self) -> Result<ContainerEnum, ApiError> {
        container(&self.0.container)
    }

    /// Our order id at the gateway; of a bonus, its job's idempotency key.
    async fn order_id(&self) -> &str {
        &self.0.order_id
    }

    /// The product; null for a bonus.
    async fn sku(&self) -> Option<&str> {
        self.0.sku.as_deref()
    }

    /// What the buyer reads.
    async fn title(&self) -> &str {
        &self.0.title
    }

    /// Whole KRW; 0 for a bonus.
    async fn price(&self) -> Result<Long, ApiError> {
        Long::new(self.0.price).ok_or_else(|| unknown_value("price"))
    }

    /// KRW.
    async fn currency(&self) -> &str {
        &self.0.currency
    }

    /// Where it is paid; a bonus has its source's.
    async fn payment_gateway(&self) -> Result<PaymentGatewayEnum, ApiError> {
        payment_gateway(&self.0.payment_gateway)
    }

    /// Whether it is paid.
    async fn payment_status(&self) -> Result<ChargePaymentStatusEnum, ApiError> {
        ChargePaymentStatus::parse(&self.0.payment_status)
            .map(Into::into)
            .ok_or_else(|| unknown_value("payment status"))
    }

    /// How it was paid, in the gateway's words; of a bonus, why it was given.
    async fn method(&self) -> Option<&str> {
        self.0.method.as_deref()
    }

    /// The gateway's id of the purchase that paid it. Google's is a secret, of which the end is shown; the list finds the
    /// charge by the whole of it.
    async fn gateway_transaction_id(&self) -> Option<String> {
        self.0.shown_transaction_id()
    }

    /// Ties everything of one flow together.
    async fn flow_id(&self) -> Uuid {
        Uuid(self.0.flow_id)
    }

    /// When it was credited.
    async fn completed_at(&self) -> Option<DateTime> {
        self.0.completed_at.map(DateTime)
    }

    /// When a Google purchase was consumed, after it was credited.
    async fn consumed_at(&self) -> Option<DateTime> {
        self.0.consumed_at.map(DateTime)
    }

    /// When it was requested.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When it last changed.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }

    /// The bonuses that it has earned, oldest first. ADMIN, OPERATOR.
    async fn jobs(&self, ctx: &Context<'_>) -> Result<Vec<ChargeJobObject>, ApiError> {
        guard::reader(ctx)?;
        let jobs = loaders::load(ctx, JobsOfCharge(self.0.id)).await?.unwrap_or_default();
        Ok(jobs.into_iter().map(ChargeJobObject).collect())
    }

    /// The calls to the gateway, oldest first, the newest hundred. ADMIN, OPERATOR.
    async fn provider_calls(&self, ctx: &Context<'_>) -> Result<Vec<ProviderCallObject>, ApiError> {
        guard::reader(ctx)?;
        let key = CallsOf(SubjectType::Charge, self.0.id);
        let calls = loaders::load(ctx, key).await?.unwrap_or_default();
        Ok(calls.into_iter().map(ProviderCallObject).collect())
    }

    /// What went wrong with it, oldest first, the newest hundred. ADMIN, OPERATOR.
    async fn failures(&self, ctx: &Context<'_>) -> Result<Vec<FailureObject>, ApiError> {
        FailureObject::of_subject(ctx, SubjectType::Charge, self.0.id).await
    }
}

/// Which charges.
#[derive(Debug, Clone, Default, InputObject)]
pub struct ChargeFilter {
    /// Of these kinds.
    pub status: Option<Vec<ChargeStatusEnum>>,
    /// Paid, or not.
    pub payment_status: Option<Vec<ChargePaymentStatusEnum>>,
    /// Through these gateways.
    pub payment_gateway: Option<Vec<PaymentGatewayEnum>>,
    /// Of this member.
    pub member_id: Option<ID>,
    /// With this order id.
    pub order_id: Option<String>,
    /// Paid by this transaction of a gateway.
    pub gateway_transaction_id: Option<String>,
    /// Requested within.
    pub created_at: Option<TimeRange>,
}

fn each<T, U: From<T>>(several: Option<Vec<T>>) -> Option<Vec<U>> {
    several.map(|several| several.into_iter().map(Into::into).collect())
}

impl ChargeFilter {
    fn read(self) -> Result<charges::ChargeFilter, ApiError> {
        let (from, to) = TimeRange::ends(self.created_at);
        Ok(charges::ChargeFilter {
            status: each(self.status),
            payment_status: each(self.payment_status),
            payment_gateway: each(self.payment_gateway),
            member_id: filter_id("memberId", self.member_id.as_ref())?,
            order_id: filter_text("orderId", self.order_id)?,
            gateway_transaction_id: filter_text("gatewayTransactionId", self.gateway_transaction_id)?,
            from,
            to,
        })
    }
}

/// Reads of charges.
#[derive(Default)]
pub struct ChargeQuery;

#[Object]
impl ChargeQuery {
    /// One charge; null if there is none. Any role.
    async fn charge(&self, ctx: &Context<'_>, id: ID) -> Result<Option<ChargeObject>, ApiError> {
        guard::any_role(ctx)?;
        let id = input::id(&["id"], &id)?;
        let mut conn = Services::of(ctx)?.db.read().await.map_err(input::failed)?;
        Ok(charges::find(&mut conn, id).await.map_err(input::failed)?.map(ChargeObject))
    }

    /// Charges, bonuses too, newest first. ADMIN, OPERATOR.
    async fn charges(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
        filter: Option<ChargeFilter>,
    ) -> Result<Connection<ChargeObject>, ApiError> {
        guard::reader(ctx)?;
        let filter = filter.unwrap_or_default().read()?;
        page::connection(ctx, PageArgs { first, after, last, before }, filter).await
    }
}
