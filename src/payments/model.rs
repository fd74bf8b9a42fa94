use diesel::{
    pg::Pg,
    prelude::{Queryable, QueryableByName, Selectable},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    db::schema::payment,
    types::{Instant, stored_enum},
};

/// The failure code of a payment that our own configuration made fail.
pub const GATEWAY_MISCONFIGURED: &str = "GATEWAY_MISCONFIGURED";

stored_enum! {
    /// Where a payment stands.
    PaymentStatus {
        /// Asked for; the outcome is not known yet.
        Pending = "PENDING",
        /// The money was taken.
        Completed = "COMPLETED",
        /// No money was taken.
        Failed = "FAILED",
        /// The money was given back. Only in a refund's snapshot: the row itself is gone.
        Refunded = "REFUNDED",
    }
}

/// The failure code of a payment that the provider never heard of.
pub const NOT_APPROVED: &str = "NOT_APPROVED";

/// A payment. What is serialised is the snapshot that its refund keeps.
#[derive(Debug, Clone, PartialEq, Queryable, QueryableByName, Selectable, Serialize, Deserialize)]
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
    /// A [`super::RefundWanted`]: asked for before the outcome was known.
    #[serde(default)]
    pub refund_wanted: Option<serde_json::Value>,
    /// When the reconciler asks the provider next.
    #[serde(default)]
    pub next_check_at: Option<Instant>,
    /// Looks of the reconciler that decided nothing, since the status last changed.
    #[serde(default)]
    pub check_count: i32,
}

impl Payment {
    /// Whether it stands there.
    pub fn is(&self, status: PaymentStatus) -> bool {
        self.status == status.as_str()
    }
}
