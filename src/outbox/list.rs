//! What the API reads: single events, lists, counts.

use diesel::{
    BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper,
    dsl::sql,
    pg::Pg,
    result::QueryResult,
    sql_types::{Array, BigInt, Bool, Text},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use super::{OutboxEvent, OutboxStatus};
use crate::{
    db::{
        Database, DbError, RowSource, Statement,
        page::{Listing, PageRequest, PageRows, keyset_count, keyset_page},
        schema::payment_outbox as events,
    },
    types::Instant,
};

/// Which events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutboxFilter {
    /// In these states.
    pub status: Option<Vec<OutboxStatus>>,
    /// Of these types.
    pub event_type: Option<Vec<String>>,
    /// About this type of thing.
    pub aggregate_type: Option<String>,
    /// About this thing.
    pub aggregate_id: Option<String>,
    /// With this event id.
    pub event_id: Option<Uuid>,
    /// With this correlation id.
    pub correlation_id: Option<String>,
    /// Of this flow.
    pub flow_id: Option<Uuid>,
    /// With these last error codes.
    pub error_code: Option<Vec<String>>,
    /// Written from this moment on.
    pub from: Option<Instant>,
    /// Written before this moment.
    pub to: Option<Instant>,
}

fn filtered(filter: &OutboxFilter) -> events::BoxedQuery<'_, Pg> {
    let mut query = events::table.into_boxed();
    if let Some(status) = &filter.status {
        // As literals, so that the partial index of the state serves also a generic plan.
        query = query.filter(sql::<Bool>(&any_of(status)));
    }
    if let Some(types) = &filter.event_type {
        query = query.filter(events::event_type.eq_any(types));
    }
    if let Some(aggregate_type) = &filter.aggregate_type {
        query = query.filter(events::aggregate_type.eq(aggregate_type));
    }
    if let Some(aggregate_id) = &filter.aggregate_id {
        query = query.filter(events::aggregate_id.eq(aggregate_id));
    }
    if let Some(event_id) = filter.event_id {
        query = query.filter(events::event_id.eq(event_id));
    }
    if let Some(correlation_id) = &filter.correlation_id {
        // Only those that are not the event_id are in the correlation's index, which names this condition.
        let apart = events::correlation_id
            .eq(correlation_id)
            .and(sql::<Bool>("payment_outbox.correlation_id <> payment_outbox.event_id::text"));
        query = match Uuid::parse_str(correlation_id) {
            Ok(id) => {
                query.filter(apart.or(events::event_id.eq(id).and(events::correlation_id.eq(correlation_id))))
            }
            Err(_other_text) => query.filter(apart),
        };
    }
    if let Some(flow_id) = filter.flow_id {
        query = query.filter(events::flow_id.eq(flow_id));
    }
    if let Some(codes) = &filter.error_code {
        query = match codes.as_slice() {
            [only] => query.filter(events::last_error_code.eq(only)),
            several => query.filter(events::last_error_code.eq_any(several)),
        };
    }
    if let Some(from) = filter.from {
        query = query.filter(events::created_at.ge(from));
    }
    if let Some(to) = filter.to {
        query = query.filter(events::created_at.lt(to));
    }
    query
}

/// `status IN (…)`, spelt so that a single state names its own partial index.
fn any_of(status: &[OutboxStatus]) -> String {
    match status {
        [] => "false".to_owned(),
        [only] => format!("payment_outbox.status = '{}'", only.as_str()),
        several => {
            let names: Vec<_> = several.iter().map(|status| format!("'{}'", status.as_str())).collect();
            format!("payment_outbox.status IN ({})", names.join(", "))
        }
    }
}

impl Listing for OutboxFilter {
    type Row = OutboxEvent;

    async fn page(
        &self,
        conn: &mut AsyncPgConnection,
        request: &PageRequest,
    ) -> QueryResult<PageRows<OutboxEvent>> {
        let query = filtered(self).select(OutboxEvent::as_select());
        let query = keyset_page!(query, request, events::created_at, events::id);
        Ok(request.page(query.load(conn).await?))
    }

    async fn count(&self, conn: &mut AsyncPgConnection, cap: i64) -> QueryResult<i64> {
        keyset_count!(filtered(self), cap, events::created_at, events::id).get_result(conn).await
    }
}

/// One event.
pub async fn find(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<OutboxEvent>> {
    events::table.find(id).select(OutboxEvent::as_select()).first(conn).await.optional()
}

/// The events with these ids.
pub async fn by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<OutboxEvent>> {
    events::table.filter(events::id.eq_any(ids)).select(OutboxEvent::as_select()).load(conn).await
}

/// The events about these things, oldest first; of each the newest `per_aggregate`.
pub async fn for_aggregates(
    conn: &mut AsyncPgConnection,
    aggregate_type: &'static str,
    aggregate_ids: Vec<String>,
    per_aggregate: i64,
) -> QueryResult<Vec<OutboxEvent>> {
    Statement::new(
        "SELECT newest.* FROM unnest($2) AS aggregate (id) CROSS JOIN LATERAL (
             SELECT id, event_id, correlation_id, flow_id, event_type, aggregate_type, aggregate_id, exchange, routing_key,
                 status, retry_count, attempt_count, suspect, next_retry_at, last_error, last_error_code,
                 claim_trigger, claimed_by, processing_started_at, published_at, dead_lettered_at, created_at, updated_at
             FROM payment_outbox WHERE aggregate_type = $1 AND aggregate_id = aggregate.id
             ORDER BY created_at DESC, id DESC LIMIT $3
         ) newest ORDER BY newest.created_at, newest.id",
    )
    .bind::<Text, _>(aggregate_type)
    .bind::<Array<Text>, _>(aggregate_ids)
    .bind::<BigInt, _>(per_aggregate)
    .load(conn)
    .await
}

/// The bodies of these events, as written. They may be large: read only when asked for.
pub async fn payloads(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<(i64, String)>> {
    let text = sql::<Text>("payment_outbox.payload::text");
    events::table.filter(events::id.eq_any(ids)).select((events::id, text)).load(conn).await
}

/// The events as a watcher reads them.
pub struct OutboxRows(pub Database);

impl RowSource for OutboxRows {
    type Row = OutboxEvent;

    async fn load(&self, ids: Vec<i64>) -> Result<Vec<(i64, OutboxEvent)>, DbError> {
        let events = by_ids(&mut *self.0.read().await?, &ids).await?;
        Ok(events.into_iter().map(|event| (event.id, event)).collect())
    }
}
