//! Outbox events: object, filter, payload, query, mutation, subscription.

use async_graphql::{Context, ID, InputObject, Object, SimpleObject, Subscription};
use futures_util::Stream;

use super::{
    api::RequestId,
    error::ApiError,
    failure::FailureObject,
    guard,
    input::{
        self, AvailableAction, OperatorActionInput, TimeRange, UserError, UserErrorCode, filter_text,
        filter_texts, unknown_value,
    },
    loaders::{self, FailuresOf, PayloadOf},
    page::{self, Connection, Listed, Node, PageArgs},
    publish::{OutboxStatusEnum, PublishAttempt, WaitStateObject, attempts},
    scalars::{DateTime, Json, Uuid},
    schema::Services,
    watch,
};
use crate::{
    auth::Role,
    db::{StoredJson, page::Keyset},
    failures::SubjectType,
    outbox::{self, OutboxEvent, OutboxStatus, RequeueError},
    types::clock,
};

/// An event, as the API shows it.
pub struct OutboxEventObject(pub OutboxEvent);

impl Node for OutboxEventObject {
    const LIST: &'static str = "outboxEvents";

    fn keyset(&self) -> Keyset {
        Keyset { at: self.0.created_at, id: self.0.id }
    }
}

impl Listed for OutboxEventObject {
    type Filter = outbox::OutboxFilter;

    const INDEXED: &'static str = "status, createdAt, eventId, correlationId, flowId, aggregateType with aggregateId, errorCode with status FAILED or DEAD_LETTERED";

    fn from_row(row: OutboxEvent) -> Self {
        Self(row)
    }
}

/// An event on its way to RabbitMQ. ADMIN, OPERATOR.
#[Object(name = "OutboxEvent")]
impl OutboxEventObject {
    /// Primary key.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// The AMQP message id: consumers drop what they have seen.
    async fn event_id(&self) -> Uuid {
        Uuid(self.0.event_id)
    }

    /// The AMQP correlation id.
    async fn correlation_id(&self) -> &str {
        &self.0.correlation_id
    }

    /// Ties everything of one flow together.
    async fn flow_id(&self) -> Uuid {
        Uuid(self.0.flow_id)
    }

    /// Such as PAYMENT_COMPLETED.
    async fn event_type(&self) -> &str {
        &self.0.event_type
    }

    /// What it is about, such as PAYMENT.
    async fn aggregate_type(&self) -> &str {
        &self.0.aggregate_type
    }

    /// The id of what it is about.
    async fn aggregate_id(&self) -> &str {
        &self.0.aggregate_id
    }

    /// Where it is sent.
    async fn exchange(&self) -> &str {
        &self.0.exchange
    }

    /// With which key.
    async fn routing_key(&self) -> &str {
        &self.0.routing_key
    }

    /// The body as written.
    async fn payload(&self, ctx: &Context<'_>) -> Result<Json, ApiError> {
        let payload = loaders::load(ctx, PayloadOf(self.0.id)).await?;
        // Cleaned up since the event was read.
        Ok(Json(payload.map_or(serde_json::Value::Null, |text| StoredJson::of(&text).0)))
    }

    /// The body's text, character by character: `payload` has it as JSON readers understand it, which may round numbers.
    async fn payload_text(&self, ctx: &Context<'_>) -> Result<String, ApiError> {
        Ok(loaders::load(ctx, PayloadOf(self.0.id)).await?.unwrap_or_default())
    }

    /// Where it is on its way.
    async fn status(&self) -> Result<OutboxStatusEnum, ApiError> {
        self.0.state().map(Into::into).ok_or_else(|| unknown_value("outbox status"))
    }

    /// Failed tries since it was written or requeued.
    async fn retry_count(&self) -> i32 {
        self.0.retry_count
    }

    /// Tries with an outcome, ever.
    async fn attempt_count(&self) -> i32 {
        self.0.attempt_count
    }

    /// When it is due again.
    async fn next_retry_at(&self) -> Option<DateTime> {
        self.0.next_retry_at.map(DateTime)
    }

