//! What operators did, written in the transaction of the deed. The table refuses every later change.

use diesel::{Insertable, result::QueryResult};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use crate::{
    auth::{AdminPrincipal, Role},
    db::schema::audit_entry,
    types::text::storable,
};

/// Longest reason that is kept.
const MAX_REASON_BYTES: usize = 8 * 1024;

/// One deed.
#[derive(Debug, Clone)]
pub struct Deed<'a> {
    /// The mutation's name.
    pub action: &'static str,
    /// What kind of thing it was done to.
    pub target_type: &'static str,
    /// Its id.
    pub target_id: String,
    /// Why, in the operator's words.
    pub reason: Option<&'a str>,
    /// The target as it was.
    pub before: Option<serde_json::Value>,
    /// The target as it became.
    pub after: Option<serde_json::Value>,
    /// The request, as it stands in the log.
    pub request_id: &'a str,
    /// The flow of the target.
    pub flow_id: Option<Uuid>,
}

#[derive(Insertable)]
#[diesel(table_name = audit_entry)]
struct NewEntry<'a> {
    actor: &'a str,
    role: &'static str,
    action: &'static str,
    target_type: &'static str,
    target_id: String,
    reason: Option<String>,
    before: Option<serde_json::Value>,
    after: Option<serde_json::Value>,
    request_id: &'a str,
    flow_id: Option<Uuid>,
}

/// Writes a deed down, in the caller's transaction.
pub async fn record(conn: &mut AsyncPgConnection, admin: &AdminPrincipal, deed: Deed<'_>) -> QueryResult<()> {
    let entry = NewEntry {
        actor: admin.principal().subject(),
        role: Role::Admin.as_str(),
        action: deed.action,
        target_type: deed.target_type,
        target_id: deed.target_id,
        reason: deed.reason.map(|reason| storable(reason, MAX_REASON_BYTES)),
        before: deed.before,
        after: deed.after,
        request_id: deed.request_id,
        flow_id: deed.flow_id,
    };
    diesel::insert_into(audit_entry::table).values(entry).execute(conn).await?;
    Ok(())
}
