//! Bonus jobs: object, filter, query, subscription.

mod mutation;

use async_graphql::{Context, Enum, ID, InputObject, Object, Subscription};
use futures_util::Stream;

use super::{
    charge::{ChargeObject, ContainerEnum, PaymentGatewayEnum, container, payment_gateway},
    charge_event::ChargeEventObject,
    error::ApiError,
    failure::FailureObject,
    guard,
    input::{self, AvailableAction, TimeRange, filter_id, unknown_value},
    loaders::{self, AnyActivePromotion, ChargeById, MemberById, PromotionById},
    member::MemberObject,
    page::{self, Connection, Listed, Node, PageArgs},
    publish::WaitStateObject,
    scalars::{DateTime, Long, Uuid},
    schema::Services,
    watch,
};
use crate::{
    auth::Role,
    charges::{self, ChargeJob, ChargeJobStatus, ChargeJobType},
    db::page::Keyset,
    failures::SubjectType,
    types::clock,
};

pub use mutation::ChargeJobMutation;

/// What a bonus is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "ChargeJobType", remote = "ChargeJobType")]
pub enum ChargeJobTypeEnum {
    /// The member's first charge.
    FirstCharge,
    /// A promotion.
    ActiveChargeEvent,
}

/// Where a bonus job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "ChargeJobStatus", remote = "ChargeJobStatus")]
pub enum ChargeJobStatusEnum {
    /// It is tried again when it is due.
    Pending,
    /// Somebody grants it.
    Processing,
    /// Granted.
    Done,
    /// Tried enough; needs an operator.
    Failed,
}

/// A bonus job, as the API shows it.
pub struct ChargeJobObject(pub ChargeJob);

impl Node for ChargeJobObject {
    const LIST: &'static str = "chargeJobs";

    fn keyset(&self) -> Keyset {
        Keyset { at: self.0.created_at, id: self.0.id }
    }
}

impl Listed for ChargeJobObject {
    type Filter = charges::ChargeJobFilter;

    const INDEXED: &'static str = "status, memberId, sourceChargeId, chargeEventId, createdAt";

    fn from_row(row: ChargeJob) -> Self {
        Self(row)
    }
}

/// A bonus that a charge has earned, until it is granted.
#[Object(name = "ChargeJob")]
impl ChargeJobObject {
    /// Primary key.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// The charge that earned it.
    async fn source_charge_id(&self) -> ID {
        self.0.source_charge_id.into()
    }

    /// The bonus charge, once granted.
    async fn result_charge_id(&self) -> Option<ID> {
        self.0.result_charge_id.map(ID::from)
    }

    /// Who gets it.
    async fn member_id(&self) -> ID {
        self.0.member_id.into()
    }

    /// The promotion; null for the first charge.
    async fn charge_event_id(&self) -> Option<ID> {
        self.0.charge_event_id.map(ID::from)
    }

    /// What it is for.
    async fn job_type(&self) -> Result<ChargeJobTypeEnum, ApiError> {
        ChargeJobType::parse(&self.0.job_type).map(Into::into).ok_or_else(|| unknown_value("job type"))
    }

    /// One per charge and reason; the bonus charge's order id.
    async fn idempotency_key(&self) -> &str {
        &self.0.idempotency_key
    }

    /// How much, as decided when the charge was completed.
    async fn additional_can(&self) -> Result<Long, ApiError> {
        Long::new(self.0.additional_can).ok_or_else(|| unknown_value("can"))
    }

    /// The source charge's gateway.
    async fn payment_gateway(&self) -> Result<PaymentGatewayEnum, ApiError> {
        payment_gateway(&self.0.payment_gateway)
    }

    /// Which wallet it goes to.
    async fn container(&self) -> Result<ContainerEnum, ApiError> {
        container(&self.0.container)
    }

    /// The reason, as the bonus charge shows it.
    async fn method_snapshot(&self) -> &str {
        &self.0.method_snapshot
    }

    /// Where it stands.
    async fn status(&self) -> Result<ChargeJobStatusEnum, ApiError> {
        ChargeJobStatus::parse(&self.0.status).map(Into::into).ok_or_else(|| unknown_value("job status"))
    }

    /// Failed retries since it was earned, or retried by an operator.
    async fn retry_count(&self) -> i32 {
        self.0.retry_count
    }

    /// When it is due.
    async fn next_retry_at(&self) -> Option<DateTime> {
        self.0.next_retry_at.map(DateTime)
    }

    /// When it was last claimed.
    async fn processing_started_at(&self) -> Option<DateTime> {
        self.0.processing_started_at.map(DateTime)
    }

    /// When it was granted.
    async fn processed_at(&self) -> Option<DateTime> {
        self.0.processed_at.map(DateTime)
    }

    /// Why the last try failed.
    async fn last_error(&self) -> Option<&str> {
        self.0.last_error.as_deref()
    }

    /// Ties everything of one flow together.
    async fn flow_id(&self) -> Uuid {
        Uuid(self.0.flow_id)
    }

    /// When it was earned.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When it last changed.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }

    /// The charge that earned it.
    async fn source_charge(&self, ctx: &Context<'_>) -> Result<ChargeObject, ApiError> {
        let found = loaders::load(ctx, ChargeById(self.0.source_charge_id)).await?;
        found.map(ChargeObject).ok_or_else(|| ApiError::internal("a job of a charge that is not there"))
    }

