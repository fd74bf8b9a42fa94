//! Failures: object, filter, query, and the live feed.

use async_graphql::{Context, Enum, ID, InputObject, Object, SimpleObject, Subscription, Union};
use futures_util::{Stream, StreamExt};

use super::{
    charge::ChargeObject,
    charge_job::ChargeJobObject,
    error::ApiError,
    guard,
    inbound_dead_letter::InboundDeadLetterObject,
    input::{self, TimeRange, filter_text, filter_texts, unknown_value},
    loaders::{
        self, ChargeById, ChargeJobById, DeadLetterById, EventById, FailuresOf, PaymentById, RefundById,
    },
    outbox_event::OutboxEventObject,
    page::{self, Connection, Listed, Node, PageArgs},
    payment::PaymentObject,
    refund::RefundObject,
    scalars::{DateTime, Json, Uuid},
    schema::Services,
};
use crate::{
    db::page::Keyset,
    failures::{self, Failure, FailureKind, FeedItem, Severity, SubjectType},
};

/// What kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "FailureKind", remote = "FailureKind")]
pub enum FailureKindEnum {
    /// A try to publish an event failed; it is tried again.
    OutboxFailed,
    /// The last try to publish an event failed.
    OutboxDeadLettered,
    /// A bonus could not be granted; it is tried again.
    ChargeJobRetry,
    /// A bonus could not be granted for good.
    ChargeJobFailed,
    /// The provider refused a refund for good.
    RefundFailed,
    /// Whether a refund was made is unknown.
    RefundUnknown,
    /// A payment was declined.
    PaymentFailed,
    /// Whether a payment was made is unknown.
    PaymentUnknown,
    /// An approval came too late and was cancelled.
    PaymentVoided,
    /// A purchase was paid but does not match ours.
    ChargeMismatch,
    /// Somebody paid twice for one charge.
    DuplicatePurchase,
    /// A gateway took a purchase back.
    PurchaseReversed,
    /// A gateway refuses our key or contract.
    GatewayMisconfigured,
    /// A message could not be consumed.
    InboundDeadLettered,
    /// A process died while it held something, and another took it over.
    StuckRecovered,
    /// The broker cannot be reached, or takes no messages.
    BrokerUnavailable,
    /// A background task panicked.
    WorkerCrashed,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "Severity", remote = "Severity")]
pub enum SeverityEnum {
    /// Worth knowing.
    Info,
    /// It is being retried.
    Warning,
    /// A person must act.
    Critical,
}

/// What a failure happened to.
#[derive(Union)]
pub enum FailureSubject {
    /// An event.
    OutboxEvent(OutboxEventObject),
    /// A payment.
    Payment(PaymentObject),
    /// A message that could not be consumed.
    InboundDeadLetter(InboundDeadLetterObject),
    /// A refund.
    Refund(RefundObject),
    /// A charge.
    Charge(ChargeObject),
    /// A bonus that a charge has earned.
    ChargeJob(ChargeJobObject),
}

/// A failure, as the API shows it.
pub struct FailureObject(pub Failure);

impl FailureObject {
    /// What went wrong with a subject, oldest first, the newest hundred.
    pub async fn of_subject(
        ctx: &Context<'_>,
        subject_type: SubjectType,
        id: i64,
    ) -> Result<Vec<Self>, ApiError> {
        guard::reader(ctx)?;
        let failures = loaders::load(ctx, FailuresOf(subject_type, id.to_string())).await?;
        Ok(failures.unwrap_or_default().into_iter().map(Self).collect())
    }
}

impl Node for FailureObject {
    const LIST: &'static str = "failures";

    fn keyset(&self) -> Keyset {
        Keyset { at: self.0.occurred_at, id: self.0.position.unwrap_or_default() }
    }
}

impl Listed for FailureObject {
    type Filter = failures::FailureFilter;

    const INDEXED: &'static str = "kind, severity, code, subjectType with subjectId, occurredAt";

    fn from_row(row: Failure) -> Self {
        Self(row)
    }
}

/// Something that went wrong. Append-only.
#[Object(name = "Failure")]
impl FailureObject {
    /// Primary key.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// What kind.
    async fn kind(&self) -> Result<FailureKindEnum, ApiError> {
        FailureKind::parse(&self.0.kind).map(Into::into).ok_or_else(|| unknown_value("failure kind"))
    }

    /// How bad.
    async fn severity(&self) -> Result<SeverityEnum, ApiError> {
        Severity::parse(&self.0.severity).map(Into::into).ok_or_else(|| unknown_value("severity"))
    }

    /// For machines.
    async fn code(&self) -> &str {
        &self.0.code
    }

    /// For people.
    async fn message(&self) -> &str {
        &self.0.message
    }

    /// Number of the try, from 1.
    async fn attempt(&self) -> i32 {
        self.0.attempt
    }

    /// PAYMENT, REFUND, OUTBOX_EVENT, WORKER, BROKER, …
    async fn subject_type(&self) -> &str {
        &self.0.subject_type
    }

    /// The subject's id.
    async fn subject_id(&self) -> &str {
        &self.0.subject_id
    }

