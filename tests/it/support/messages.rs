//! Messages as the meeting service sends them.

use serde_json::{Value, json};
use uuid::Uuid;

fn message(event_type: &str, meeting: i64, data: Value) -> Value {
    json!({
        "eventId": Uuid::new_v4(), "eventType": event_type, "occurredAt": "2026-11-30T10:00:00Z",
        "correlationId": Uuid::new_v4(), "aggregateType": "MEETING", "aggregateId": meeting.to_string(), "data": data,
    })
}

pub fn register(meeting: i64, user: i64) -> Value {
    let data = json!({ "userId": user, "meetingId": meeting, "amount": 15_000, "orderName": "A meeting" });
    message("PARTICIPANT_REGISTER", meeting, data)
}

pub fn cancel(meeting: i64, user: i64, refund_required: bool) -> Value {
    let data =
        json!({ "userId": user, "meetingId": meeting, "refundRequired": refund_required, "reason": "ill" });
    message("PARTICIPANT_CANCEL", meeting, data)
}

pub fn deleted(meeting: i64) -> Value {
    message("MEETING_DELETED", meeting, json!({ "meetingId": meeting, "reason": "rain" }))
}

/// The same message, at another time.
pub fn at(mut message: Value, occurred_at: &str) -> Value {
    message["occurredAt"] = json!(occurred_at);
    message
}
