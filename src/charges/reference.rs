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
/// So many of a charge's references are asked about at once, and so many are remembered whose answer was final. What is
/// presented beyond that is asked about once, and kept only if the gateway knows of it: whoever presents junk may keep
/// others from being kept, and never displaces what is kept already.
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

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = Bool)]
    found: bool,
}

/// What a reference is found by.
pub(super) fn digest(reference: &str) -> Vec<u8> {
    Sha256::digest(reference).to_vec()
}

/// Notes what is presented, and has the reconciler ask about it should nobody be left to hear the answer. The same again
/// never waits longer than it did. A charge that has its fill of open references takes no other one before its gateway
/// is asked; of those whose answer was final, and which paid nothing, the oldest are forgotten.
pub(super) async fn present(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    reference: &str,
    check_after: Duration,
) -> QueryResult<()> {
    Statement::new(
        "WITH forgotten AS (
             DELETE FROM charge_reference
             WHERE next_check_at IS NULL AND id = ANY (ARRAY(
                 SELECT id FROM charge_reference
                 WHERE charge_id = $1 AND next_check_at IS NULL AND reversed_at IS NULL AND outcome <> 'COMPLETE' AND digest <> $3
                 ORDER BY id DESC OFFSET $5))
         )
         INSERT INTO charge_reference AS known (charge_id, reference, digest, next_check_at)
         SELECT $1, $2, $3, now() + $4 * interval '1 millisecond'
         WHERE EXISTS (SELECT 1 FROM charge_reference WHERE digest = $3 AND charge_id = $1)
            OR $5 > (SELECT count(*) FROM charge_reference WHERE charge_id = $1 AND next_check_at IS NOT NULL)
         ON CONFLICT (digest, charge_id) DO UPDATE
         SET presented_at = now(), next_check_at = least(known.next_check_at, excluded.next_check_at)",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Text, _>(reference.to_owned())
    .bind::<Binary, _>(digest(reference))
    .bind::<BigInt, _>(millis(check_after))
    .bind::<BigInt, _>(KEPT)
    .execute(conn)
    .await?;
    Ok(())
}

/// What an answer came to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answered {
    /// The refusal; none: it paid the charge.
    pub(super) refused: Option<RefusedCode>,
    /// Whether the gateway has said its last word.
    pub(super) is_final: bool,
    /// Whether nothing was paid by it, nor will be by an approval under way: the charge's approval is given back.
    pub(super) releases: bool,
    /// Whether our approval is over, whatever came of it: it may be tried again.
    pub(super) approved: bool,
}

impl Answered {
    /// Whether it is kept although the charge had its fill: nobody makes up what a gateway knows of.
    fn keeps(self) -> bool {
        match self.refused {
            None => true,
            Some(RefusedCode::PurchasePending | RefusedCode::PaymentInProgress) => !self.is_final,
            Some(_) => false,
        }
    }
}

/// Writes down what an answer came to, and that the charge's approval is over with it. A final one ends the asking;
/// another does not begin it anew. Tells whether it is kept. The caller holds the charge's lock.
pub(super) async fn answered(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    reference: &str,
    answered: Answered,
    check_after: Duration,
) -> QueryResult<bool> {
    let outcome = answered.refused.map_or(COMPLETE, RefusedCode::as_str);
    let kept = Statement::new(
        "WITH released AS (
             UPDATE charge
             SET approving_reference = CASE WHEN NOT $7 THEN approving_reference END, approving_until = NULL
             WHERE id = $1 AND approving_reference = $2 AND ($7 OR $8)
         )
         INSERT INTO charge_reference AS known (charge_id, reference, digest, outcome, next_check_at)
         SELECT $1, $2, $3, $4, CASE WHEN NOT $5 THEN now() + $9 * interval '1 millisecond' END
         WHERE $6 OR EXISTS (SELECT 1 FROM charge_reference WHERE digest = $3 AND charge_id = $1)
         ON CONFLICT (digest, charge_id) DO UPDATE
         SET outcome = CASE WHEN $5 OR known.next_check_at IS NOT NULL THEN $4 ELSE known.outcome END,
             next_check_at = CASE WHEN NOT $5 THEN known.next_check_at END",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Text, _>(reference.to_owned())
    .bind::<Binary, _>(digest(reference))
    .bind::<Text, _>(outcome)
    .bind::<Bool, _>(answered.is_final)
    .bind::<Bool, _>(answered.keeps())
    .bind::<Bool, _>(answered.releases)
    .bind::<Bool, _>(answered.approved)
    .bind::<BigInt, _>(millis(check_after))
    .execute(conn)
    .await?;
    Ok(kept > 0)
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

/// Whether this is what paid the charge.
pub(super) async fn has_paid(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    reference: &str,
) -> QueryResult<bool> {
    exists(conn, charge_id, Some(reference), Is::Paid).await
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

/// Whether the gateway told that money of this purchase went back; without one, of whatever was paid for the charge.
pub(super) async fn is_reversed(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    transaction_id: Option<&str>,
) -> QueryResult<bool> {
    exists(conn, charge_id, transaction_id, Is::Reversed).await
}

/// What became of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    Paid,
    Reversed,
}

/// Whether the charge has this reference, or without one any, of which this is so.
async fn exists(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    reference: Option<&str>,
    is: Is,
) -> QueryResult<bool> {
    let row: Found = Statement::new(
        "SELECT EXISTS (
             SELECT 1 FROM charge_reference
             WHERE charge_id = $1 AND digest = coalesce($2, digest)
               AND CASE WHEN $3 THEN outcome = 'COMPLETE' ELSE reversed_at IS NOT NULL END
         ) AS found",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Nullable<Binary>, _>(reference.map(digest))
    .bind::<Bool, _>(is == Is::Paid)
    .get_result(conn)
    .await?;
    Ok(row.found)
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
