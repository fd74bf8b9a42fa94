//! What the API reads: single charges, lists, counts.

use diesel::{
    BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper, dsl::sql, pg::Pg,
    result::QueryResult, sql_types::Integer,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::{Charge, ChargePaymentStatus, ChargeStatus};
use crate::{
    db::{
        Counting,
        page::{Listing, PageRequest, PageRows, keyset_page},
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

impl Listing for ChargeFilter {
    type Row = Charge;

    async fn page(
        &self,
        conn: &mut AsyncPgConnection,
        request: &PageRequest,
    ) -> QueryResult<PageRows<Charge>> {
        let query = filtered(self).select(Charge::as_select());
        let query = keyset_page!(query, request, charges::created_at, charges::id);
        Ok(request.page(query.load(conn).await?))
    }

    async fn count(&self, conn: &mut AsyncPgConnection, cap: i64) -> QueryResult<i64> {
        let order = (charges::created_at.desc(), charges::id.desc());
        let matching = filtered(self).select(sql::<Integer>("1")).order(order).limit(cap + 1);
        Counting(matching).get_result(conn).await
    }
}

/// One charge.
pub async fn find(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<Charge>> {
    Ok(by_ids(conn, &[id]).await?.pop())
}

/// The charges with these ids.
pub async fn by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<Charge>> {
    charges::table.filter(charges::id.eq_any(ids)).select(Charge::as_select()).load(conn).await
}
