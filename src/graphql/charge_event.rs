//! Promotions: object, query, mutations.

use async_graphql::{Context, ID, InputObject, Object, SimpleObject};

use super::{
    api::RequestId,
    error::ApiError,
    guard,
    input::{self, UserError, UserErrorCode},
    page::{self, Connection, Listed, Node, PageArgs},
    scalars::DateTime,
    schema::Services,
};
use crate::{
    charges::{self, ChargeEvent, PromotionError, PromotionFilter},
    db::page::Keyset,
};

/// A promotion, as the API shows it.
pub struct ChargeEventObject(pub ChargeEvent);

impl Node for ChargeEventObject {
    const LIST: &'static str = "chargeEvents";

    fn keyset(&self) -> Keyset {
        Keyset { at: self.0.created_at, id: self.0.id }
    }
}

impl Listed for ChargeEventObject {
    type Filter = PromotionFilter;

    const INDEXED: &'static str = "none";

    fn from_row(row: ChargeEvent) -> Self {
        Self(row)
    }
}

/// A promotion: charges completed within its period earn a bonus.
#[Object(name = "ChargeEvent")]
impl ChargeEventObject {
    /// Primary key.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// What operators and buyers know it by.
    async fn title(&self) -> &str {
        &self.0.title
    }

    /// From this moment on.
    async fn start_at(&self) -> DateTime {
        DateTime(self.0.start_at)
    }

    /// Before this moment.
    async fn end_at(&self) -> DateTime {
        DateTime(self.0.end_at)
    }

    /// The bonus in percent of the charge's can, rounded down.
    async fn add_percent(&self) -> i32 {
        self.0.add_percent
    }

    /// How often a member may use it; 0: without limit.
    async fn available_count(&self) -> i32 {
        self.0.available_count
    }

    /// Whether it counts at all.
    async fn is_active(&self) -> bool {
        self.0.is_active
    }

    /// When it was written.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When it last changed.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

/// Reads of promotions.
#[derive(Default)]
pub struct ChargeEventQuery;

#[Object]
impl ChargeEventQuery {
    /// One promotion; null if there is none. ADMIN, OPERATOR.
    async fn charge_event(&self, ctx: &Context<'_>, id: ID) -> Result<Option<ChargeEventObject>, ApiError> {
        guard::reader(ctx)?;
        let id = input::id(&["id"], &id)?;
        let mut conn = Services::of(ctx)?.db.read().await.map_err(input::failed)?;
        let found = charges::promotions_by_ids(&mut conn, &[id]).await.map_err(input::failed)?;
        Ok(found.into_iter().next().map(ChargeEventObject))
    }

    /// Promotions, newest first. ADMIN, OPERATOR.
    async fn charge_events(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Result<Connection<ChargeEventObject>, ApiError> {
        guard::reader(ctx)?;
        page::connection(ctx, PageArgs { first, after, last, before }, PromotionFilter).await
    }
}

/// A promotion to be made or changed.
#[derive(Debug, InputObject)]
pub struct ChargeEventInput {
    /// 1 to 100 characters.
    pub title: String,
    /// From this moment on.
    pub start_at: DateTime,
    /// Before this moment.
    pub end_at: DateTime,
    /// 1 to 1,000.
    pub add_percent: i32,
    /// How often a member may use it; 0: without limit.
    pub available_count: i32,
    /// Whether it counts at all.
    pub is_active: bool,
}

impl ChargeEventInput {
    fn read(self) -> charges::ChargeEventInput {
        charges::ChargeEventInput {
            title: self.title,
            start_at: self.start_at.0,
            end_at: self.end_at.0,
            add_percent: self.add_percent,
            available_count: self.available_count,
            is_active: self.is_active,
        }
    }
}

/// What became of a promotion's mutation.
#[derive(SimpleObject)]
pub struct ChargeEventPayload {
    /// The promotion.
    pub charge_event: Option<ChargeEventObject>,
    /// Why it was refused.
    pub user_errors: Vec<UserError>,
}

impl ChargeEventPayload {
    fn of(outcome: Result<ChargeEvent, PromotionError>) -> Result<Self, ApiError> {
        let refused = |error| Self { charge_event: None, user_errors: vec![error] };
        match outcome {
            Ok(event) => Ok(Self { charge_event: Some(ChargeEventObject(event)), user_errors: Vec::new() }),
            Err(PromotionError::InvalidInput { field, message }) => {
                Ok(refused(UserError::invalid(&[field], message)))
            }
            Err(error @ PromotionError::NotFound(_)) => {
                Ok(refused(UserError::new(UserErrorCode::NotFound, error.to_string())))
            }
            Err(error @ PromotionError::ChangedMeanwhile(_)) => {
                Ok(refused(UserError::new(UserErrorCode::ChangedMeanwhile, error.to_string())))
            }
            Err(PromotionError::Database(error)) => Err(input::failed(error)),
        }
    }
}

/// Changes of promotions.
#[derive(Default)]
pub struct ChargeEventMutation;

#[Object]
impl ChargeEventMutation {
    /// Makes a promotion. ADMIN; audited, with the `reason`. Not idempotent: each call makes one.
    async fn create_charge_event(
        &self,
        ctx: &Context<'_>,
        input: ChargeEventInput,
        reason: Option<String>,
    ) -> Result<ChargeEventPayload, ApiError> {
        let admin = guard::admin(ctx)?;
        let reason = input::optional_reason(reason.as_deref())?;
        let charges = &Services::of(ctx)?.charges;
        ChargeEventPayload::of(
            charges.create_promotion(&admin, input.read(), reason, RequestId::of(ctx)).await,
        )
    }

    /// Changes a promotion for charges from now on; what was earned before keeps its amount. ADMIN; audited, with the
    /// `reason`. The same again has no second effect. With `expectedUpdatedAt`, the `updatedAt` that the caller has seen,
    /// another's change since then is not written over: CHANGED_MEANWHILE.
    async fn update_charge_event(
        &self,
        ctx: &Context<'_>,
        id: ID,
        input: ChargeEventInput,
        expected_updated_at: Option<DateTime>,
        reason: Option<String>,
    ) -> Result<ChargeEventPayload, ApiError> {
        let admin = guard::admin(ctx)?;
        let change = charges::PromotionChange {
            id: input::id(&["id"], &id)?,
            expected_updated_at: expected_updated_at.map(|at| at.0),
            input: input.read(),
            reason: input::optional_reason(reason.as_deref())?,
        };
        let charges = &Services::of(ctx)?.charges;
        ChargeEventPayload::of(charges.update_promotion(&admin, change, RequestId::of(ctx)).await)
    }
}
