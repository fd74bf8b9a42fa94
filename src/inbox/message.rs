use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use uuid::Uuid;

use super::HandlingError;
use crate::types::Instant;

/// A message from another service, out of its wrapper (domain.md, "Messages consumed").
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Tells a redelivery from news.
    pub event_id: Uuid,
    /// Such as `PARTICIPANT_REGISTER`.
    pub event_type: String,
    /// When it happened, by the sender's clock.
    pub occurred_at: Instant,
    /// The flow that it belongs to: its own, else its correlation id, else one that begins here.
    pub flow_id: Uuid,
    data: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wrapper {
    event_id: Uuid,
    event_type: String,
    occurred_at: String,
    correlation_id: Option<String>,
    flow_id: Option<Uuid>,
    data: Value,
}

impl Message {
    /// Reads a message of this type.
    pub fn read(body: &[u8], event_type: &str) -> Result<Self, HandlingError> {
        let wrapper: Value = serde_json::from_slice(body)
            .map_err(|error| HandlingError::data("NOT_JSON", format!("it is not JSON: {error}")))?;
        let wrapper: Wrapper = serde_json::from_value(wrapper).map_err(|error| {
            HandlingError::data("INVALID_MESSAGE", format!("the wrapper is not valid: {error}"))
        })?;
        if wrapper.event_type != event_type {
            let text = format!("eventType must be {event_type}, not {:?}", wrapper.event_type);
            return Err(HandlingError::data("UNEXPECTED_EVENT_TYPE", text));
        }
        let occurred_at = chrono::DateTime::parse_from_rfc3339(&wrapper.occurred_at).map_err(|error| {
            HandlingError::data("INVALID_FIELD", format!("occurredAt is not an RFC 3339 time: {error}"))
        })?;
        let correlated = wrapper.correlation_id.as_deref().and_then(|id| Uuid::parse_str(id).ok());
        Ok(Self {
            event_id: wrapper.event_id,
            event_type: wrapper.event_type,
            occurred_at: occurred_at.to_utc(),
            flow_id: wrapper.flow_id.or(correlated).unwrap_or_else(Uuid::now_v7),
            data: wrapper.data,
        })
    }

    /// The event's own fields.
    pub fn data<D: DeserializeOwned>(&self) -> Result<D, HandlingError> {
        D::deserialize(&self.data)
            .map_err(|error| HandlingError::data("INVALID_FIELD", format!("data is not valid: {error}")))
    }
}

/// The event id of whatever this is, to find it by: its `eventId`, else the AMQP message id.
pub(super) fn traceable_id(body: &[u8], message_id: Option<&str>) -> Option<String> {
    let own = || {
        let wrapper: Value = serde_json::from_slice(body).ok()?;
        wrapper.get("eventId")?.as_str().map(str::to_owned)
    };
    own().or_else(|| message_id.map(str::to_owned)).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(change: impl Fn(&mut Value)) -> Result<Message, String> {
        let mut message = json!({
            "eventId": Uuid::from_u128(1), "eventType": "T", "occurredAt": "2026-11-30T10:00:00+09:00",
            "correlationId": Uuid::from_u128(2), "aggregateType": "MEETING", "aggregateId": "1", "data": { "n": 1 },
        });
        change(&mut message);
        let read = Message::read(message.to_string().as_bytes(), "T");
        read.map_err(|error| match error {
            HandlingError::Data { code, .. } => code,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn the_flow_is_the_messages_own_else_its_correlation() {
        assert_eq!(read(|_| ()).unwrap().flow_id, Uuid::from_u128(2));
        let own = read(|message| message["flowId"] = json!(Uuid::from_u128(3))).unwrap();
        assert_eq!(own.flow_id, Uuid::from_u128(3));
        let free = read(|message| message["correlationId"] = json!("corr-1")).unwrap();
        assert_eq!(free.flow_id.get_version_num(), 7);
    }

    #[test]
    fn what_is_missing_or_of_another_type_is_a_data_error() {
        for field in ["eventId", "eventType", "occurredAt", "data"] {
            let missing = read(|message| drop(message.as_object_mut().unwrap().remove(field)));
            assert_eq!(missing, Err("INVALID_MESSAGE".to_owned()), "{field}");
        }
        assert_eq!(read(|message| message["eventId"] = json!(5)), Err("INVALID_MESSAGE".to_owned()));
        assert_eq!(read(|message| message["occurredAt"] = json!("today")), Err("INVALID_FIELD".to_owned()));
        assert_eq!(
            read(|message| message["eventType"] = json!("U")),
            Err("UNEXPECTED_EVENT_TYPE".to_owned())
        );
        assert_eq!(read(|message| *message = json!([1])), Err("INVALID_MESSAGE".to_owned()));
    }

    #[test]
    fn an_id_is_found_also_in_a_message_that_cannot_be_read() {
        assert_eq!(traceable_id(br#"{"eventId":"x"}"#, Some("m")).as_deref(), Some("x"));
        assert_eq!(traceable_id(b"\xff", Some("m")).as_deref(), Some("m"));
        assert_eq!(traceable_id(b"{}", None), None);
    }
}
