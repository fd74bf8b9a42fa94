//! What was presented for a charge: each reference is written down before its gateway is asked, and asked about until the
//! answer is final, whatever else is presented.

use std::time::Duration;

use diesel::{
    QueryableByName,
    result::QueryResult,
    sql_types::{BigInt, Bool, Text},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::{db::Statement, types::millis};

/// The outcome of the reference that paid its charge.
pub(super) const COMPLETE: &str = "COMPLETE";
/// So many of a charge's references that its gateway does not know are asked about again, the newest.
const UNKNOWN_KEPT: i64 = 20;

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

/// Notes what is presented, and has the reconciler ask about it should nobody be left to hear the answer. The same again
/// never waits longer than it did. References that the gateway does not know make room for newer ones.
pub(super) async fn present(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    reference: &str,
    check_after: Duration,
) -> QueryResult<()> {
    Statement::new(
        "WITH forgotten AS (
             UPDATE charge_reference SET next_check_at = NULL
             WHERE id = ANY (ARRAY(
                 SELECT id FROM (
                     SELECT id, outcome, next_check_at FROM charge_reference WHERE charge_id = $1 ORDER BY id DESC OFFSET $4 LIMIT $4
                 ) older
                 WHERE outcome = 'CHARGE_NOT_PAID' AND next_check_at IS NOT NULL))
         )
         INSERT INTO charge_reference AS known (charge_id, reference, digest, next_check_at)
         VALUES ($1, $2, sha256(convert_to($2, 'UTF8')), now() + $3 * interval '1 millisecond')
         ON CONFLICT (digest, charge_id) DO UPDATE
         SET presented_at = now(), next_check_at = least(known.next_check_at, excluded.next_check_at)",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Text, _>(reference.to_owned())
    .bind::<BigInt, _>(millis(check_after))
    .bind::<BigInt, _>(UNKNOWN_KEPT)
    .execute(conn)
    .await?;
    Ok(())
}

/// Writes down what an answer came to. A final one ends the asking; another does not begin it anew.
pub(super) async fn answered(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    reference: &str,
    outcome: &str,
    is_final: bool,
) -> QueryResult<()> {
    Statement::new(
        "UPDATE charge_reference SET outcome = $3, next_check_at = CASE WHEN NOT $4 THEN next_check_at END
         WHERE digest = sha256(convert_to($2, 'UTF8')) AND charge_id = $1 AND ($4 OR next_check_at IS NOT NULL)",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Text, _>(reference.to_owned())
    .bind::<Text, _>(outcome.to_owned())
    .bind::<Bool, _>(is_final)
    .execute(conn)
    .await?;
    Ok(())
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
         WHERE digest = sha256(convert_to($2, 'UTF8')) AND charge_id = $1 AND next_check_at IS NULL",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Text, _>(reference.to_owned())
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
    let paid: Found = Statement::new(
        "SELECT EXISTS (
             SELECT 1 FROM charge_reference
             WHERE digest = sha256(convert_to($2, 'UTF8')) AND charge_id = $1 AND outcome = $3
         ) AS found",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Text, _>(reference.to_owned())
    .bind::<Text, _>(COMPLETE)
    .get_result(conn)
    .await?;
    Ok(paid.found)
}

/// Notes that the gateway told that money of this purchase went back: it is not credited after that without a person.
pub(super) async fn reversed(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    transaction_id: &str,
) -> QueryResult<()> {
    Statement::new(
        "INSERT INTO charge_reference AS known (charge_id, reference, digest, outcome, reversed_at)
         VALUES ($1, $2, sha256(convert_to($2, 'UTF8')), 'PURCHASE_CANCELED', now())
         ON CONFLICT (digest, charge_id) DO UPDATE SET reversed_at = coalesce(known.reversed_at, now())",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Text, _>(transaction_id.to_owned())
    .execute(conn)
    .await?;
    Ok(())
}

/// Whether the gateway told that money of this purchase went back, or, with `any`, of whatever was paid for the charge.
pub(super) async fn is_reversed(
    conn: &mut AsyncPgConnection,
    charge_id: i64,
    transaction_id: &str,
    any: bool,
) -> QueryResult<bool> {
    let reversed: Found = Statement::new(
        "SELECT EXISTS (
             SELECT 1 FROM charge_reference
             WHERE charge_id = $1 AND reversed_at IS NOT NULL AND ($3 OR digest = sha256(convert_to($2, 'UTF8')))
         ) AS found",
    )
    .bind::<BigInt, _>(charge_id)
    .bind::<Text, _>(transaction_id.to_owned())
    .bind::<Bool, _>(any)
    .get_result(conn)
    .await?;
    Ok(reversed.found)
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
