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
    Counting,
    page::{Keyset, PageRequest, PageRows},
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

/// A page, newest first.
pub async fn list(
    conn: &mut AsyncPgConnection,
    filter: &DeadLetterFilter,
    page: &PageRequest,
) -> QueryResult<PageRows<InboundDeadLetter>> {
    let mut query = filtered(filter).select(InboundDeadLetter::as_select()).limit(page.fetch());
    if let Some(Keyset { at, id }) = page.after {
        query = query.filter(letters::received_at.le(at));
        query =
            query.filter(letters::received_at.lt(at).or(letters::received_at.eq(at).and(letters::id.lt(id))));
    }
    if let Some(Keyset { at, id }) = page.before {
        query = query.filter(letters::received_at.ge(at));
        query =
            query.filter(letters::received_at.gt(at).or(letters::received_at.eq(at).and(letters::id.gt(id))));
    }
    query = if page.backwards {
        query.order((letters::received_at.asc(), letters::id.asc()))
    } else {
        query.order((letters::received_at.desc(), letters::id.desc()))
    };
    Ok(page.page(query.load(conn).await?))
}

/// How many match, counted up to `cap + 1`.
pub async fn count(conn: &mut AsyncPgConnection, filter: &DeadLetterFilter, cap: i64) -> QueryResult<i64> {
    Counting(filtered(filter).select(sql::<Integer>("1")).limit(cap + 1)).get_result(conn).await
}

/// How many nobody has dealt with, counted up to 10,001.
pub async fn count_open(conn: &mut AsyncPgConnection) -> QueryResult<i64> {
    let open = DeadLetterFilter { status: Some(vec![DeadLetterStatus::Open]) };
    let ordered = filtered(&open).select(sql::<Integer>("1")).order(letters::received_at.asc()).limit(10_001);
    Counting(ordered).get_result(conn).await
}

/// The dead letters with these ids.
pub async fn by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<InboundDeadLetter>> {
    letters::table.filter(letters::id.eq_any(ids)).select(InboundDeadLetter::as_select()).load(conn).await
}
