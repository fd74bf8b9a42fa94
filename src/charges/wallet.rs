//! Wallets and their ledger: a balance changes with its entry, in one statement, under the member's lock.

use diesel::{
    BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper,
    dsl::sql,
    pg::Pg,
    prelude::{Queryable, Selectable},
    result::QueryResult,
    sql_types::{BigInt, Integer, Text},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::{
    db::{
        Counting, Statement,
        page::{Listing, PageRequest, PageRows, keyset_page},
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
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
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

/// Whose ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerFilter {
    /// The member.
    pub member_id: i64,
}

impl Listing for LedgerFilter {
    type Row = LedgerEntry;

    async fn page(
        &self,
        conn: &mut AsyncPgConnection,
        request: &PageRequest,
    ) -> QueryResult<PageRows<LedgerEntry>> {
        let query = ledger_entry::table
            .filter(ledger_entry::member_id.eq(self.member_id))
            .select(LedgerEntry::as_select())
            .into_boxed();
        let query = keyset_page!(query, request, ledger_entry::created_at, ledger_entry::id);
        Ok(request.page(query.load(conn).await?))
    }

    async fn count(&self, conn: &mut AsyncPgConnection, cap: i64) -> QueryResult<i64> {
        let entries = ledger_entry::table
            .filter(ledger_entry::member_id.eq(self.member_id))
            .select(sql::<Integer>("1"))
            .order((ledger_entry::created_at.desc(), ledger_entry::id.desc()))
            .limit(cap + 1);
        Counting(entries).get_result(conn).await
    }
}