    /// The bonus charge, once granted.
    async fn result_charge(&self, ctx: &Context<'_>) -> Result<Option<ChargeObject>, ApiError> {
        let Some(id) = self.0.result_charge_id else { return Ok(None) };
        Ok(loaders::load(ctx, ChargeById(id)).await?.map(ChargeObject))
    }

    /// Who gets it.
    async fn member(&self, ctx: &Context<'_>) -> Result<MemberObject, ApiError> {
        MemberObject::load(ctx, MemberById(self.0.member_id)).await
    }

    /// The promotion as it is now; null for the first charge.
    async fn charge_event(&self, ctx: &Context<'_>) -> Result<Option<ChargeEventObject>, ApiError> {
        let Some(id) = self.0.charge_event_id else { return Ok(None) };
        Ok(loaders::load(ctx, PromotionById(id)).await?.map(ChargeEventObject))
    }

    /// Why it is where it is; null once it is DONE.
    async fn waiting_for(&self, ctx: &Context<'_>) -> Result<Option<WaitStateObject>, ApiError> {
        guard::reader(ctx)?;
        let first_charge_percent = Services::of(ctx)?.charges.first_charge_percent();
        let is_active =
            loaders::load(ctx, AnyActivePromotion(first_charge_percent)).await?.unwrap_or_default();
        Ok(charges::job_waits_for(&self.0, is_active, clock::now()).map(WaitStateObject))
    }

    /// What went wrong with it, oldest first, the newest hundred.
    async fn failures(&self, ctx: &Context<'_>) -> Result<Vec<FailureObject>, ApiError> {
        FailureObject::of_subject(ctx, SubjectType::ChargeJob, self.0.id).await
    }

    /// What the viewer may do to it now, and if not, why.
    async fn available_actions(&self, ctx: &Context<'_>) -> Result<Vec<AvailableAction>, ApiError> {
        guard::reader(ctx)?;
        let reason = if !guard::principal(ctx)?.has(Role::Admin) {
            Some("only ADMIN may retry".to_owned())
        } else if self.0.is(ChargeJobStatus::Failed) {
            None
        } else {
            Some(format!("it is {}; only a FAILED job can be retried", self.0.status))
        };
        Ok(vec![AvailableAction::new("retryChargeJob", reason)])
    }
}

/// Which jobs. Without `status`, everything but DONE and PROCESSING: what waits for a retry and what needs a person.
#[derive(Debug, Clone, Default, InputObject)]
pub struct ChargeJobFilter {
    /// In these states.
    pub status: Option<Vec<ChargeJobStatusEnum>>,
    /// Of these types.
    pub job_type: Option<Vec<ChargeJobTypeEnum>>,
    /// For this member.
    pub member_id: Option<ID>,
    /// Earned by this charge.
    pub source_charge_id: Option<ID>,
    /// Earned by this promotion.
    pub charge_event_id: Option<ID>,
    /// Earned within.
    pub created_at: Option<TimeRange>,
}

impl ChargeJobFilter {
    fn read(self) -> Result<charges::ChargeJobFilter, ApiError> {
        let (from, to) = TimeRange::ends(self.created_at);
        Ok(charges::ChargeJobFilter {
            status: self.status.map(|several| several.into_iter().map(Into::into).collect()),
            job_type: self.job_type.map(|several| several.into_iter().map(Into::into).collect()),
            member_id: filter_id("memberId", self.member_id.as_ref())?,
            source_charge_id: filter_id("sourceChargeId", self.source_charge_id.as_ref())?,
            charge_event_id: filter_id("chargeEventId", self.charge_event_id.as_ref())?,
            from,
            to,
        })
    }
}

/// Reads of bonus jobs.
#[derive(Default)]
pub struct ChargeJobQuery;

#[Object]
impl ChargeJobQuery {
    /// One bonus job; null if there is none. ADMIN, OPERATOR.
    async fn charge_job(&self, ctx: &Context<'_>, id: ID) -> Result<Option<ChargeJobObject>, ApiError> {
        guard::reader(ctx)?;
        let id = input::id(&["id"], &id)?;
        let mut conn = Services::of(ctx)?.db.read().await.map_err(input::failed)?;
        Ok(charges::find_job(&mut conn, id).await.map_err(input::failed)?.map(ChargeJobObject))
    }

    /// Bonus jobs, newest first; without a status, those that wait for a retry or need a person. ADMIN, OPERATOR.
    async fn charge_jobs(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
        filter: Option<ChargeJobFilter>,
    ) -> Result<Connection<ChargeJobObject>, ApiError> {
        guard::reader(ctx)?;
        let filter = filter.unwrap_or_default().read()?;
        page::connection(ctx, PageArgs { first, after, last, before }, filter).await
    }
}

/// Live bonus jobs.
#[derive(Default)]
pub struct ChargeJobSubscription;

#[Subscription]
impl ChargeJobSubscription {
    /// The job as it is, then each change from any process. ADMIN, OPERATOR.
    async fn charge_job_changed(
        &self,
        ctx: &Context<'_>,
        id: ID,
    ) -> Result<impl Stream<Item = ChargeJobObject> + use<>, ApiError> {
        watch::row(
            ctx,
            ("charge job", &id),
            |services| &services.charge_job_watcher,
            ChargeJobObject,
            watch::never,
        )
        .await
    }
}