    /// NACKED, UNROUTABLE, EXCHANGE_MISSING, INVALID_MESSAGE, CHANNEL_KILLED, CONNECTION_KILLED or STUCK.
    async fn last_error_code(&self) -> Option<&str> {
        self.0.last_error_code.as_deref()
    }

    /// What went wrong last, in the broker's words.
    async fn last_error(&self) -> Option<&str> {
        self.0.last_error.as_deref()
    }

    /// The process that made the last claim.
    async fn claimed_by(&self) -> Option<&str> {
        self.0.claimed_by.as_deref()
    }

    /// When the last claim was made.
    async fn processing_started_at(&self) -> Option<DateTime> {
        self.0.processing_started_at.map(DateTime)
    }

    /// When the broker confirmed it.
    async fn published_at(&self) -> Option<DateTime> {
        self.0.published_at.map(DateTime)
    }

    /// When it was written.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When it last changed.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }

    /// Every try with its outcome, oldest first, the newest hundred.
    async fn attempts(&self, ctx: &Context<'_>) -> Result<Vec<PublishAttempt>, ApiError> {
        guard::reader(ctx)?;
        let key = FailuresOf(SubjectType::OutboxEvent, self.0.id.to_string());
        let failures = loaders::load(ctx, key).await?.unwrap_or_default();
        Ok(attempts(&self.0, &failures))
    }

    /// Why this row is where it is: backing off until when, claimed by whom since when, broker down, dead-lettered because
    /// of what. Null once it is published.
    async fn waiting_for(&self, ctx: &Context<'_>) -> Result<Option<WaitStateObject>, ApiError> {
        guard::reader(ctx)?;
        let broker = Services::of(ctx)?.gate.broker();
        Ok(outbox::waiting_for(&self.0, &broker, clock::now()).map(WaitStateObject))
    }

    /// What went wrong with it, oldest first, the newest hundred.
    async fn failures(&self, ctx: &Context<'_>) -> Result<Vec<FailureObject>, ApiError> {
        FailureObject::of_subject(ctx, SubjectType::OutboxEvent, self.0.id).await
    }

    /// What the viewer may do to it now, and if not, why.
    async fn available_actions(&self, ctx: &Context<'_>) -> Result<Vec<AvailableAction>, ApiError> {
        let principal = guard::principal(ctx)?;
        let reason = match self.0.state() {
            _ if !principal.has(Role::Admin) => Some("only ADMIN may requeue".to_owned()),
            Some(OutboxStatus::Failed | OutboxStatus::DeadLettered) => None,
            _ => {
                Some(format!("it is {}; only FAILED and DEAD_LETTERED events can be requeued", self.0.status))
            }
        };
        Ok(vec![AvailableAction::new("requeueOutboxEvent", reason)])
    }
}

/// Which events.
#[derive(Debug, Clone, Default, InputObject)]
pub struct OutboxFilter {
    /// In these states.
    pub status: Option<Vec<OutboxStatusEnum>>,
    /// Of these types.
    pub event_type: Option<Vec<String>>,
    /// About this type of thing.
    pub aggregate_type: Option<String>,
    /// About this thing.
    pub aggregate_id: Option<String>,
    /// With this event id.
    pub event_id: Option<Uuid>,
    /// With this correlation id.
    pub correlation_id: Option<String>,
    /// Of this flow.
    pub flow_id: Option<Uuid>,
    /// With these last error codes.
    pub error_code: Option<Vec<String>>,
    /// Written within.
    pub created_at: Option<TimeRange>,
}

