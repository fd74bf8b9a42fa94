//! Inbound dead letters: object, payload, query, mutations.

use async_graphql::{Context, Enum, ID, Object, SimpleObject};
use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    api::RequestId,
    bodies::{self, Form},
    error::ApiError,
    failure::FailureObject,
    guard,
    input::{self, AvailableAction, OperatorActionInput, UserError, UserErrorCode, unknown_value},
    page::{self, Connection, Listed, Node, PageArgs},
    scalars::{DateTime, Json, Uuid},
    schema::Services,
};
use crate::{
    auth::Role,
    db::page::Keyset,
    failures::SubjectType,
    inbox::{self, DeadLetterFilter, DeadLetterStatus, ErrorClass, InboundDeadLetter, ReplayError},
    types::clock,
};

/// What became of a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "InboundDeadLetterStatus", remote = "DeadLetterStatus")]
pub enum InboundDeadLetterStatus {
    /// It waits for an operator.
    Open,
    /// A replay carried it out.
    Replayed,
    /// An operator gave it up.
    Discarded,
}

/// A dead letter, as the API shows it.
pub struct InboundDeadLetterObject(pub InboundDeadLetter);

impl Node for InboundDeadLetterObject {
    const LIST: &'static str = "inboundDeadLetters";

    fn keyset(&self) -> Keyset {
        Keyset { at: self.0.received_at, id: self.0.id }
    }
}

impl Listed for InboundDeadLetterObject {
    type Filter = DeadLetterFilter;

    const INDEXED: &'static str = "status";

    fn from_row(row: InboundDeadLetter) -> Self {
        Self(row)
    }
}

/// A message that could not be consumed, as it came. ADMIN, OPERATOR.
#[Object(name = "InboundDeadLetter")]
impl InboundDeadLetterObject {
    /// Primary key.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// The queue that it came from, without the deployment's prefix.
    async fn queue(&self) -> &str {
        &self.0.queue
    }

    /// Its eventId, as far as one could be read; else its AMQP message id.
    async fn event_id(&self) -> Option<&str> {
        self.0.event_id.as_deref()
    }

    /// Null when the bytes are not UTF-8.
    async fn body_text(&self, ctx: &Context<'_>) -> Result<Option<String>, ApiError> {
        let body = bodies::load(ctx, self.0.id, Form::Text).await?.unwrap_or_default();
        Ok(std::str::from_utf8(&body).ok().map(str::to_owned))
    }

    /// The bytes, whatever they are.
    async fn body_base64(&self, ctx: &Context<'_>) -> Result<String, ApiError> {
        let body = bodies::load(ctx, self.0.id, Form::Base64).await?.unwrap_or_default();
        Ok(STANDARD.encode(&body))
    }

    /// The AMQP headers.
    async fn headers(&self) -> Json {
        Json(self.0.headers.clone())
    }

    /// DATA: the message is wrong. SYSTEM: it may be right, and what it asks for could not be done.
    async fn error_class(&self) -> &str {
        &self.0.error_class
    }

    /// What was wrong, for machines.
    async fn error_code(&self) -> &str {
        &self.0.error_code
    }

    /// What was wrong, for people.
    async fn error(&self) -> &str {
        &self.0.error
    }

    /// What became of it.
    async fn status(&self) -> Result<InboundDeadLetterStatus, ApiError> {
        let known = DeadLetterStatus::parse(&self.0.status).map(Into::into);
        known.ok_or_else(|| unknown_value("dead letter status"))
    }

    /// Ties everything of one flow together; null when the message could not even be read.
    async fn flow_id(&self) -> Option<Uuid> {
        self.0.flow_id.map(Uuid)
    }

    /// When it was kept.
    async fn received_at(&self) -> DateTime {
        DateTime(self.0.received_at)
    }

    /// When it last changed.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }

    /// What went wrong with it, oldest first, the newest hundred: its first failure and each failed replay.
    async fn failures(&self, ctx: &Context<'_>) -> Result<Vec<FailureObject>, ApiError> {
        FailureObject::of_subject(ctx, SubjectType::InboundDeadLetter, self.0.id).await
    }

    /// What the viewer may do to it now, and if not, why.
    async fn available_actions(&self, ctx: &Context<'_>) -> Result<Vec<AvailableAction>, ApiError> {
        let admin = guard::principal(ctx)?.has(Role::Admin);
        let replaying = self.0.replaying_until.is_some_and(|until| until > clock::now());
        let reason = |what: &str| match self.0.status.as_str() {
            _ if !admin => Some(format!("only ADMIN may {what}")),
            "OPEN" if replaying => Some("it is being replayed now".to_owned()),
            "OPEN" => None,
            status => Some(format!("it is {status}; only OPEN ones can be {what}ed")),
        };
        Ok(vec![
            AvailableAction::new("replayInboundDeadLetter", reason("replay")),
            AvailableAction::new("discardInboundDeadLetter", reason("discard")),
        ])
    }
}

