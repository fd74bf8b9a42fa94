//! Members: who buys. The member's row is the lock under which balances change and promotions are counted.

use diesel::{
    ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper,
    pg::Pg,
    prelude::{Queryable, QueryableByName, Selectable},
    result::QueryResult,
    sql_types::{BigInt, Nullable, Text},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use serde_json::json;
use thiserror::Error;

use super::Charges;
use crate::{
    audit::{self, Deed},
    auth::ServicePrincipal,
    db::{DbError, Statement, schema::member},
    failures::SubjectType,
    types::Instant,
};

/// Longest nickname.
const MAX_NICKNAME_CHARS: usize = 100;

/// A member.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, QueryableByName, Selectable)]
#[diesel(table_name = member, check_for_backend(Pg))]
pub struct Member {
    /// Primary key.
    pub id: i64,
    /// What operators know it by.
    pub nickname: Option<String>,
    /// When it was written.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

/// What a member is made or renamed with.
#[derive(Debug, Clone)]
pub struct MemberInput {
    /// The id that the member service knows it by; without one, a new member of ours.
    pub id: Option<i64>,
    /// 1 to 100 characters.
    pub nickname: String,
}

/// Why a member was not written.
#[derive(Debug, Error)]
pub enum UpsertMemberError {
    /// A field cannot be worked with.
    #[error("{message}")]
    InvalidInput {
        /// The field, as the API names it.
        field: &'static str,
        /// What it must be.
        message: String,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
}

impl From<diesel::result::Error> for UpsertMemberError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

impl Charges {
    /// Makes a member, or renames the one with this id. An ADMIN's is audited.
    pub async fn upsert_member(
        &self,
        service: &ServicePrincipal,
        input: MemberInput,
        request_id: &str,
    ) -> Result<Member, UpsertMemberError> {
        let nickname = input.nickname.trim();
        if !(1..=MAX_NICKNAME_CHARS).contains(&nickname.chars().count()) || nickname.contains('\0') {
            let message = "the nickname must have 1 to 100 characters, and no NUL".to_owned();
            return Err(UpsertMemberError::InvalidInput { field: "nickname", message });
        }
        let mut tx = self.db.begin().await?;
        let (before, after) = match input.id {
            Some(id) => (lock(tx.conn(), id).await?, upsert(tx.conn(), id, nickname).await?),
            None => (None, insert(tx.conn(), nickname).await?),
        };
        if let Some(admin) = service.principal().admin() {
            let state = |member: &Member| json!({ "nickname": member.nickname });
            let deed = Deed {
                action: "upsertMember",
                target_type: SubjectType::Member.as_str(),
                target_id: after.id.to_string(),
                reason: None,
                before: before.as_ref().map(state),
                after: Some(state(&after)),
                request_id,
                flow_id: None,
            };
            audit::record(tx.conn(), &admin, deed).await?;
        }
        tx.commit().await?;
        Ok(after)
    }
}

async fn upsert(conn: &mut AsyncPgConnection, id: i64, nickname: &str) -> QueryResult<Member> {
    Statement::new(
        "INSERT INTO member (id, nickname) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET nickname = excluded.nickname
         RETURNING id, nickname, created_at, updated_at",
    )
    .bind::<BigInt, _>(id)
    .bind::<Nullable<Text>, _>(Some(nickname.to_owned()))
    .get_result(conn)
    .await
}

/// A member with an id of ours. One that another service brought along may have taken the next: then the next after all
/// that are there, but for ids so large that none would be left.
async fn insert(conn: &mut AsyncPgConnection, nickname: &str) -> QueryResult<Member> {
    loop {
        let made = Statement::new(
            "INSERT INTO member (nickname) VALUES ($1) ON CONFLICT (id) DO NOTHING
             RETURNING id, nickname, created_at, updated_at",
        )
        .bind::<Nullable<Text>, _>(Some(nickname.to_owned()))
        .get_result(conn)
        .await
        .optional()?;
        if let Some(member) = made {
            return Ok(member);
        }
        Statement::new(
            "SELECT setval('member_id_seq', (SELECT max(id) FROM member WHERE id < 1::bigint << 62))",
        )
        .execute(conn)
        .await?;
    }
}

/// The member, locked for what changes its balances.
pub(super) async fn lock(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<Member>> {
    Statement::new("SELECT id, nickname, created_at, updated_at FROM member WHERE id = $1 FOR NO KEY UPDATE")
        .bind::<BigInt, _>(id)
        .get_result(conn)
        .await
        .optional()
}

/// One member.
pub async fn find_member(conn: &mut AsyncPgConnection, id: i64) -> QueryResult<Option<Member>> {
    Ok(members_by_ids(conn, &[id]).await?.pop())
}

/// The members with these ids.
pub async fn members_by_ids(conn: &mut AsyncPgConnection, ids: &[i64]) -> QueryResult<Vec<Member>> {
    member::table.filter(member::id.eq_any(ids)).select(Member::as_select()).load(conn).await
}
