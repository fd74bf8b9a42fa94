//! Wallets and their ledger: a balance changes with its entry, in one statement, under the member's lock.

use std::collections::HashMap;

use diesel::{
    ExpressionMethods, QueryDsl, QueryableByName, SelectableHelper,
    pg::Pg,
    prelude::{Queryable, Selectable},
    result::QueryResult,
    sql_types::{Array, BigInt, Nullable, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::{
    db::{
        Statement,
        page::{Keyset, PageRequest, PageRows},
        schema::{ledger_entry, wallet},
    },
    types::{Instant, stored_enum},
};

stored_enum! {
    /// Which balance an entry changed.
    LedgerKind {
        /// What was bought.
        Charge = "CHARGE",
        /// What promotions gave.
        Bonus = "BONUS",
    }
}

/// A member's balances of one container.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = wallet, check_for_backend(Pg))]
pub struct Wallet {
    /// Whose.
    pub member_id: i64,
    /// A [`super::Container`].
    pub container: String,
    /// What was bought.
    pub charge_can: i64,
    /// What promotions gave.
    pub bonus_can: i64,
}

/// A change of a balance.
#[derive(Debug, Clone, PartialEq, Eq, QueryableByName)]
#[diesel(table_name = ledger_entry, check_for_backend(Pg))]
pub struct LedgerEntry {
    /// Primary key.
    pub id: i64,
    /// Whose.
    pub member_id: i64,
    /// A [`super::Container`].
    pub container: String,
    /// What it was credited for.
    pub charge_id: i64,
    /// A [`LedgerKind`].
    pub kind: String,
    /// By how much.
    pub can: i64,
    /// That balance after it.
    pub balance_after: i64,
    /// When.
    pub created_at: Instant,
}

/// A balance about to grow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Credit<'a> {
    pub(super) member_id: i64,
    pub(super) container: &'a str,
    pub(super) charge_id: i64,
    pub(super) can: i64,
}

/// Credits what was bought, and writes its entry. The caller holds the member's lock.
pub(super) async fn credit_charge(conn: &mut AsyncPgConnection, credit: Credit<'_>) -> QueryResult<()> {
    credited(
        "WITH credited AS (
             INSERT INTO wallet AS w (member_id, container, charge_can) VALUES ($1, $2, $4)
             ON CONFLICT (member_id, container) DO UPDATE SET charge_can = w.charge_can + excluded.charge_can
             RETURNING member_id, container, charge_can AS balance
         )
         INSERT INTO ledger_entry (member_id, container, charge_id, kind, can, balance_after)
         SELECT member_id, container, $3, 'CHARGE', $4, balance FROM credited",
        conn,
        credit,
    )
    .await
}

/// Credits a bonus, and writes its entry. The caller holds the member's lock.
pub(super) async fn credit_bonus(conn: &mut AsyncPgConnection, credit: Credit<'_>) -> QueryResult<()> {
    credited(
        "WITH credited AS (
             INSERT INTO wallet AS w (member_id, container, bonus_can) VALUES ($1, $2, $4)
             ON CONFLICT (member_id, container) DO UPDATE SET bonus_can = w.bonus_can + excluded.bonus_can
             RETURNING member_id, container, bonus_can AS balance
         )
         INSERT INTO ledger_entry (member_id, container, charge_id, kind, can, balance_after)
         SELECT member_id, container, $3, 'BONUS', $4, balance FROM credited",
        conn,
        credit,
    )
    .await
}

async fn credited(sql: &'static str, conn: &mut AsyncPgConnection, credit: Credit<'_>) -> QueryResult<()> {
    Statement::new(sql)
        .bind::<BigInt, _>(credit.member_id)
        .bind::<Text, _>(credit.container.to_owned())
        .bind::<BigInt, _>(credit.charge_id)
        .bind::<BigInt, _>(credit.can)
        .execute(conn)
        .await?;
    Ok(())
}