impl OutboxFilter {
    fn read(self) -> Result<outbox::OutboxFilter, ApiError> {
        let (from, to) = TimeRange::ends(self.created_at);
        Ok(outbox::OutboxFilter {
            status: self.status.map(|several| several.into_iter().map(Into::into).collect()),
            event_type: filter_texts("eventType", self.event_type)?,
            aggregate_type: filter_text("aggregateType", self.aggregate_type)?,
            aggregate_id: filter_text("aggregateId", self.aggregate_id)?,
            event_id: self.event_id.map(|id| id.0),
            correlation_id: filter_text("correlationId", self.correlation_id)?,
            flow_id: self.flow_id.map(|id| id.0),
            error_code: filter_texts("errorCode", self.error_code)?,
            from,
            to,
        })
    }
}

/// Reads of events.
#[derive(Default)]
pub struct OutboxQuery;

#[Object]
impl OutboxQuery {
    /// One event; null if there is none. ADMIN, OPERATOR.
    async fn outbox_event(&self, ctx: &Context<'_>, id: ID) -> Result<Option<OutboxEventObject>, ApiError> {
        guard::reader(ctx)?;
        let id = input::id(&["id"], &id)?;
        let mut conn = Services::of(ctx)?.db.read().await.map_err(input::failed)?;
        Ok(outbox::find(&mut conn, id).await.map_err(input::failed)?.map(OutboxEventObject))
    }

    /// Events, newest first. ADMIN, OPERATOR.
    async fn outbox_events(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
        filter: Option<OutboxFilter>,
    ) -> Result<Connection<OutboxEventObject>, ApiError> {
        guard::reader(ctx)?;
        let filter = filter.unwrap_or_default().read()?;
        page::connection(ctx, PageArgs { first, after, last, before }, filter).await
    }
}

/// What became of an event's mutation.
#[derive(SimpleObject)]
pub struct OutboxEventPayload {
    /// The event as it is now.
    pub outbox_event: Option<OutboxEventObject>,
    /// Why it was refused.
    pub user_errors: Vec<UserError>,
}

/// Changes of events.
#[derive(Default)]
pub struct OutboxMutation;

#[Object]
impl OutboxMutation {
    /// FAILED or DEAD_LETTERED → PENDING, due now, with its retries anew and the same event id. ADMIN; audited. Of two at
    /// once one wins, the other is told INVALID_STATE.
    async fn requeue_outbox_event(
        &self,
        ctx: &Context<'_>,
        input: OperatorActionInput,
    ) -> Result<OutboxEventPayload, ApiError> {
        let admin = guard::admin(ctx)?;
        let refused = |event, error| Ok(OutboxEventPayload { outbox_event: event, user_errors: vec![error] });
        let (id, reason) = match input.read() {
            Ok(read) => read,
            Err(error) => return refused(None, error),
        };
        let services = Services::of(ctx)?;
        let requeued =
            outbox::requeue(&services.db, &services.outbox, &admin, id, reason, RequestId::of(ctx)).await;
        services.outbox_watcher.hint();
        match requeued {
            Ok(event) => Ok(OutboxEventPayload {
                outbox_event: Some(OutboxEventObject(event)),
                user_errors: Vec::new(),
            }),
            Err(RequeueError::NotFound(id)) => refused(
                None,
                UserError::new(UserErrorCode::NotFound, format!("there is no outbox event {id}")),
            ),
            Err(error @ RequeueError::InvalidState { .. }) => {
                let refusal = UserError::new(UserErrorCode::InvalidState, error.to_string());
                let RequeueError::InvalidState { event, .. } = error else { return refused(None, refusal) };
                refused(Some(OutboxEventObject(*event)), refusal)
            }
            Err(RequeueError::Database(error)) => Err(input::failed(error)),
        }
    }
}

/// Live events.
#[derive(Default)]
pub struct OutboxSubscription;

#[Subscription]
impl OutboxSubscription {
    /// The event as it is, then each change from any process. ADMIN, OPERATOR.
    async fn outbox_event_changed(
        &self,
        ctx: &Context<'_>,
        id: ID,
    ) -> Result<impl Stream<Item = OutboxEventObject> + use<>, ApiError> {
        watch::row(
            ctx,
            ("outbox event", &id),
            |services| &services.outbox_watcher,
            OutboxEventObject,
            watch::never,
        )
        .await
    }
}
