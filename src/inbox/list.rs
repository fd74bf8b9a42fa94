//! What the API reads: dead letters, their counts.

use diesel::{
    BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper,
    dsl::sql,
    pg::Pg,
    result::QueryResult,
    sql_types::{Bool, Integer},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::{DeadLetterStatus, InboundDeadLetter};
use crate::db::{
    page::{Listing, PageRequest, PageRows, keyset_count, keyset_page},
    schema::inbound_dead_letter as letters,
};

/// Which dead letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeadLetterFilter {
    /// In these states.
    pub status: Option<Vec<DeadLetterStatus>>,
}

fn filtered(filter: &DeadLetterFilter) -> letters::BoxedQuery<'_, Pg> {
    let query = letters::table.into_boxed();
    match filter.status.as_deref() {
        None => query,
        // As a literal, so that the partial index of the state serves also a generic plan.
        Some([only]) => {
            query.filter(sql::<Bool>(&format!("inbound_dead_letter.status = '{}'", only.as_str())))
        }
        Some(several) => query.filter(letters::status.eq_any(several.iter().map(|status| status.as_str()))),
    }
}

impl Listing for DeadLetterFilter {
    type Row = InboundDeadLetter;

    async fn page(
        &self,
        conn: &mut AsyncPgConnection,
        request: &PageRequest,
    ) -> QueryResult<PageRows<InboundDeadLetter>> {
        let query = filtered(self).select(InboundDeadLetter::as_select());
        let query = keyset_page!(query, request, letters::received_at, letters::id);
        Ok(request.page(query.load(conn).await?))
    }

    async fn count(&self, conn: &mut AsyncPgConnection, cap: i64) -> QueryResult<i64> {
        keyset_count!(filtered(self), cap, letters::received_at, letters::id).get_result(conn).await
    }
}

/// The dead letters with these ids.
pub async fn by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<InboundDeadLetter>> {
    letters::table.filter(letters::id.eq_any(ids)).select(InboundDeadLetter::as_select()).load(conn).await
}

/// The bytes of these letters' bodies.
pub async fn body_sizes(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<(i64, i32)>> {
    let size = sql::<Integer>("octet_length(inbound_dead_letter.body)");
    letters::table.filter(letters::id.eq_any(ids)).select((letters::id, size)).load(conn).await
}

/// These letters' bodies as they came. They may be large: read only when asked for.
pub async fn bodies(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<(i64, Vec<u8>)>> {
    letters::table.filter(letters::id.eq_any(ids)).select((letters::id, letters::body)).load(conn).await
}
