use diesel::{QueryableByName, sql_types::BigInt};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::{PaymentStatus, RefundStatus};
use crate::db::{DbError, Statement};

/// How far a state is counted.
const MOST: i64 = 10_001;

/// How payments and refunds stand. What is open or failed is counted up to 10,001. What is done is counted among the
/// newest 10,001 rows, so that asking never costs more as the tables grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, QueryableByName)]
pub struct PaymentGauges {
    #[diesel(sql_type = BigInt)]
    payments_pending: i64,
    #[diesel(sql_type = BigInt)]
    payments_failed: i64,
    #[diesel(sql_type = BigInt)]
    payments_completed: i64,
    #[diesel(sql_type = BigInt)]
    payments_looked_at: i64,
    #[diesel(sql_type = BigInt)]
    refunds_requested: i64,
    #[diesel(sql_type = BigInt)]
    refunds_failed: i64,
    #[diesel(sql_type = BigInt)]
    refunds_completed: i64,
    #[diesel(sql_type = BigInt)]
    refunds_looked_at: i64,
}

/// Rows in one state, or at least so many.
pub type Gauge<S> = (S, i64, bool);

impl PaymentGauges {
    /// Reads them in one statement, whose every part names the order of the index that serves it.
    pub async fn read(conn: &mut AsyncPgConnection) -> Result<Self, DbError> {
        let statement = Statement::new(
            "SELECT
                 (SELECT count(*) FROM (SELECT FROM payment WHERE status = 'PENDING' ORDER BY created_at, id LIMIT $1) few) AS payments_pending,
                 (SELECT count(*) FROM (SELECT FROM payment WHERE status = 'FAILED' ORDER BY created_at, id LIMIT $1) few) AS payments_failed,
                 payments.done AS payments_completed, payments.looked_at AS payments_looked_at,
                 (SELECT count(*) FROM (SELECT FROM refund WHERE status = 'REQUESTED' ORDER BY created_at, id LIMIT $1) few) AS refunds_requested,
                 (SELECT count(*) FROM (SELECT FROM refund WHERE status = 'FAILED' ORDER BY created_at, id LIMIT $1) few) AS refunds_failed,
                 refunds.done AS refunds_completed, refunds.looked_at AS refunds_looked_at
             FROM (SELECT count(*) FILTER (WHERE status = 'COMPLETED') AS done, count(*) AS looked_at
                   FROM (SELECT status FROM payment ORDER BY created_at DESC, id DESC LIMIT $1) newest) payments,
                  (SELECT count(*) FILTER (WHERE status = 'COMPLETED') AS done, count(*) AS looked_at
                   FROM (SELECT status FROM refund ORDER BY created_at DESC, id DESC LIMIT $1) newest) refunds",
        );
        Ok(statement.bind::<BigInt, _>(MOST).get_result(conn).await?)
    }

    /// Payments in each state.
    pub fn payments(&self) -> [Gauge<PaymentStatus>; 3] {
        [
            bounded(PaymentStatus::Pending, self.payments_pending),
            (PaymentStatus::Completed, self.payments_completed, self.payments_looked_at == MOST),
            bounded(PaymentStatus::Failed, self.payments_failed),
        ]
    }

    /// Refunds in each state.
    pub fn refunds(&self) -> [Gauge<RefundStatus>; 3] {
        [
            bounded(RefundStatus::Requested, self.refunds_requested),
            (RefundStatus::Completed, self.refunds_completed, self.refunds_looked_at == MOST),
            bounded(RefundStatus::Failed, self.refunds_failed),
        ]
    }
}

fn bounded<S>(status: S, rows: i64) -> Gauge<S> {
    (status, rows.min(MOST - 1), rows == MOST)
}
