use diesel::{
    pg::Pg,
    prelude::{Queryable, Selectable},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    db::schema::refund,
    payments::Payment,
    types::{Instant, stored_enum},
};

stored_enum! {
    /// Where a refund stands.
    RefundStatus {
        /// Asked for; the outcome is not known yet.
        Requested = "REQUESTED",
        /// The money went back.
        Completed = "COMPLETED",
        /// The provider refused for good; the payment stays COMPLETED.
        Failed = "FAILED",
    }
}

stored_enum! {
    /// What asked for a refund.
    RefundSource {
        /// Another service, through the API.
        Api = "API",
        /// A participant who cancelled.
        ParticipantCancel = "PARTICIPANT_CANCEL",
        /// A meeting that was deleted.
        MeetingDeleted = "MEETING_DELETED",
        /// An operator.
        Operator = "OPERATOR",
    }
}

/// A refund.
#[derive(Debug, Clone, PartialEq, Queryable, Selectable)]
#[diesel(table_name = refund, check_for_backend(Pg))]
pub struct Refund {
    /// Primary key.
    pub id: i64,
    /// The payment; its row is gone once the refund is COMPLETED.
    pub payment_id: i64,
    /// The whole payment row.
    pub payment_snapshot: serde_json::Value,
    /// The payment's order id.
    pub order_id: String,
    /// The provider's id of the payment.
    pub payment_key: String,
    /// The payer.
    pub user_id: i64,
    /// What was paid for.
    pub meeting_id: i64,
    /// Whole won.
    pub amount: i64,
    /// Why.
    pub reason: String,
    /// Who asked for it.
    pub requested_by: String,
    /// A [`RefundSource`].
    pub source: String,
    /// The message that asked for it.
    pub source_event_id: Option<Uuid>,
    /// A [`RefundStatus`].
    pub status: String,
    /// Sent with every cancel under this key number.
    pub idempotency_key: String,
    /// Which key it is, from 1.
    pub key_no: i32,
    /// The provider's id of the cancel.
    pub provider_transaction_key: Option<String>,
    /// The flow.
    pub flow_id: Uuid,
    /// Why it failed, for machines.
    pub failure_code: Option<String>,
    /// Why it failed, for people.
    pub failure_message: Option<String>,
    /// Cancels that the provider was asked for.
    pub attempt_count: i32,
    /// When the reconciler asks the provider next.
    pub next_check_at: Option<Instant>,
    /// When it last became REQUESTED.
    pub requested_at: Instant,
    /// When it was written.
    pub created_at: Instant,
    /// When the money had gone back.
    pub completed_at: Option<Instant>,
    /// When it last changed.
    pub updated_at: Instant,
}

impl Refund {
    /// Whether it stands there.
    pub fn is(&self, status: RefundStatus) -> bool {
        self.status == status.as_str()
    }

    /// The payment as the snapshot has it: REFUNDED once the refund is COMPLETED.
    pub fn payment(&self) -> Result<Payment, serde_json::Error> {
        Payment::deserialize(&self.payment_snapshot)
    }
}

/// Who asks for a refund, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundWanted {
    /// Why; the provider gets its first 200 characters.
    pub reason: String,
    /// The token's subject, or the user that a service or a message acts for.
    pub requested_by: String,
    /// What asks for it.
    #[serde(with = "source_text")]
    pub source: RefundSource,
    /// The message that asks for it.
    pub source_event_id: Option<Uuid>,
}

/// A [`RefundSource`] by its stored name.
mod source_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::RefundSource;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(super) fn serialize<S: Serializer>(source: &RefundSource, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(source.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RefundSource, D::Error> {
        let text = String::deserialize(deserializer)?;
        RefundSource::parse(&text).ok_or_else(|| D::Error::custom("an unknown source of a refund"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_wanted_is_read_back_as_it_was_written() {
        let wanted = RefundWanted {
            reason: "취소".to_owned(),
            requested_by: "42".to_owned(),
            source: RefundSource::MeetingDeleted,
            source_event_id: Some(Uuid::nil()),
        };
        let json = serde_json::to_value(&wanted).unwrap();
        assert_eq!(json["source"], "MEETING_DELETED");
        assert_eq!(serde_json::from_value::<RefundWanted>(json).unwrap(), wanted);
    }
}
