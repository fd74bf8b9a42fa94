//! What was presented for a charge: each reference is written down before its gateway is asked, and asked about until the
//! answer is final, whatever else is presented.

use std::time::Duration;

use diesel::{
    QueryableByName,
    result::QueryResult,
    sql_types::{BigInt, Binary, Bool, Nullable, Text},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use sha2::{Digest, Sha256};

use super::RefusedCode;
use crate::{db::Statement, types::millis};

/// The outcome of the reference that paid its charge.
pub(super) const COMPLETE: &str = "COMPLETE";
/// So many references of a charge are asked about again although nobody knows them, the first ones; and so many whose
/// answer was final are remembered, the newest ones. Whoever presents more cannot make a table grow, nor displace anything.
const KEPT: i64 = 20;

/// A reference that is due to be asked about.
#[derive(Debug, Clone, PartialEq, Eq, QueryableByName)]
pub(super) struct DueReference {
    /// For which charge.
    #[diesel(sql_type = BigInt)]
    pub(super) charge_id: i64,
    /// What was presented.
    #[diesel(sql_type = Text)]
    pub(super) reference: String,
    /// Whether its outcome has been unknown for a week.
    #[diesel(sql_type = Bool)]
    pub(super) is_overdue: bool,
}

/// What an answer came to, as it is kept with the reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answered {
    /// The refusal; none: it has paid the charge.
    pub(super) refused: Option<RefusedCode>,
    /// Whether it is the last word.
    pub(super) is_final: bool,
    /// Whether the charge's approval, if this has it, is free for another one: nothing was paid by this.
    pub(super) releases: bool,
    /// Whether this was approved under the lease that ends with this.
    pub(super) approved: bool,
}

impl Answered {
    fn outcome(self) -> &'static str {
        self.refused.map_or(COMPLETE, RefusedCode::as_str)
    }

    /// Whether nobody knows what was presented, or nobody answered.
    fn is_unknown(self) -> bool {
        !self.is_final
            && matches!(
                self.refused,
                Some(
                    RefusedCode::ChargeNotPaid
                        | RefusedCode::GatewayUnavailable
                        | RefusedCode::GatewayMisconfigured
                )
            )
    }
}

/// What may be so of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fact {
    /// It has paid the charge.
    Paid,
    /// The gateway told that money of it went back.
    Reversed,
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = Bool)]
    found: bool,
}

/// What a reference is found by: it may be longer than an index entry.
pub(super) fn digest(reference: &str) -> Vec<u8> {
    Sha256::digest(reference).to_vec()
}

/// Notes what is presented, and has the reconciler ask about it should nobody be left to hear the answer. The same again
/// never waits longer than it did.
pub(super) async fn present(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    reference: &str,
    check_after: Duration,
) -> QueryResult<()> {
    Statement::new(
        "INSERT INTO charge_reference AS known (charge_id, reference, digest, next_check_at)
         VALUES ($1, $2, $3, now() + $4 * interval '1 millisecond')
         ON CONFLICT (digest, charge_id) DO UPDATE
         SET presented_at = now(), next_check_at = least(known.next_check_at, excluded.next_check_at)",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Text, _>(reference.to_owned())
    .bind::<Binary, _>(digest(reference))
    .bind::<BigInt, _>(millis(check_after))
    .execute(conn)
    .await?;
    Ok(())
}

/// A statement that writes down an answer to `$2` about the charge `$1`, and with it what becomes of the charge's
/// approval: `$5` frees it, `$6` ends its lease.
macro_rules! noting {
    ($how:literal) => {
        concat!(
            "WITH freed AS (
                 UPDATE charge SET approving_reference = CASE WHEN NOT $5 THEN approving_reference END, approving_until = NULL
                 WHERE id = $1 AND approving_reference = $2 AND ($5 OR $6)
             ), ",
            $how
        )
    };
}

/// Written although it was not kept before. Of those whose answer was final the newest are remembered.
const FINAL: &str = noting!(
    "forgotten AS (
         DELETE FROM charge_reference WHERE id = ANY (ARRAY(
             SELECT id FROM charge_reference
             WHERE charge_id = $1 AND digest <> $3 AND next_check_at IS NULL AND reversed_at IS NULL
               AND outcome IS DISTINCT FROM 'COMPLETE'
             ORDER BY id DESC OFFSET $7))
     ), noted AS (
         INSERT INTO charge_reference (charge_id, reference, digest, outcome) VALUES ($1, $2, $3, $4)
         ON CONFLICT (digest, charge_id) DO UPDATE SET outcome = excluded.outcome, next_check_at = NULL
     )
     SELECT true AS found"
);
/// Written although it was not kept before: the gateway knows it. It does not begin anew what has ended.
const OPEN: &str = noting!(
    "noted AS (
         INSERT INTO charge_reference AS known (charge_id, reference, digest, outcome, next_check_at)
         VALUES ($1, $2, $3, $4, now() + $7 * interval '1 millisecond')
         ON CONFLICT (digest, charge_id) DO UPDATE SET outcome = excluded.outcome WHERE known.next_check_at IS NOT NULL
     )
     SELECT true AS found"
);
/// Kept if there is room when that is first said: whatever has its place keeps it.
const UNKNOWN: &str = noting!(
    "dropped AS (
         DELETE FROM charge_reference r
         WHERE r.digest = $3 AND r.charge_id = $1 AND r.outcome IS NULL AND (
             SELECT count(*) FROM (
                 SELECT FROM charge_reference o
                 WHERE o.charge_id = $1 AND o.id < r.id AND o.next_check_at IS NOT NULL LIMIT $7
             ) older
         ) >= $7
         RETURNING r.id
     ), noted AS (
         UPDATE charge_reference SET outcome = $4
         WHERE digest = $3 AND charge_id = $1 AND next_check_at IS NOT NULL AND NOT EXISTS (SELECT FROM dropped)
     )
     SELECT NOT EXISTS (SELECT FROM dropped) AS found"
);