/// The wallets of these members that were ever credited.
pub async fn wallets_of(conn: &mut AsyncPgConnection, member_ids: &[i64]) -> QueryResult<Vec<Wallet>> {
    wallet::table.filter(wallet::member_id.eq_any(member_ids)).select(Wallet::as_select()).load(conn).await
}

/// A page of each of these members' ledgers, newest first; what is asked for is the same for all.
pub async fn ledgers_of(
    conn: &mut AsyncPgConnection,
    member_ids: &[i64],
    request: &PageRequest,
) -> QueryResult<HashMap<i64, PageRows<LedgerEntry>>> {
    // Both bounds are always there, so that one plan serves every page; the comparison of the time alone is what bounds
    // the scan.
    let statement = if request.backwards {
        "SELECT entry.* FROM unnest($1) AS member (id) CROSS JOIN LATERAL (
             SELECT id, member_id, container, charge_id, kind, can, balance_after, created_at FROM ledger_entry l
             WHERE l.member_id = member.id AND l.created_at <= coalesce($2, 'infinity') AND l.created_at >= coalesce($4, '-infinity')
                 AND (l.created_at < coalesce($2, 'infinity') OR l.id < $3) AND (l.created_at > coalesce($4, '-infinity') OR l.id > $5)
             ORDER BY l.created_at, l.id LIMIT $6
         ) entry ORDER BY entry.created_at, entry.id"
    } else {
        "SELECT entry.* FROM unnest($1) AS member (id) CROSS JOIN LATERAL (
             SELECT id, member_id, container, charge_id, kind, can, balance_after, created_at FROM ledger_entry l
             WHERE l.member_id = member.id AND l.created_at <= coalesce($2, 'infinity') AND l.created_at >= coalesce($4, '-infinity')
                 AND (l.created_at < coalesce($2, 'infinity') OR l.id < $3) AND (l.created_at > coalesce($4, '-infinity') OR l.id > $5)
             ORDER BY l.created_at DESC, l.id DESC LIMIT $6
         ) entry ORDER BY entry.created_at DESC, entry.id DESC"
    };
    let key = |keyset: Option<Keyset>| (keyset.map(|keyset| keyset.at), keyset.map_or(0, |keyset| keyset.id));
    let ((older_than, older_id), (newer_than, newer_id)) = (key(request.after), key(request.before));
    let rows: Vec<LedgerEntry> = Statement::new(statement)
        .bind::<Array<BigInt>, _>(member_ids.to_vec())
        .bind::<Nullable<Timestamptz>, _>(older_than)
        .bind::<BigInt, _>(older_id)
        .bind::<Nullable<Timestamptz>, _>(newer_than)
        .bind::<BigInt, _>(newer_id)
        .bind::<BigInt, _>(request.fetch())
        .load(conn)
        .await?;
    let mut read: HashMap<i64, Vec<LedgerEntry>> = HashMap::new();
    for row in rows {
        read.entry(row.member_id).or_default().push(row);
    }
    let page = |id: &i64| (*id, request.page(read.remove(id).unwrap_or_default()));
    Ok(member_ids.iter().map(page).collect())
}

/// How many entries each of these members' ledgers has, counted up to `cap + 1`.
pub async fn ledger_counts_of(
    conn: &mut AsyncPgConnection,
    member_ids: &[i64],
    cap: i64,
) -> QueryResult<HashMap<i64, i64>> {
    #[derive(QueryableByName)]
    struct Counted {
        #[diesel(sql_type = BigInt)]
        id: i64,
        #[diesel(sql_type = BigInt)]
        entries: i64,
    }
    let counted: Vec<Counted> = Statement::new(
        "SELECT member.id, (
             SELECT count(*) FROM (
                 SELECT 1 FROM ledger_entry l WHERE l.member_id = member.id ORDER BY l.created_at DESC, l.id DESC LIMIT $2
             ) bounded
         ) AS entries
         FROM unnest($1) AS member (id)",
    )
    .bind::<Array<BigInt>, _>(member_ids.to_vec())
    .bind::<BigInt, _>(cap + 1)
    .load(conn)
    .await?;
    Ok(counted.into_iter().map(|row| (row.id, row.entries)).collect())
}
