use serde::Serialize;

use super::{Payment, Refund};
use crate::{outbox::NewOutboxEvent, types::Instant};

/// The aggregate of the events (domain.md, "Events published").
pub(super) const AGGREGATE: &str = "PAYMENT";

/// `PAYMENT_COMPLETED`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaymentCompleted {
    payment_id: i64,
    order_id: String,
    user_id: i64,
    meeting_id: i64,
    amount: i64,
    approved_at: Instant,
}

/// `PAYMENT_FAILED`: lets the meeting service give the seat back.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaymentFailed {
    payment_id: Option<i64>,
    order_id: Option<String>,
    user_id: i64,
    meeting_id: i64,
    amount: i64,
    failure_code: String,
    failure_message: String,
}

/// `PAYMENT_REFUNDED`: by policy nobody has to listen to it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaymentRefunded {
    refund_id: i64,
    payment_id: i64,
    order_id: String,
    user_id: i64,
    meeting_id: i64,
    amount: i64,
    reason: String,
    source: String,
}

pub(super) fn completed(
    payment: &Payment,
    approved_at: Instant,
    exchange: String,
    traceparent: Option<String>,
) -> NewOutboxEvent<PaymentCompleted> {
    let data = PaymentCompleted {
        payment_id: payment.id,
        order_id: payment.order_id.clone(),
        user_id: payment.user_id,
        meeting_id: payment.meeting_id,
        amount: payment.amount,
        approved_at,
    };
    event(payment, "PAYMENT_COMPLETED", "payment.completed", exchange, traceparent, data)
}

pub(super) fn failed(
    payment: &Payment,
    exchange: String,
    traceparent: Option<String>,
) -> NewOutboxEvent<PaymentFailed> {
    let data = PaymentFailed {
        payment_id: Some(payment.id),
        order_id: Some(payment.order_id.clone()),
        user_id: payment.user_id,
        meeting_id: payment.meeting_id,
        amount: payment.amount,
        failure_code: payment.failure_code.clone().unwrap_or_default(),
        failure_message: payment.failure_message.clone().unwrap_or_default(),
    };
    event(payment, "PAYMENT_FAILED", "payment.failed", exchange, traceparent, data)
}

pub(super) fn refunded(
    refund: &Refund,
    exchange: String,
    traceparent: Option<String>,
) -> NewOutboxEvent<PaymentRefunded> {
    NewOutboxEvent {
        event_type: "PAYMENT_REFUNDED",
        aggregate_type: AGGREGATE,
        aggregate_id: refund.payment_id.to_string(),
        exchange,
        routing_key: "payment.refunded",
        flow_id: refund.flow_id,
        occurred_at: refund.updated_at,
        traceparent,
        data: PaymentRefunded {
            refund_id: refund.id,
            payment_id: refund.payment_id,
            order_id: refund.order_id.clone(),
            user_id: refund.user_id,
            meeting_id: refund.meeting_id,
            amount: refund.amount,
            reason: refund.reason.clone(),
            source: refund.source.clone(),
        },
    }
}

fn event<D>(
    payment: &Payment,
    event_type: &'static str,
    routing_key: &'static str,
    exchange: String,
    traceparent: Option<String>,
    data: D,
) -> NewOutboxEvent<D> {
    NewOutboxEvent {
        event_type,
        aggregate_type: AGGREGATE,
        aggregate_id: payment.id.to_string(),
        exchange,
        routing_key,
        flow_id: payment.flow_id,
        // The transaction of the change wrote it: the database's clock.
        occurred_at: payment.updated_at,
        traceparent,
        data,
    }
}
