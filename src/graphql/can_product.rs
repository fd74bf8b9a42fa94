//! The price list: object, query, mutation.

use async_graphql::{Context, InputObject, Object, SimpleObject};

use super::{
    api::RequestId,
    charge::{ContainerEnum, container},
    error::ApiError,
    guard,
    input::{self, UserError, UserErrorCode, unknown_value},
    scalars::{DateTime, Long},
    schema::Services,
};
use crate::charges::{self, CanProduct, UpsertProductError};

/// A product, as the API shows it.
pub struct CanProductObject(pub CanProduct);

/// A product of the price list.
#[Object(name = "CanProduct")]
impl CanProductObject {
    /// Its id, at Google and Apple theirs.
    async fn sku(&self) -> &str {
        &self.0.sku
    }

    /// Where it is sold.
    async fn container(&self) -> Result<ContainerEnum, ApiError> {
        container(&self.0.container)
    }

    /// How much can it is.
    async fn can(&self) -> Result<Long, ApiError> {
        Long::new(self.0.can).ok_or_else(|| unknown_value("can"))
    }

    /// Whole KRW.
    async fn price(&self) -> Result<Long, ApiError> {
        Long::new(self.0.price).ok_or_else(|| unknown_value("price"))
    }

    /// What the buyer reads.
    async fn title(&self) -> &str {
        &self.0.title
    }

    /// Whether it can be bought now.
    async fn is_active(&self) -> bool {
        self.0.is_active
    }

    /// When it last changed.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

/// Reads of the price list.
#[derive(Default)]
pub struct CanProductQuery;

#[Object]
impl CanProductQuery {
    /// The price list, with what cannot be bought now only if asked for. Any role.
    async fn can_products(
        &self,
        ctx: &Context<'_>,
        #[graphql(default_with = "Some(false)")] inactive_too: Option<bool>,
    ) -> Result<Vec<CanProductObject>, ApiError> {
        guard::any_role(ctx)?;
        let mut conn = Services::of(ctx)?.db.read().await.map_err(input::failed)?;
        let products =
            charges::products(&mut conn, inactive_too.unwrap_or(false)).await.map_err(input::failed)?;
        Ok(products.into_iter().map(CanProductObject).collect())
    }
}

/// A product to be put on the price list or changed.
#[derive(Debug, InputObject)]
pub struct CanProductInput {
    /// Where it is sold.
    pub container: ContainerEnum,
    /// Its id there: 1 to 100 letters, digits, dots, dashes, underscores.
    pub sku: String,
    /// How much can it is, from 1 on.
    pub can: Long,
    /// Whole KRW, from 1 on.
    pub price: Long,
    /// What the buyer reads, 1 to 100 characters.
    pub title: String,
    /// Whether it can be bought.
    pub is_active: bool,
}

/// What became of a product's mutation.
#[derive(SimpleObject)]
pub struct CanProductPayload {
    /// The product.
    pub can_product: Option<CanProductObject>,
    /// Why it was refused.
    pub user_errors: Vec<UserError>,
}

/// Changes of the price list.
#[derive(Default)]
pub struct CanProductMutation;

#[Object]
impl CanProductMutation {
    /// Puts a product on the price list, or changes it. Charges that were requested before keep their price. ADMIN; audited,
    /// with the `reason`. The same again has no second effect. With `expectedUpdatedAt`, the `updatedAt` that the caller
    /// has seen, another's change since then is not written over, nor with `mustBeNew` one that is on the list already:
    /// CHANGED_MEANWHILE.
    async fn upsert_can_product(
        &self,
        ctx: &Context<'_>,
        input: CanProductInput,
        expected_updated_at: Option<DateTime>,
        #[graphql(default)] must_be_new: bool,
        reason: Option<String>,
    ) -> Result<CanProductPayload, ApiError> {
        let admin = guard::admin(ctx)?;
        let expected_updated_at = expected_updated_at.map(|at| at.0);
        let reason = input::optional_reason(reason.as_deref())?;
        let input = charges::CanProductInput {
            container: input.container.into(),
            sku: input.sku,
            can: input.can.get(),
            price: input.price.get(),
            title: input.title,
            is_active: input.is_active,
        };
        let change = charges::ProductChange { input, expected_updated_at, must_be_new, reason };
        let refused = |error| Ok(CanProductPayload { can_product: None, user_errors: vec![error] });
        match Services::of(ctx)?.charges.upsert_product(&admin, change, RequestId::of(ctx)).await {
            Ok(product) => Ok(CanProductPayload {
                can_product: Some(CanProductObject(product)),
                user_errors: Vec::new(),
            }),
            Err(UpsertProductError::InvalidInput { field, message }) => {
                refused(UserError::invalid(&[field], message))
            }
            Err(error @ UpsertProductError::ChangedMeanwhile(_)) => {
                refused(UserError::new(UserErrorCode::ChangedMeanwhile, error.to_string()))
            }
            Err(UpsertProductError::Database(error)) => Err(input::failed(error)),
        }
    }
}
