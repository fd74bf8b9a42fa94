//! What the API reads: single payments, lists, counts.

use diesel::{
    BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper,
    dsl::sql,
    pg::Pg,
    result::{Error as DieselError, QueryResult},
    sql_types::Bool,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::{Payment, PaymentStatus, refund::completed_of};
use crate::{
    db::{
        Database, DbError, RowSource,
        page::{Listing, PageRequest, PageRows, keyset_count, keyset_page},
        schema::payment as payments,
    },
    types::Instant,
};

/// Which payments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaymentFilter {
    /// In these states.
    pub status: Option<Vec<PaymentStatus>>,
    /// Of this payer.
    pub user_id: Option<i64>,
    /// For this meeting.
    pub meeting_id: Option<i64>,
    /// With this order id.
    pub order_id: Option<String>,
    /// With this payment key.
    pub payment_key: Option<String>,
    /// Of this flow.
    pub flow_id: Option<Uuid>,
    /// Written from this moment on.
    pub from: Option<Instant>,
    /// Written before this moment.
    pub to: Option<Instant>,
}

fn filtered(filter: &PaymentFilter) -> payments::BoxedQuery<'_, Pg> {
    let mut query = payments::table.into_boxed();
    if let Some(status) = &filter.status {
        query = match status.as_slice() {
            // As a literal, so that the partial index of the state serves also a generic plan.
            [only] => query.filter(sql::<Bool>(&format!("payment.status = '{}'", only.as_str()))),
            several => query.filter(payments::status.eq_any(several.iter().map(|status| status.as_str()))),
        };
    }
    if let Some(user_id) = filter.user_id {
        query = query.filter(payments::user_id.eq(user_id));
    }
    if let Some(meeting_id) = filter.meeting_id {
        query = query.filter(payments::meeting_id.eq(meeting_id));
    }
    if let Some(order_id) = &filter.order_id {
        query = query.filter(payments::order_id.eq(order_id));
    }
    if let Some(payment_key) = &filter.payment_key {
        query = query.filter(payments::payment_key.eq(payment_key));
    }
    if let Some(flow_id) = filter.flow_id {
        query = query.filter(payments::flow_id.eq(flow_id));
    }
    if let Some(from) = filter.from {
        query = query.filter(payments::created_at.ge(from));
    }
    if let Some(to) = filter.to {
        query = query.filter(payments::created_at.lt(to));
    }
    query
}

impl Listing for PaymentFilter {
    type Row = Payment;

    async fn page(
        &self,
        conn: &mut AsyncPgConnection,
        request: &PageRequest,
    ) -> QueryResult<PageRows<Payment>> {
        let query = filtered(self).select(Payment::as_select());
        let query = keyset_page!(query, request, payments::created_at, payments::id);
        Ok(request.page(query.load(conn).await?))
    }

    async fn count(&self, conn: &mut AsyncPgConnection, cap: i64) -> QueryResult<i64> {
        keyset_count!(filtered(self), cap, payments::created_at, payments::id).get_result(conn).await
    }
}

/// One payment; a refunded one as its refund keeps it, REFUNDED.
pub async fn find(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<Payment>> {
    Ok(by_ids(conn, &[id]).await?.pop())
}

/// The payments with these ids; refunded ones as their refunds keep them, REFUNDED.
pub async fn by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<Payment>> {
    let mut found = payments::table
        .filter(payments::id.eq_any(ids))
        .select(Payment::as_select())
        .load::<Payment>(conn)
        .await?;
    let gone: Vec<i64> =
        ids.iter().copied().filter(|id| found.iter().all(|payment| payment.id != *id)).collect();
    if !gone.is_empty() {
        // Read after the payments: a row that left between the two is found here.
        for refund in completed_of(conn, &gone).await? {
            let snapshot = refund.payment();
            found.push(snapshot.map_err(|error| DieselError::DeserializationError(Box::new(error)))?);
        }
    }
    Ok(found)
}

/// The payments as a watcher reads them.
pub struct PaymentRows(pub Database);

impl RowSource for PaymentRows {
    type Row = Payment;

    async fn load(&self, ids: Vec<i64>) -> Result<Vec<(i64, Payment)>, DbError> {
        let payments = by_ids(&mut *self.0.read().await?, &ids).await?;
        Ok(payments.into_iter().map(|payment| (payment.id, payment)).collect())
    }
}
