use diesel::{
    ExpressionMethods, QueryDsl, QueryableByName, SelectableHelper,
    dsl::sql,
    pg::Pg,
    result::QueryResult,
    sql_types::{Array, BigInt, Bool, Integer, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::{Failure, FailureKind, Severity, SubjectType};
use crate::{
    db::{
        Counting, Minute, Statement,
        page::{Keyset, Listing, PageRequest, PageRows},
        schema::failure,
    },
    types::Instant,
};

/// Which failures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailureFilter {
    /// Of these kinds.
    pub kind: Option<Vec<FailureKind>>,
    /// Of these severities.
    pub severity: Option<Vec<Severity>>,
    /// Of subjects of this type.
    pub subject_type: Option<String>,
    /// Of this subject.
    pub subject_id: Option<String>,
    /// With these codes.
    pub code: Option<Vec<String>>,
    /// From this moment on.
    pub from: Option<Instant>,
    /// Before this moment.
    pub to: Option<Instant>,
    /// Of this group (its fingerprint).
    pub group: Option<String>,
}

impl FailureFilter {
    /// Whether a failure of the live feed passes; the same rule as the list's.
    pub fn matches(&self, failure: &Failure) -> bool {
        let kind = |kinds: &Vec<FailureKind>| kinds.iter().any(|kind| kind.as_str() == failure.kind);
        let severity =
            |severities: &Vec<Severity>| severities.iter().any(|level| level.as_str() == failure.severity);
        self.kind.as_ref().is_none_or(kind)
            && self.severity.as_ref().is_none_or(severity)
            && self.subject_type.as_ref().is_none_or(|subject_type| *subject_type == failure.subject_type)
            && self.subject_id.as_ref().is_none_or(|subject_id| *subject_id == failure.subject_id)
            && self.code.as_ref().is_none_or(|codes| codes.contains(&failure.code))
            && self.from.is_none_or(|from| failure.occurred_at >= from)
            && self.to.is_none_or(|to| failure.occurred_at < to)
            && self.group.as_ref().is_none_or(|group| *group == failure.fingerprint)
    }
}

fn filtered(filter: &FailureFilter) -> failure::BoxedQuery<'_, Pg> {
    // Only numbered rows are part of the feed.
    let mut query = failure::table.filter(failure::position.is_not_null()).into_boxed();
    if let Some(kinds) = &filter.kind {
        // One value as an equation: only then does an index that begins with it give the feed's order.
        query = match kinds.as_slice() {
            [only] => query.filter(failure::kind.eq(only.as_str())),
            several => query.filter(failure::kind.eq_any(several.iter().map(|kind| kind.as_str()))),
        };
    }
    if let Some(severities) = &filter.severity {
        query = match severities.as_slice() {
            [only] => query.filter(failure::severity.eq(only.as_str())),
            several => query.filter(failure::severity.eq_any(several.iter().map(|level| level.as_str()))),
        };
    }
    if let Some(subject_type) = &filter.subject_type {
        query = query.filter(failure::subject_type.eq(subject_type));
    }
    if let Some(subject_id) = &filter.subject_id {
        query = query.filter(failure::subject_id.eq(subject_id));
    }
    if let Some(codes) = &filter.code {
        query = match codes.as_slice() {
            [only] => query.filter(failure::code.eq(only)),
            several => query.filter(failure::code.eq_any(several)),
        };
    }
    if let Some(from) = filter.from {
        query = query.filter(failure::occurred_at.ge(from));
    }
    if let Some(to) = filter.to {
        query = query.filter(failure::occurred_at.lt(to));
    }
    if let Some(group) = &filter.group {
        query = query.filter(failure::fingerprint.eq(group));
    }
    query
}

/// Whether one of the indexes that begin with a column and go on with the negated position serves the filter.
fn has_own_index(filter: &FailureFilter) -> bool {
    filter.kind.as_ref().is_some_and(|kinds| kinds.len() == 1)
        || filter.severity.as_ref().is_some_and(|severities| severities.len() == 1)
        || filter.code.as_ref().is_some_and(|codes| codes.len() == 1)
        || filter.group.is_some()
}

/// In the feed's order: the keyset's `id` is the position.
impl Listing for FailureFilter {
    type Row = Failure;

