use diesel::{
    BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper, dsl::sql, result::QueryResult,
    sql_types::Integer,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::ChargeEvent;
use crate::db::{
    Counting,
    page::{Keyset, PageRequest, PageRows},
    schema::charge_event as events,
};

/// A page of promotions, newest first.
pub async fn list_promotions(
    conn: &mut AsyncPgConnection,
    page: &PageRequest,
) -> QueryResult<PageRows<ChargeEvent>> {
    let mut query = events::table.select(ChargeEvent::as_select()).limit(page.fetch()).into_boxed();
    if let Some(Keyset { at, id }) = page.after {
        query = query.filter(events::created_at.le(at));
        query =
            query.filter(events::created_at.lt(at).or(events::created_at.eq(at).and(events::id.lt(id))));
    }
    if let Some(Keyset { at, id }) = page.before {
        query = query.filter(events::created_at.ge(at));
        query =
            query.filter(events::created_at.gt(at).or(events::created_at.eq(at).and(events::id.gt(id))));
    }
    query = if page.backwards {
        query.order((events::created_at.asc(), events::id.asc()))
    } else {
        query.order((events::created_at.desc(), events::id.desc()))
    };
    Ok(page.page(query.load(conn).await?))
}

/// How many promotions there are, counted up to `cap + 1`.
pub async fn count_promotions(conn: &mut AsyncPgConnection, cap: i64) -> QueryResult<i64> {
    let order = (events::created_at.desc(), events::id.desc());
    Counting(events::table.select(sql::<Integer>("1")).order(order).limit(cap + 1)).get_result(conn).await
}

/// The promotions with these ids.
pub async fn promotions_by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<ChargeEvent>> {
    events::table.filter(events::id.eq_any(ids)).select(ChargeEvent::as_select()).load(conn).await
}
