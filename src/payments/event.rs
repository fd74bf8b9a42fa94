use serde::Serialize;
use uuid::Uuid;

use super::{Payment, Refund};
use crate::{gateways::Refusal, outbox::NewOutboxEvent, types::Instant};

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

/// A registration that was refused before there was a payment.
pub(super) struct RefusedRegistration {
    pub(super) user_id: i64,
    pub(super) meeting_id: i64,
    pub(super) amount: i64,
    pub(super) flow_id: Uuid,
    pub(super) occurred_at: Instant,
    pub(super) refusal: Refusal,
}

/// `PAYMENT_FAILED` without a payment: it is about the seat.
pub(super) fn refused(
    registration: RefusedRegistration,
    exchange: String,
    traceparent: Option<String>,
) -> NewOutboxEvent<PaymentFailed> {
    let RefusedRegistration { user_id, meeting_id, amount, flow_id, occurred_at, refusal } = registration;
    NewOutboxEvent {
        event_type: "PAYMENT_FAILED",
        aggregate_type: "MEETING",
        aggregate_id: format!("{meeting_id}:{user_id}"),
        exchange,
        routing_key: "payment.failed",
        flow_id,
        occurred_at,
        traceparent,
        data: PaymentFailed {
            payment_id: None,
            order_id: None,
            user_id,
            meeting_id,
            amount,
            failure_code: refusal.code,
            failure_message: refusal.message,
        },
    }
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
