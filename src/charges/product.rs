//! The price list.

use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, OptionalExtension, QueryDsl, SelectableHelper,
    pg::Pg,
    prelude::{AsChangeset, Queryable, Selectable},
    result::QueryResult,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use serde_json::json;
use thiserror::Error;

use super::{Charges, Container};
use crate::{
    audit::{self, Deed},
    auth::AdminPrincipal,
    db::{DbError, schema::can_product},
    failures::SubjectType,
    types::Instant,
};

/// The most can that one product holds, so that sums stay far below what JSON keeps exactly.
const MAX_CAN: i64 = 1_000_000_000;
/// The highest price, in won, for the same reason: a purchase may be of many packs.
const MAX_PRICE: i64 = 1_000_000_000_000;

/// A product.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = can_product, check_for_backend(Pg))]
pub struct CanProduct {
    /// A [`Container`].
    pub container: String,
    /// The product's id.
    pub sku: String,
    /// How much can it is.
    pub can: i64,
    /// Whole won.
    pub price: i64,
    /// What the buyer reads.
    pub title: String,
    /// Whether it can be bought now.
    pub is_active: bool,
    /// When it was written.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

/// What a product is made or changed with.
#[derive(Debug, Clone)]
pub struct CanProductInput {
    /// Where it is sold.
    pub container: Container,
    /// Its id there.
    pub sku: String,
    /// How much can it is.
    pub can: i64,
    /// Whole won.
    pub price: i64,
    /// What the buyer reads.
    pub title: String,
    /// Whether it can be bought.
    pub is_active: bool,
}

/// A product to be written.
#[derive(Debug)]
pub struct ProductChange<'a> {
    /// What it becomes.
    pub input: CanProductInput,
    /// What `updated_at` was when the caller read it; if given, nobody else's change is written over.
    pub expected_updated_at: Option<Instant>,
    /// Whether nothing may be on the list under its id yet.
    pub must_be_new: bool,
    /// Why; for the audit log.
    pub reason: Option<&'a str>,
}

/// Why a product was not written.
#[derive(Debug, Error)]
pub enum UpsertProductError {
    /// A field cannot be worked with.
    #[error("{message}")]
    InvalidInput {
        /// The field, as the API names it.
        field: &'static str,
        /// What it must be.
        message: String,
    },
    /// Somebody has changed it since the caller read it, or put one on the list that was to be new.
    #[error("the product {0} was changed meanwhile, or is on the list already: read it again")]
    ChangedMeanwhile(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
}

impl From<diesel::result::Error> for UpsertProductError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

#[derive(Insertable, AsChangeset)]
#[diesel(table_name = can_product)]
struct Written<'a> {
    container: &'static str,
    sku: &'a str,
    can: i64,
    price: i64,
    title: &'a str,
    is_active: bool,
}

impl CanProductInput {
    fn check(&self) -> Result<(), UpsertProductError> {
        let invalid = |field, message: String| Err(UpsertProductError::InvalidInput { field, message });
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if !(1..=100).contains(&self.sku.len()) || !self.sku.chars().all(plain) {
            return invalid(
                "sku",
                "the sku must be 1 to 100 letters, digits, dots, dashes or underscores".to_owned(),
            );
        }
        if !(1..=MAX_CAN).contains(&self.can) {
            return invalid("can", format!("can must be from 1 to {MAX_CAN}"));
        }
        if !(1..=MAX_PRICE).contains(&self.price) {
            return invalid("price", format!("the price must be from 1 to {MAX_PRICE} won"));
        }
        if !(1..=100).contains(&self.title.trim().chars().count()) || self.title.contains('\0') {
            return invalid("title", "the title must have 1 to 100 characters, and no NUL".to_owned());
        }
        Ok(())
    }

    /// Whether a product is like this already.
    fn is_in(&self, product: &CanProduct) -> bool {
        self.can == product.can
            && self.price == product.price
            && self.title.trim() == product.title
            && self.is_active == product.is_active
    }
}

