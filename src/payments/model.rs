use diesel::{
    pg::Pg,
    prelude::{Queryable, QueryableByName, Selectable},
};
use uuid::Uuid;

use crate::{
    db::schema::payment,
    types::{Instant, stored_enum},
};

/// The failure code of a payment that our own configuration made fail.
pub const GATEWAY_MISCONFIGURED: &str = "GATEWAY_MISCONFIGURED";

stored_enum! {
    /// Where a payment stands. A refunded one is no longer a row of this table.
    PaymentStatus {
        /// Asked for; the outcome is not known yet.
        Pending = "PENDING",
        /// The money was taken.
        Completed = "COMPLETED",
        /// No money was taken.
        Failed = "FAILED",
    }
}

/// A payment.
#[derive(Debug, Clone, PartialEq, Queryable, QueryableByName, Selectable)]
#[diesel(table_name = payment, check_for_backend(Pg))]
pub struct Payment {
    /// Primary key.
    pub id: i64,
    /// Our order id at the provider.
    pub order_id: String,
    /// The payer.
    pub user_id: i64,
    /// What is paid for.
    pub meeting_id: i64,
    /// What the payer reads on the bill.
    pub order_name: String,
    /// Whole won.
    pub amount: i64,
    /// `TOSS`.
    pub provider: String,
    /// How it was paid, in the provider's words.
    pub method: Option<String>,
    /// A [`PaymentStatus`].
    pub status: String,
    /// The provider's id of the approved payment.
    pub payment_key: Option<String>,
    /// Sent with every call for this payment.
    pub idempotency_key: String,
    /// The flow.
    pub flow_id: Uuid,
    /// Why it failed, for machines.
    pub failure_code: Option<String>,
    /// Why it failed, for people.
    pub failure_message: Option<String>,
    /// When it was asked for.
    pub requested_at: Instant,
    /// When it was completed.
    pub completed_at: Option<Instant>,
    /// When it was written.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

impl Payment {
    /// Whether it stands there.
    pub fn is(&self, status: PaymentStatus) -> bool {
        self.status == status.as_str()
    }
}
