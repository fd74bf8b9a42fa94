//! What the API reads: single refunds, lists, counts.

use diesel::{
    BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper, dsl::sql,
    pg::Pg, result::QueryResult, sql_types::Bool,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::{Refund, RefundSource, RefundStatus};
use crate::{
    db::{
        Database, DbError, RowSource,
        page::{Listing, PageRequest, PageRows, keyset_count, keyset_page},
        schema::refund as refunds,
    },
    types::Instant,
};

/// Which refunds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefundFilter {
    /// In these states.
    pub status: Option<Vec<RefundStatus>>,
    /// Asked for by these.
    pub source: Option<Vec<RefundSource>>,
    /// Of this payer.
    pub user_id: Option<i64>,
    /// For this meeting.
    pub meeting_id: Option<i64>,
    /// Of this payment.
    pub payment_id: Option<i64>,
    /// With these failure codes.
    pub failure_code: Option<Vec<String>>,
    /// Of this flow.
    pub flow_id: Option<Uuid>,
    /// Written from this moment on.
    pub from: Option<Instant>,
    /// Written before this moment.
    pub to: Option<Instant>,
}

fn filtered(filter: &RefundFilter) -> refunds::BoxedQuery<'_, Pg> {
    let mut query = refunds::table.into_boxed();
    if let Some(status) = &filter.status {
        query = match status.as_slice() {
            // As a literal, so that the partial index of the state serves also a generic plan.
            [only] => query.filter(sql::<Bool>(&format!("refund.status = '{}'", only.as_str()))),
            several => query.filter(refunds::status.eq_any(several.iter().map(|status| status.as_str()))),
        };
    }
    if let Some(source) = &filter.source {
        query = query.filter(refunds::source.eq_any(source.iter().map(|source| source.as_str())));
    }
    if let Some(user_id) = filter.user_id {
        query = query.filter(refunds::user_id.eq(user_id));
    }
    if let Some(meeting_id) = filter.meeting_id {
        query = query.filter(refunds::meeting_id.eq(meeting_id));
    }
    if let Some(payment_id) = filter.payment_id {
        query = query.filter(refunds::payment_id.eq(payment_id));
    }
    if let Some(codes) = &filter.failure_code {
        query = query.filter(refunds::failure_code.eq_any(codes));
    }
    if let Some(flow_id) = filter.flow_id {
        query = query.filter(refunds::flow_id.eq(flow_id));
    }
    if let Some(from) = filter.from {
        query = query.filter(refunds::created_at.ge(from));
    }
    if let Some(to) = filter.to {
        query = query.filter(refunds::created_at.lt(to));
    }
    query
}

impl Listing for RefundFilter {
    type Row = Refund;

    async fn page(
        &self,
        conn: &mut AsyncPgConnection,
        request: &PageRequest,
    ) -> QueryResult<PageRows<Refund>> {
        let query = filtered(self).select(Refund::as_select());
        let query = keyset_page!(query, request, refunds::created_at, refunds::id);
        Ok(request.page(query.load(conn).await?))
    }

    async fn count(&self, conn: &mut AsyncPgConnection, cap: i64) -> QueryResult<i64> {
        keyset_count!(filtered(self), cap, refunds::created_at, refunds::id).get_result(conn).await
    }
}

/// One refund.
pub async fn find_refund(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<Refund>> {
    refunds::table.find(id).select(Refund::as_select()).first(conn).await.optional()
}

/// The refunds with these ids.
pub async fn refunds_by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<Refund>> {
    refunds::table.filter(refunds::id.eq_any(ids)).select(Refund::as_select()).load(conn).await
}

/// The refunds of these payments, oldest first.
pub async fn refunds_of(conn: &mut AsyncPgConnection, payment_ids: &[i64]) -> QueryResult<Vec<Refund>> {
    refunds::table
        .filter(refunds::payment_id.eq_any(payment_ids))
        .order(refunds::id.asc())
        .select(Refund::as_select())
        .load(conn)
        .await
}

/// The refunds that gave these payments back.
pub(in crate::payments) async fn completed_of(
    conn: &mut AsyncPgConnection,
    payment_ids: &[i64],
) -> QueryResult<Vec<Refund>> {
    refunds::table
        .filter(refunds::payment_id.eq_any(payment_ids))
        .filter(refunds::status.eq(RefundStatus::Completed.as_str()))
        .select(Refund::as_select())
        .load(conn)
        .await
}

/// The refunds as a watcher reads them.
pub struct RefundRows(pub Database);

impl RowSource for RefundRows {
    type Row = Refund;

    async fn load(&self, ids: Vec<i64>) -> Result<Vec<(i64, Refund)>, DbError> {
        let refunds = refunds_by_ids(&mut *self.0.read().await?, &ids).await?;
        Ok(refunds.into_iter().map(|refund| (refund.id, refund)).collect())
    }
}
