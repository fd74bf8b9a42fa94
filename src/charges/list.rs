//! What the API reads: single charges, lists, counts.

use diesel::{
    BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper,
    dsl::sql,
    pg::Pg,
    result::QueryResult,
    sql_types::Integer,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::{Charge, ChargePaymentStatus, ChargeStatus};
use crate::{
    db::{
        Counting,
        page::{Keyset, PageRequest, PageRows},
        schema::charge as charges,
    },
    gateways::PaymentGateway,
    types::Instant,
};

/// Which charges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChargeFilter {
    /// Of these kinds.
    pub status: Option<Vec<ChargeStatus>>,
    /// Paid, or not.
    pub payment_status: Option<Vec<ChargePaymentStatus>>,
    /// Through these gateways.
    pub payment_gateway: Option<Vec<PaymentGateway>>,
    /// Of this member.
    pub member_id: Option<i64>,
    /// With this order id.
    pub order_id: Option<String>,
    /// Paid by this transaction.
    pub gateway_transaction_id: Option<String>,
    /// Requested from this moment on.
    pub from: Option<Instant>,
    /// Requested before this moment.
    pub to: Option<Instant>,
}

fn filtered(filter: &ChargeFilter) -> charges::BoxedQuery<'_, Pg> {
    let mut query = charges::table.into_boxed();
    // One value is compared with `=`, so that its index keeps the list's order.
    match filter.status.as_deref() {
        None => {}
        Some([only]) => query = query.filter(charges::status.eq(only.as_str())),
        Some(several) => {
            query = query.filter(charges::status.eq_any(several.iter().map(|value| value.as_str())));
        }
    }
    match filter.payment_status.as_deref() {
        None => {}
        Some([only]) => query = query.filter(charges::payment_status.eq(only.as_str())),
        Some(several) => {
            query = query.filter(charges::payment_status.eq_any(several.iter().map(|value| value.as_str())));
        }
    }
    match filter.payment_gateway.as_deref() {
        None => {}
        Some([only]) => query = query.filter(charges::payment_gateway.eq(only.as_str())),
        Some(several) => {
            query = query.filter(charges::payment_gateway.eq_any(several.iter().map(|value| value.as_str())));
        }
    }
    if let Some(member_id) = filter.member_id {
        query = query.filter(charges::member_id.eq(member_id));
    }
    if let Some(order_id) = &filter.order_id {
        query = query.filter(charges::order_id.eq(order_id));
    }
    if let Some(transaction_id) = &filter.gateway_transaction_id {
        query = query.filter(charges::gateway_transaction_id.eq(transaction_id));
    }
    if let Some(from) = filter.from {
        query = query.filter(charges::created_at.ge(from));
    }
    if let Some(to) = filter.to {
        query = query.filter(charges::created_at.lt(to));
    }
    query
}

/// A page, newest first.
pub async fn list(
    conn: &mut AsyncPgConnection,
    filter: &ChargeFilter,
    page: &PageRequest,
) -> QueryResult<PageRows<Charge>> {
    let mut query = filtered(filter).select(Charge::as_select()).limit(page.fetch());
    if let Some(Keyset { at, id }) = page.after {
        query = query.filter(charges::created_at.le(at));
        query = query
            .filter(charges::created_at.lt(at).or(charges::created_at.eq(at).and(charges::id.lt(id))));
    }
    if let Some(Keyset { at, id }) = page.before {
        query = query.filter(charges::created_at.ge(at));
        query = query
            .filter(charges::created_at.gt(at).or(charges::created_at.eq(at).and(charges::id.gt(id))));
    }
    query = if page.backwards {
        query.order((charges::created_at.asc(), charges::id.asc()))
    } else {
        query.order((charges::created_at.desc(), charges::id.desc()))
    };
    Ok(page.page(query.load(conn).await?))
}

/// How many match, counted up to `cap + 1`, in the list's order: unordered, the planner may prefer to read the table
/// from its oldest row, however far the first match is.
pub async fn count(conn: &mut AsyncPgConnection, filter: &ChargeFilter, cap: i64) -> QueryResult<i64> {
    let order = (charges::created_at.desc(), charges::id.desc());
    let matching = filtered(filter).select(sql::<Integer>("1")).order(order).limit(cap + 1);
    Counting(matching).get_result(conn).await
}

/// One charge.
pub async fn find(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<Charge>> {
    Ok(by_ids(conn, &[id]).await?.pop())
}

/// The charges with these ids.
pub async fn by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<Charge>> {
    charges::table.filter(charges::id.eq_any(ids)).select(Charge::as_select()).load(conn).await
}