/// Reads of dead letters.
#[derive(Default)]
pub struct InboundDeadLetterQuery;

#[Object]
impl InboundDeadLetterQuery {
    /// One message that could not be consumed; null if there is none. ADMIN, OPERATOR.
    async fn inbound_dead_letter(
        &self,
        ctx: &Context<'_>,
        id: ID,
    ) -> Result<Option<InboundDeadLetterObject>, ApiError> {
        guard::reader(ctx)?;
        let id = input::id(&["id"], &id)?;
        let mut conn = Services::of(ctx)?.db.read().await.map_err(input::failed)?;
        let found = inbox::by_ids(&mut conn, &[id]).await.map_err(input::failed)?;
        Ok(found.into_iter().next().map(InboundDeadLetterObject))
    }

    /// Messages that could not be consumed, newest first; in these states, or all. ADMIN, OPERATOR.
    async fn inbound_dead_letters(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
        status: Option<Vec<InboundDeadLetterStatus>>,
    ) -> Result<Connection<InboundDeadLetterObject>, ApiError> {
        guard::reader(ctx)?;
        let status = status.map(|several| several.into_iter().map(Into::into).collect());
        let filter = DeadLetterFilter { status };
        page::connection(ctx, PageArgs { first, after, last, before }, filter).await
    }
}

/// What became of a dead letter's mutation.
#[derive(SimpleObject)]
pub struct InboundDeadLetterPayload {
    /// The dead letter as it is now.
    pub inbound_dead_letter: Option<InboundDeadLetterObject>,
    /// Why it was refused, or why the replay failed.
    pub user_errors: Vec<UserError>,
}

/// Changes of dead letters.
#[derive(Default)]
pub struct InboundDeadLetterMutation;

#[Object]
impl InboundDeadLetterMutation {
    /// Hands the message to its queue's handler once more: carried out → REPLAYED. If it fails again it stays OPEN with the
    /// new error, and INVALID_INPUT (the message is wrong) or INVALID_STATE says so. ADMIN; audited. Of two at once one
    /// replays, the other is told INVALID_STATE; a message that had its effect already has no second one.
    async fn replay_inbound_dead_letter(
        &self,
        ctx: &Context<'_>,
        input: OperatorActionInput,
    ) -> Result<InboundDeadLetterPayload, ApiError> {
        let admin = guard::admin(ctx)?;
        let (id, reason) = match input.read() {
            Ok(read) => read,
            Err(error) => return Ok(InboundDeadLetterPayload::refused(None, error)),
        };
        let services = Services::of(ctx)?;
        let replayed = services.inbox.replay(&admin, id, reason, RequestId::of(ctx)).await;
        services.payment_watcher.hint();
        InboundDeadLetterPayload::of(replayed)
    }

    /// OPEN → DISCARDED: nobody will carry it out. ADMIN; audited. Any other state is INVALID_STATE and stays.
    async fn discard_inbound_dead_letter(
        &self,
        ctx: &Context<'_>,
        input: OperatorActionInput,
    ) -> Result<InboundDeadLetterPayload, ApiError> {
        let admin = guard::admin(ctx)?;
        let (id, reason) = match input.read() {
            Ok(read) => read,
            Err(error) => return Ok(InboundDeadLetterPayload::refused(None, error)),
        };
        let discarded = Services::of(ctx)?.inbox.discard(&admin, id, reason, RequestId::of(ctx)).await;
        InboundDeadLetterPayload::of(discarded)
    }
}

impl InboundDeadLetterPayload {
    fn refused(letter: Option<InboundDeadLetter>, error: UserError) -> Self {
        Self { inbound_dead_letter: letter.map(InboundDeadLetterObject), user_errors: vec![error] }
    }

    fn of(result: Result<InboundDeadLetter, ReplayError>) -> Result<Self, ApiError> {
        let error = match result {
            Ok(letter) => {
                let letter = Some(InboundDeadLetterObject(letter));
                return Ok(Self { inbound_dead_letter: letter, user_errors: Vec::new() });
            }
            Err(error) => error,
        };
        let text = error.to_string();
        match error {
            ReplayError::NotFound(_) => {
                Ok(Self::refused(None, UserError::new(UserErrorCode::NotFound, text)))
            }
            ReplayError::InvalidState { letter, .. } => {
                Ok(Self::refused(Some(*letter), UserError::new(UserErrorCode::InvalidState, text)))
            }
            ReplayError::Failed { letter, class, .. } => {
                let code = match class {
                    ErrorClass::Data => UserErrorCode::InvalidInput,
                    ErrorClass::System => UserErrorCode::InvalidState,
                };
                Ok(Self::refused(Some(*letter), UserError::new(code, text)))
            }
            ReplayError::Database(error) => Err(input::failed(error)),
            error @ ReplayError::TaskLost => Err(ApiError::internal(error)),
        }
    }
}
