use chrono::SecondsFormat;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::ClaimedEvent;
use crate::{
    broker::{MAX_MESSAGE_BYTES, OutgoingMessage},
    types::Instant,
};

/// The wrapper that every message has, both ways (domain.md, "Messages consumed").
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Wrapper<'a, D> {
    pub(super) event_id: Uuid,
    pub(super) event_type: &'a str,
    #[serde(serialize_with = "rfc3339")]
    pub(super) occurred_at: Instant,
    pub(super) correlation_id: &'a str,
    pub(super) flow_id: Uuid,
    pub(super) aggregate_type: &'a str,
    pub(super) aggregate_id: &'a str,
    pub(super) data: D,
}

/// What tells a wrapper from plain data.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrapperShape<'a> {
    event_id: Uuid,
    #[serde(rename = "eventType")]
    _event_type: String,
    #[serde(borrow, rename = "data")]
    _data: &'a RawValue,
}

fn rfc3339<S: serde::Serializer>(at: &Instant, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339_opts(SecondsFormat::Micros, true))
}

/// W3C trace context has 55; a later version may have more.
const MAX_TRACEPARENT_BYTES: usize = 128;

/// Makes the message of a claimed row, or says why AMQP cannot carry it.
pub(super) fn message(event: &ClaimedEvent) -> Result<OutgoingMessage, String> {
    let body = body(event)?;
    if body.len() > MAX_MESSAGE_BYTES {
        return Err(format!(
            "the message has {} bytes, more than the {MAX_MESSAGE_BYTES} that are sent",
            body.len()
        ));
    }
    Ok(OutgoingMessage {
        message_id: event.event_id,
        exchange: OutgoingMessage::short("exchange", &event.exchange)?,
        routing_key: OutgoingMessage::short("routing key", &event.routing_key)?,
        event_type: OutgoingMessage::short("event type", &event.event_type)?,
        correlation_id: OutgoingMessage::short("correlation id", &event.correlation_id)?,
        // Trace context is worth no failed delivery; what is no `traceparent` is left out.
        traceparent: event.traceparent.clone().filter(|value| value.len() <= MAX_TRACEPARENT_BYTES),
        body,
    })
}

/// The payload as written, if it is this event's wrapper; else wrapped, since a row inserted by SQL cannot know its event id.
fn body(event: &ClaimedEvent) -> Result<Vec<u8>, String> {
    let is_wrapper = serde_json::from_str::<WrapperShape<'_>>(&event.payload)
        .is_ok_and(|shape| shape.event_id == event.event_id);
    if is_wrapper {
        return Ok(event.payload.clone().into_bytes());
    }
    let data: &RawValue =
        serde_json::from_str(&event.payload).map_err(|error| format!("the payload is not JSON: {error}"))?;
    let wrapper = Wrapper {
        event_id: event.event_id,
        event_type: &event.event_type,
        occurred_at: event.created_at,
        correlation_id: &event.correlation_id,
        flow_id: event.flow_id,
        aggregate_type: &event.aggregate_type,
        aggregate_id: &event.aggregate_id,
        data,
    };
    serde_json::to_vec(&wrapper).map_err(|error| format!("the payload cannot be wrapped: {error}"))
}