    /// What it happened to. Null once the subject was cleaned up.
    async fn subject(&self, ctx: &Context<'_>) -> Result<Option<FailureSubject>, ApiError> {
        guard::reader(ctx)?;
        let Ok(id) = self.0.subject_id.parse::<i64>() else { return Ok(None) };
        Ok(match SubjectType::parse(&self.0.subject_type) {
            Some(SubjectType::OutboxEvent) => loaders::load(ctx, EventById(id))
                .await?
                .map(|row| FailureSubject::OutboxEvent(OutboxEventObject(row))),
            Some(SubjectType::Payment) => loaders::load(ctx, PaymentById(id))
                .await?
                .map(|row| FailureSubject::Payment(PaymentObject(row))),
            Some(SubjectType::InboundDeadLetter) => loaders::load(ctx, DeadLetterById(id))
                .await?
                .map(|row| FailureSubject::InboundDeadLetter(InboundDeadLetterObject(row))),
            Some(SubjectType::Refund) => {
                loaders::load(ctx, RefundById(id)).await?.map(|row| FailureSubject::Refund(RefundObject(row)))
            }
            Some(SubjectType::Charge) => {
                loaders::load(ctx, ChargeById(id)).await?.map(|row| FailureSubject::Charge(ChargeObject(row)))
            }
            Some(SubjectType::ChargeJob) => loaders::load(ctx, ChargeJobById(id))
                .await?
                .map(|row| FailureSubject::ChargeJob(ChargeJobObject(row))),
            Some(
                SubjectType::Member
                | SubjectType::ChargeEvent
                | SubjectType::CanProduct
                | SubjectType::Worker
                | SubjectType::Broker,
            )
            | None => None,
        })
    }

    /// The flow that it belongs to.
    async fn flow_id(&self) -> Option<Uuid> {
        self.0.flow_id.map(Uuid)
    }

    /// Trigger, worker, outcome and times of the try.
    async fn detail(&self) -> Option<Json> {
        self.0.detail.clone().map(|detail| Json(detail.0))
    }

    /// When.
    async fn occurred_at(&self) -> DateTime {
        DateTime(self.0.occurred_at)
    }

    /// Position in the feed: pass it as `after`.
    async fn cursor(&self) -> String {
        self.0.position.unwrap_or_default().to_string()
    }
}

/// Which failures.
#[derive(Debug, Clone, Default, InputObject)]
pub struct FailureFilter {
    /// Of these kinds.
    pub kind: Option<Vec<FailureKindEnum>>,
    /// Of these severities.
    pub severity: Option<Vec<SeverityEnum>>,
    /// Of subjects of this type.
    pub subject_type: Option<String>,
    /// Of this subject.
    pub subject_id: Option<String>,
    /// With these codes.
    pub code: Option<Vec<String>>,
    /// Occurred within.
    pub occurred_at: Option<TimeRange>,
}

impl FailureFilter {
    fn read(self) -> Result<failures::FailureFilter, ApiError> {
        let (from, to) = TimeRange::ends(self.occurred_at);
        Ok(failures::FailureFilter {
            kind: self.kind.map(|kinds| kinds.into_iter().map(Into::into).collect()),
            severity: self.severity.map(|severities| severities.into_iter().map(Into::into).collect()),
            subject_type: filter_text("subjectType", self.subject_type)?,
            subject_id: filter_text("subjectId", self.subject_id)?,
            code: filter_texts("code", self.code)?,
            from,
            to,
            group: None,
        })
    }
}

/// Reads of failures.
#[derive(Default)]
pub struct FailureQuery;

#[Object]
impl FailureQuery {
    /// The failure feed as a list, newest first, in feed order. ADMIN, OPERATOR.
    async fn failures(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
        filter: Option<FailureFilter>,
    ) -> Result<Connection<FailureObject>, ApiError> {
        guard::reader(ctx)?;
        let filter = filter.unwrap_or_default().read()?;
        page::connection(ctx, PageArgs { first, after, last, before }, filter).await
    }
}

/// What the live feed brings.
#[derive(SimpleObject)]
pub struct FailureFeedItem {
    /// The next failure.
    pub failure: Option<FailureObject>,
    /// Tells a slow reader that it was cut off; it subscribes again after its last cursor.
    pub lagged: bool,
}

/// Live failures.
#[derive(Default)]
pub struct FailureSubscription;

#[Subscription]
impl FailureSubscription {
    /// Replays what came after the cursor, then goes on live: no gap, no repeat, from every process. Without `after`
    /// only what comes from now on. ADMIN, OPERATOR.
    async fn failures(
        &self,
        ctx: &Context<'_>,
        filter: Option<FailureFilter>,
        after: Option<String>,
    ) -> Result<impl Stream<Item = Result<FailureFeedItem, ApiError>> + use<>, ApiError> {
        guard::reader(ctx)?;
        let filter = filter.unwrap_or_default().read()?;
        let feed = &Services::of(ctx)?.feed;
        let last = feed.last_position().await.map_err(input::failed)?;
        let after = match after {
            None => last,
            Some(cursor) => {
                let position = cursor.parse::<i64>().ok().filter(|position| (0..=last).contains(position));
                let wrong = || ApiError::bad_user_input(["after"], "after must be the cursor of a failure.");
                position.ok_or_else(wrong)?
            }
        };
        let items = feed.subscribe(after, filter);
        Ok(items.map(|item| match item {
            Ok(FeedItem::Failure(failure)) => {
                let failure = Some(FailureObject(Failure::clone(&failure)));
                Ok(FailureFeedItem { failure, lagged: false })
            }
            Ok(FeedItem::Lagged) => Ok(FailureFeedItem { failure: None, lagged: true }),
            Err(error) => Err(input::failed(error)),
        }))
    }
}
