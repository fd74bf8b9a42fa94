use diesel::{
    pg::Pg,
    prelude::{Queryable, QueryableByName, Selectable},
};
use uuid::Uuid;

use crate::{
    db::{StoredJson, schema::failure},
    types::{Instant, stored_enum, text::storable},
};

stored_enum! {
    /// What kind of thing went wrong.
    FailureKind {
        /// A try to publish an event failed; it is tried again.
        OutboxFailed = "OUTBOX_FAILED",
        /// The last try to publish an event failed.
        OutboxDeadLettered = "OUTBOX_DEAD_LETTERED",
        /// A bonus could not be granted; it is tried again.
        ChargeJobRetry = "CHARGE_JOB_RETRY",
        /// A bonus could not be granted for good.
        ChargeJobFailed = "CHARGE_JOB_FAILED",
        /// The provider refused a refund for good.
        RefundFailed = "REFUND_FAILED",
        /// Whether a refund was made is unknown.
        RefundUnknown = "REFUND_UNKNOWN",
        /// A payment was declined.
        PaymentFailed = "PAYMENT_FAILED",
        /// Whether a payment was made is unknown.
        PaymentUnknown = "PAYMENT_UNKNOWN",
        /// An approval came too late and was cancelled.
        PaymentVoided = "PAYMENT_VOIDED",
        /// A purchase was paid but does not match ours.
        ChargeMismatch = "CHARGE_MISMATCH",
        /// Somebody paid twice for one charge.
        DuplicatePurchase = "DUPLICATE_PURCHASE",
        /// A gateway took a purchase back.
        PurchaseReversed = "PURCHASE_REVERSED",
        /// A gateway refuses our key or contract.
        GatewayMisconfigured = "GATEWAY_MISCONFIGURED",
        /// A message could not be consumed.
        InboundDeadLettered = "INBOUND_DEAD_LETTERED",
        /// A process died while it held something, and another took it over.
        StuckRecovered = "STUCK_RECOVERED",
        /// The broker cannot be reached, or takes no messages.
        BrokerUnavailable = "BROKER_UNAVAILABLE",
        /// A background task panicked.
        WorkerCrashed = "WORKER_CRASHED",
    }
}

stored_enum! {
    /// How bad it is.
    Severity {
        /// Worth knowing.
        Info = "INFO",
        /// It is being retried.
        Warning = "WARNING",
        /// A person must act.
        Critical = "CRITICAL",
    }
}

stored_enum! {
    /// What it happened to.
    SubjectType {
        /// A payment.
        Payment = "PAYMENT",
        /// A refund.
        Refund = "REFUND",
        /// An outbox event.
        OutboxEvent = "OUTBOX_EVENT",
        /// A charge.
        Charge = "CHARGE",
        /// A bonus that a charge has earned.
        ChargeJob = "CHARGE_JOB",
        /// A member.
        Member = "MEMBER",
        /// A promotion.
        ChargeEvent = "CHARGE_EVENT",
        /// A product of the price list.
        CanProduct = "CAN_PRODUCT",
        /// A message that could not be consumed.
        InboundDeadLetter = "INBOUND_DEAD_LETTER",
        /// A background task.
        Worker = "WORKER",
        /// The broker, as a process sees it.
        Broker = "BROKER",
    }
}

/// A failure as it is stored.
#[derive(Debug, Clone, PartialEq, Queryable, QueryableByName, Selectable)]
#[diesel(table_name = failure, check_for_backend(Pg))]
pub struct Failure {
    /// Primary key.
    pub id: i64,
    /// Place in the feed; `None` until it is numbered.
    pub position: Option<i64>,
    /// A [`FailureKind`].
    pub kind: String,
    /// A [`Severity`].
    pub severity: String,
    /// A [`SubjectType`], or one of another program.
    pub subject_type: String,
    /// The subject's id.
    pub subject_id: String,
    /// The event's type, for outbox failures.
    pub event_type: Option<String>,
    /// What went wrong, for machines.
    pub code: String,
    /// What went wrong, for people.
    pub message: String,
    /// Trigger, worker, outcome and times of the try.
    pub detail: Option<StoredJson>,
    /// Its group.
    pub fingerprint: String,
    /// Number of the try, from 1.
    pub attempt: i32,
    /// The flow.
    pub flow_id: Option<Uuid>,
    /// When.
    pub occurred_at: Instant,
}

/// A failure to record.
#[derive(Debug, Clone)]
pub struct NewFailure {
    /// What kind.
    pub kind: FailureKind,
    /// How bad.
    pub severity: Severity,
    /// What it happened to.
    pub subject_type: SubjectType,
    /// The subject's id.
    pub subject_id: String,
    /// The event's type, for outbox failures.
    pub event_type: Option<String>,
    /// For machines.
    pub code: String,
    /// For people; never secrets or card data.
    pub message: String,
    /// Trigger, worker, outcome and times.
    pub detail: Option<serde_json::Value>,
    /// Number of the try, from 1.
    pub attempt: i32,
    /// The flow.
    pub flow_id: Option<Uuid>,
}

/// Longest part of a fingerprint, and of a code.
const MAX_CODE_BYTES: usize = 200;
/// Longest message that is kept.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;

impl NewFailure {
    /// Its group: kind, event type and code, without what differs from one failure to the next.
    pub(super) fn fingerprint(&self) -> String {
        let event_type = self.event_type.as_deref().unwrap_or("-");
        format!("{}:{}:{}", self.kind.as_str(), steady(event_type), steady(&self.code))
    }

    pub(super) fn storable_code(&self) -> String {
        storable(&self.code, MAX_CODE_BYTES)
    }

    pub(super) fn storable_message(&self) -> String {
        storable(&self.message, MAX_MESSAGE_BYTES)
    }
}

/// Takes runs of digits out: ids, ports and times are not what makes two failures alike.
fn steady(text: &str) -> String {
    let mut steady = String::with_capacity(text.len());
    for character in storable(text, MAX_CODE_BYTES).chars() {
        if !character.is_ascii_digit() {
            steady.push(character);
        } else if !steady.ends_with('#') {
            steady.push('#');
        }
    }
    steady
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_differ_in_numbers_only_are_of_one_group() {
        let failure = |code: &str| NewFailure {
            kind: FailureKind::OutboxFailed,
            severity: Severity::Warning,
            subject_type: SubjectType::OutboxEvent,
            subject_id: "1".into(),
            event_type: Some("PAYMENT_COMPLETED".into()),
            code: code.into(),
            message: String::new(),
            detail: None,
            attempt: 1,
            flow_id: None,
        };
        assert_eq!(failure("E1042").fingerprint(), "OUTBOX_FAILED:PAYMENT_COMPLETED:E#");
        assert_eq!(failure("E7").fingerprint(), failure("E1042").fingerprint());
    }
}
