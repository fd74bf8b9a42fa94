//! What the API reads: single jobs, lists, counts.

use diesel::{
    BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper,
    dsl::sql,
    pg::Pg,
    result::QueryResult,
    sql_types::{Bool, Integer},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::{ChargeJob, ChargeJobStatus, ChargeJobType};
use crate::{
    db::{
        Counting, Database, DbError, RowSource,
        page::{Listing, PageRequest, PageRows, keyset_page},
        schema::charge_event_job as jobs,
    },
    types::Instant,
};

/// Which jobs. Without `status`: what waits for a retry, and what needs a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChargeJobFilter {
    /// In these states.
    pub status: Option<Vec<ChargeJobStatus>>,
    /// Of these types.
    pub job_type: Option<Vec<ChargeJobType>>,
    /// For this member.
    pub member_id: Option<i64>,
    /// Earned by this charge.
    pub source_charge_id: Option<i64>,
    /// Earned by this promotion.
    pub charge_event_id: Option<i64>,
    /// Earned from this moment on.
    pub from: Option<Instant>,
    /// Earned before this moment.
    pub to: Option<Instant>,
}

fn filtered(filter: &ChargeJobFilter) -> jobs::BoxedQuery<'_, Pg> {
    let mut query = jobs::table.into_boxed();
    query = match filter.status.as_deref() {
        // As a literal, so that the partial index serves also a generic plan.
        None => query.filter(sql::<Bool>("charge_event_job.status IN ('PENDING', 'FAILED')")),
        Some([only]) => query.filter(jobs::status.eq(only.as_str())),
        Some(several) => query.filter(jobs::status.eq_any(several.iter().map(|status| status.as_str()))),
    };
    if let Some(types) = &filter.job_type {
        query = query.filter(jobs::job_type.eq_any(types.iter().map(|job_type| job_type.as_str())));
    }
    if let Some(member_id) = filter.member_id {
        query = query.filter(jobs::member_id.eq(member_id));
    }
    if let Some(source_charge_id) = filter.source_charge_id {
        query = query.filter(jobs::source_charge_id.eq(source_charge_id));
    }
    if let Some(charge_event_id) = filter.charge_event_id {
        query = query.filter(jobs::charge_event_id.eq(charge_event_id));
    }
    if let Some(from) = filter.from {
        query = query.filter(jobs::created_at.ge(from));
    }
    if let Some(to) = filter.to {
        query = query.filter(jobs::created_at.lt(to));
    }
    query
}

impl Listing for ChargeJobFilter {
    type Row = ChargeJob;

    async fn page(
        &self,
        conn: &mut AsyncPgConnection,
        request: &PageRequest,
    ) -> QueryResult<PageRows<ChargeJob>> {
        let query = filtered(self).select(ChargeJob::as_select());
        let query = keyset_page!(query, request, jobs::created_at, jobs::id);
        Ok(request.page(query.load(conn).await?))
    }

    async fn count(&self, conn: &mut AsyncPgConnection, cap: i64) -> QueryResult<i64> {
        let order = (jobs::created_at.desc(), jobs::id.desc());
        let matching = filtered(self).select(sql::<Integer>("1")).order(order).limit(cap + 1);
        Counting(matching).get_result(conn).await
    }
}

/// One job.
pub async fn find_job(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<ChargeJob>> {
    jobs::table.find(id).select(ChargeJob::as_select()).first(conn).await.optional()
}

/// The jobs with these ids.
pub async fn jobs_by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<ChargeJob>> {
    jobs::table.filter(jobs::id.eq_any(ids)).select(ChargeJob::as_select()).load(conn).await
}

/// What these charges have earned, oldest first: as many as promotions applied.
pub async fn jobs_of_charges(
    conn: &mut AsyncPgConnection,
    charge_ids: &[i64],
) -> QueryResult<Vec<ChargeJob>> {
    jobs::table
        .filter(jobs::source_charge_id.eq_any(charge_ids))
        .order(jobs::id)
        .select(ChargeJob::as_select())
        .load(conn)
        .await
}

/// The jobs as a watcher reads them.
pub struct ChargeJobRows(pub Database);

impl RowSource for ChargeJobRows {
    type Row = ChargeJob;

    async fn load(&self, ids: Vec<i64>) -> Result<Vec<(i64, ChargeJob)>, DbError> {
        let jobs = jobs_by_ids(&mut *self.0.read().await?, &ids).await?;
        Ok(jobs.into_iter().map(|job| (job.id, job)).collect())
    }
}