impl Charges {
    /// Puts a product on the price list, or changes it. Charges that were requested before keep what they were
    /// requested with. Audited.
    pub async fn upsert_product(
        &self,
        admin: &AdminPrincipal,
        change: ProductChange<'_>,
        request_id: &str,
    ) -> Result<CanProduct, UpsertProductError> {
        let ProductChange { input, expected_updated_at, must_be_new, reason } = change;
        input.check()?;
        let written = Written {
            container: input.container.as_str(),
            sku: &input.sku,
            can: input.can,
            price: input.price,
            title: input.title.trim(),
            is_active: input.is_active,
        };
        let mut tx = self.db.begin().await?;
        let before = locked(tx.conn(), input.container, &input.sku).await?;
        // The same again, sent anew because its answer was lost, is no conflict with itself.
        let is_like = before.as_ref().is_some_and(|before| input.is_in(before));
        let is_as_seen =
            expected_updated_at.is_none() || expected_updated_at == before.as_ref().map(|it| it.updated_at);
        if !is_like && !(is_as_seen && (before.is_none() || !must_be_new)) {
            tx.rollback().await?;
            return Err(UpsertProductError::ChangedMeanwhile(input.sku));
        }
        let Some(after) = write(tx.conn(), &written, before.is_none() && must_be_new).await? else {
            // Put there between our look and our insert, which waited for it.
            tx.rollback().await?;
            return Err(UpsertProductError::ChangedMeanwhile(input.sku));
        };
        let state = |product: &CanProduct| json!({ "can": product.can, "price": product.price, "title": product.title, "isActive": product.is_active });
        let deed = Deed {
            action: "upsertCanProduct",
            target_type: SubjectType::CanProduct.as_str(),
            target_id: format!("{}:{}", after.container, after.sku),
            reason,
            before: before.as_ref().map(state),
            after: Some(state(&after)),
            request_id,
            flow_id: None,
        };
        audit::record(tx.conn(), admin, deed).await?;
        tx.commit().await?;
        Ok(after)
    }
}

/// Writes it; `None` if it is there although it must be new.
async fn write(
    conn: &mut AsyncPgConnection,
    written: &Written<'_>,
    must_be_new: bool,
) -> QueryResult<Option<CanProduct>> {
    let insert = diesel::insert_into(can_product::table).values(written);
    if must_be_new {
        return insert
            .on_conflict_do_nothing()
            .returning(CanProduct::as_returning())
            .get_result(conn)
            .await
            .optional();
    }
    let upsert = insert.on_conflict((can_product::container, can_product::sku)).do_update().set(written);
    upsert.returning(CanProduct::as_returning()).get_result(conn).await.map(Some)
}

async fn locked(
    conn: &mut AsyncPgConnection,
    container: Container,
    sku: &str,
) -> QueryResult<Option<CanProduct>> {
    can_product::table
        .find((container.as_str(), sku))
        .select(CanProduct::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()
}

/// The product, if it can be bought.
pub(super) async fn on_sale(
    conn: &mut AsyncPgConnection,
    container: Container,
    sku: &str,
) -> QueryResult<Option<CanProduct>> {
    can_product::table
        .filter(can_product::container.eq(container.as_str()).and(can_product::sku.eq(sku)))
        .filter(can_product::is_active)
        .select(CanProduct::as_select())
        .first(conn)
        .await
        .optional()
}

/// The price list, the smallest first within each container; what cannot be bought now only if asked for.
pub async fn products(conn: &mut AsyncPgConnection, inactive_too: bool) -> QueryResult<Vec<CanProduct>> {
    let mut listed = can_product::table.select(CanProduct::as_select()).into_boxed();
    if !inactive_too {
        listed = listed.filter(can_product::is_active);
    }
    listed.order((can_product::container, can_product::can, can_product::sku)).load(conn).await
}