/// Writes down what an answer came to; false if the reference is not kept. The caller holds the charge's lock.
pub(super) async fn answered(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    reference: &str,
    answered: Answered,
    check_after: Duration,
) -> QueryResult<bool> {
    let (how, limit) = if answered.is_final {
        (FINAL, KEPT)
    } else if answered.is_unknown() {
        (UNKNOWN, KEPT)
    } else {
        (OPEN, millis(check_after))
    };
    let kept: Found = Statement::new(how)
        .bind::<BigInt, _>(charge_id)
        .bind::<Text, _>(reference.to_owned())
        .bind::<Binary, _>(digest(reference))
        .bind::<Text, _>(answered.outcome())
        .bind::<Bool, _>(answered.releases)
        .bind::<Bool, _>(answered.approved)
        .bind::<BigInt, _>(limit)
        .get_result(conn)
        .await?;
    Ok(kept.found)
}

/// Has a reference asked about again that nobody asks about any more.
pub(super) async fn ask_again(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    reference: &str,
    check_after: Duration,
) -> QueryResult<()> {
    Statement::new(
        "UPDATE charge_reference SET next_check_at = now() + $3 * interval '1 millisecond'
         WHERE digest = $2 AND charge_id = $1 AND next_check_at IS NULL",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Binary, _>(digest(reference))
    .bind::<BigInt, _>(millis(check_after))
    .execute(conn)
    .await?;
    Ok(())
}

/// Notes that the gateway told that money of this purchase went back: it is not credited after that without a person.
pub(super) async fn reversed(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    transaction_id: &str,
) -> QueryResult<()> {
    Statement::new(
        "INSERT INTO charge_reference AS known (charge_id, reference, digest, outcome, reversed_at)
         VALUES ($1, $2, $3, 'PURCHASE_CANCELED', now())
         ON CONFLICT (digest, charge_id) DO UPDATE SET reversed_at = coalesce(known.reversed_at, now())",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Text, _>(transaction_id.to_owned())
    .bind::<Binary, _>(digest(transaction_id))
    .execute(conn)
    .await?;
    Ok(())
}

/// Whether this is what paid the charge.
pub(super) async fn has_paid(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    reference: &str,
) -> QueryResult<bool> {
    exists(conn, charge_id, Some(reference), Fact::Paid).await
}

/// Whether the gateway told that money of this purchase went back, or, without one, of whatever was paid for the charge.
pub(super) async fn is_reversed(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    transaction_id: Option<&str>,
) -> QueryResult<bool> {
    exists(conn, charge_id, transaction_id, Fact::Reversed).await
}

/// Whether this reference of the charge, or, without one, any is so. A charge has few.
async fn exists(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    reference: Option<&str>,
    fact: Fact,
) -> QueryResult<bool> {
    let found: Found = Statement::new(
        "SELECT EXISTS (
             SELECT 1 FROM charge_reference
             WHERE charge_id = $1 AND ($2 IS NULL OR digest = $2)
               AND CASE WHEN $3 THEN reversed_at IS NOT NULL ELSE outcome = 'COMPLETE' END
         ) AS found",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Nullable<Binary>, _>(reference.map(digest))
    .bind::<Bool, _>(fact == Fact::Reversed)
    .get_result(conn)
    .await?;
    Ok(found.found)
}

/// Claims references that are due to be asked about, by pushing their next look forward: any number of processes may ask
/// at once, and each row goes to one of them. The wait grows with the age, up to six hours, and after a week it is a day; of
/// what the gateway does not know it is the last one then.
pub(super) async fn claim_due(
    conn: &mut AsyncPgConnection,
    after: Duration,
    limit: i64,
) -> QueryResult<Vec<DueReference>> {
    Statement::new(
        "WITH due AS MATERIALIZED (
             SELECT id FROM charge_reference WHERE next_check_at IS NOT NULL AND next_check_at <= now()
             ORDER BY next_check_at, id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
         )
         UPDATE charge_reference r
         SET next_check_at = CASE
             WHEN r.presented_at > now() - interval '7 days' THEN now()
                 + least(greatest((now() - r.presented_at) / 2, $1 * interval '1 millisecond'),
                         greatest(interval '6 hours', $1 * interval '1 millisecond'))
             WHEN r.outcome IS DISTINCT FROM 'CHARGE_NOT_PAID' THEN now() + interval '1 day' END
         FROM due WHERE r.id = due.id
         RETURNING r.charge_id, r.reference, r.presented_at <= now() - interval '7 days' AS is_overdue",
    )
    .bind::<BigInt, _>(millis(after))
    .bind::<BigInt, _>(limit)
    .load(conn)
    .await
}