    async fn page(
        &self,
        conn: &mut AsyncPgConnection,
        request: &PageRequest,
    ) -> QueryResult<PageRows<Failure>> {
        let negated = has_own_index(self);
        let mut query = filtered(self).select(Failure::as_select()).limit(request.fetch());
        if let Some(Keyset { id, .. }) = request.after {
            query = query.filter(failure::position.lt(id));
            if negated {
                query =
                    query.filter(sql::<Bool>("-failure.position > ").bind::<BigInt, _>(id.saturating_neg()));
            }
        }
        if let Some(Keyset { id, .. }) = request.before {
            query = query.filter(failure::position.gt(id));
            if negated {
                query =
                    query.filter(sql::<Bool>("-failure.position < ").bind::<BigInt, _>(id.saturating_neg()));
            }
        }
        query = match (negated, request.backwards) {
            (false, false) => query.order(failure::position.desc()),
            (false, true) => query.order(failure::position.asc()),
            (true, false) => query.order(sql::<BigInt>("-failure.position")),
            (true, true) => query.order(sql::<BigInt>("-failure.position DESC")),
        };
        Ok(request.page(query.load(conn).await?))
    }

    async fn count(&self, conn: &mut AsyncPgConnection, cap: i64) -> QueryResult<i64> {
        let matching = filtered(self).select(sql::<Integer>("1")).limit(cap + 1);
        let matching = if has_own_index(self) {
            matching.order(sql::<BigInt>("-failure.position"))
        } else {
            matching.order(failure::position.desc())
        };
        Counting(matching).get_result(conn).await
    }
}

/// The failures with these ids.
pub async fn by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<Failure>> {
    failure::table.filter(failure::id.eq_any(ids)).select(Failure::as_select()).load(conn).await
}

/// The failures of these subjects, oldest first; of each the newest `per_subject`.
pub async fn for_subjects(
    conn: &mut AsyncPgConnection,
    subject_type: &'static str,
    subject_ids: Vec<String>,
    per_subject: i64,
) -> QueryResult<Vec<Failure>> {
    Statement::new(
        "SELECT newest.* FROM unnest($2) AS subject (id) CROSS JOIN LATERAL (
             SELECT id, position, kind, severity, subject_type, subject_id, event_type, code, message, detail, fingerprint,
                 attempt, flow_id, occurred_at
             FROM failure WHERE subject_type = $1 AND subject_id = subject.id ORDER BY id DESC LIMIT $3
         ) newest ORDER BY newest.id",
    )
    .bind::<Text, _>(subject_type)
    .bind::<Array<Text>, _>(subject_ids)
    .bind::<BigInt, _>(per_subject)
    .load(conn)
    .await
}

/// Whether the subject has this failure already, by the text of one field of its detail.
pub async fn is_told(
    conn: &mut AsyncPgConnection,
    subject_type: SubjectType,
    subject_id: &str,
    kind: FailureKind,
    code: &str,
    field: &'static str,
    value: &str,
) -> QueryResult<bool> {
    #[derive(QueryableByName)]
    struct Told {
        #[diesel(sql_type = Bool)]
        told: bool,
    }
    let told: Told = Statement::new(
        "SELECT EXISTS (
             SELECT 1 FROM failure
             WHERE subject_type = $1 AND subject_id = $2 AND kind = $3 AND code = $4 AND detail ->> $5 = $6
         ) AS told",
    )
    .bind::<Text, _>(subject_type.as_str())
    .bind::<Text, _>(subject_id.to_owned())
    .bind::<Text, _>(kind.as_str())
    .bind::<Text, _>(code.to_owned())
    .bind::<Text, _>(field)
    .bind::<Text, _>(value.to_owned())
    .get_result(conn)
    .await?;
    Ok(told.told)
}

/// How many occurred in each minute from `since` on, the newest minute first, looking at `limit` of them at most.
pub async fn per_minute(
    conn: &mut AsyncPgConnection,
    since: Instant,
    limit: i64,
) -> QueryResult<Vec<Minute>> {
    Statement::new(
        "SELECT date_trunc('minute', occurred_at) AS at, count(*) AS value
         FROM (SELECT occurred_at FROM failure WHERE occurred_at >= $1 ORDER BY occurred_at DESC LIMIT $2) newest
         GROUP BY 1 ORDER BY 1 DESC",
    )
    .bind::<Timestamptz, _>(since)
    .bind::<BigInt, _>(limit)
    .load(conn)
    .await
}

/// The failures after `position`, oldest first.
pub(super) async fn after(
    conn: &mut AsyncPgConnection,
    position: i64,
    limit: i64,
) -> QueryResult<Vec<Failure>> {
    failure::table
        .filter(failure::position.gt(position))
        .order(failure::position.asc())
        .limit(limit)
        .select(Failure::as_select())
        .load(conn)
        .await
}

/// The newest position.
pub(super) async fn last_position(conn: &mut AsyncPgConnection) -> QueryResult<i64> {
    use crate::db::schema::failure_feed;
    failure_feed::table.select(failure_feed::last).first(conn).await
}
