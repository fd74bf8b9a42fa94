use diesel::{
    BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper, dsl::sql, result::QueryResult,
    sql_types::Integer,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::ChargeEvent;
use crate::db::{
    Counting,
    page::{Listing, PageRequest, PageRows, keyset_page},
    schema::charge_event as events,
};

/// All promotions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PromotionFilter;

impl Listing for PromotionFilter {
    type Row = ChargeEvent;

    async fn page(
        &self,
        conn: &mut AsyncPgConnection,
        request: &PageRequest,
    ) -> QueryResult<PageRows<ChargeEvent>> {
        let query = events::table.select(ChargeEvent::as_select()).into_boxed();
        let query = keyset_page!(query, request, events::created_at, events::id);
        Ok(request.page(query.load(conn).await?))
    }

    async fn count(&self, conn: &mut AsyncPgConnection, cap: i64) -> QueryResult<i64> {
        let order = (events::created_at.desc(), events::id.desc());
        Counting(events::table.select(sql::<Integer>("1")).order(order).limit(cap + 1)).get_result(conn).await
    }
}

/// The promotions with these ids.
pub async fn promotions_by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<ChargeEvent>> {
    events::table.filter(events::id.eq_any(ids)).select(ChargeEvent::as_select()).load(conn).await
}
