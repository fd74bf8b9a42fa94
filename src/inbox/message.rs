use chrono::TimeDelta;
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Value, value::RawValue};
use uuid::Uuid;

use super::HandlingError;
use crate::types::{Instant, clock};

/// A message from another service, out of its wrapper (domain.md, "Messages consumed").
#[derive(Debug, Clone)]
pub struct Message {
    /// Tells a redelivery from news.
    pub event_id: Uuid,
    /// Such as `PARTICIPANT_REGISTER`.
    pub event_type: String,
    /// When it happened, by the sender's clock.
    pub occurred_at: Instant,
    /// The flow that it belongs to: its own, else its correlation id, else one that begins here.
    pub flow_id: Uuid,
    data: Box<RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wrapper<'a> {
    event_id: Uuid,
    event_type: String,
    occurred_at: String,
    correlation_id: Option<String>,
    flow_id: Option<Uuid>,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// How far a sender's clock may be ahead; a time further away would outlast everything that comes after it.
const MAX_AHEAD: TimeDelta = TimeDelta::days(1);
/// Longest part of a parser's text that is kept: it quotes what it found.
const MAX_QUOTED_CHARS: usize = 300;

impl Message {
    /// Reads a message of this type.
    pub fn read(body: &[u8], event_type: &str) -> Result<Self, HandlingError> {
        let text = std::str::from_utf8(body)
            .map_err(|error| HandlingError::data("NOT_JSON", format!("it is not JSON: {error}")))?;
        if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
            return Err(HandlingError::data("NOT_JSON", format!("it is not JSON: {error}")));
        }
        let wrapper: Wrapper<'_> = object(text).map_err(|error| {
            HandlingError::data("INVALID_MESSAGE", format!("the wrapper is not valid: {error}"))
        })?;
        if wrapper.event_type != event_type {
            let text = format!("eventType must be {event_type}, not {:?}", wrapper.event_type);
            return Err(HandlingError::data("UNEXPECTED_EVENT_TYPE", text));
        }
        let occurred_at = chrono::DateTime::parse_from_rfc3339(&wrapper.occurred_at).map_err(|error| {
            HandlingError::data("INVALID_FIELD", format!("occurredAt is not an RFC 3339 time: {error}"))
        })?;
        let occurred_at = occurred_at.to_utc();
        if occurred_at > clock::now() + MAX_AHEAD {
            return Err(HandlingError::data("INVALID_FIELD", "occurredAt is more than a day ahead"));
        }
        let correlated = wrapper.correlation_id.as_deref().and_then(|id| Uuid::parse_str(id).ok());
        Ok(Self {
            event_id: wrapper.event_id,
            event_type: wrapper.event_type,
            occurred_at,
            flow_id: wrapper.flow_id.or(correlated).unwrap_or_else(Uuid::now_v7),
            data: wrapper.data.to_owned(),
        })
    }

    /// The event's own fields.
    pub fn data<D: DeserializeOwned>(&self) -> Result<D, HandlingError> {
        object(self.data.get())
            .map_err(|error| HandlingError::data("INVALID_FIELD", format!("data is not valid: {error}")))
    }
}

/// Reads an object, by its fields' names and each of them once: an array in their order is none.
fn object<'de, D: Deserialize<'de>>(text: &'de str) -> Result<D, String> {
    if !text.trim_start().starts_with('{') {
        return Err("it is not an object".to_owned());
    }
    serde_json::from_str(text).map_err(|error| {
        let text = error.to_string();
        match text.char_indices().nth(MAX_QUOTED_CHARS) {
            Some((end, _)) => format!("{}… at column {}", text.split_at(end).0, error.column()),
            None => text,
        }
    })
}

/// The event id of whatever this is, to find it by: its `eventId`, else the AMQP message id.
pub(super) fn traceable_id(body: &[u8], message_id: Option<&str>) -> Option<String> {
    let own = || {
        let wrapper: Value = serde_json::from_slice(body).ok()?;
        let id = wrapper.get("eventId")?.as_str()?;
        // As the inbox spells it.
        Some(Uuid::parse_str(id).map_or_else(|_free_text| id.to_owned(), |id| id.to_string()))
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
            assert_eq!(missing.map(drop), Err("INVALID_MESSAGE".to_owned()), "{field}");
        }
        assert_eq!(
            read(|message| message["eventId"] = json!(5)).map(drop),
            Err("INVALID_MESSAGE".to_owned())
        );
        assert_eq!(
            read(|message| message["occurredAt"] = json!("today")).map(drop),
            Err("INVALID_FIELD".to_owned())
        );
        assert_eq!(
            read(|message| message["eventType"] = json!("U")).map(drop),
            Err("UNEXPECTED_EVENT_TYPE".to_owned())
        );
        let wrong = |result: Result<Message, String>| result.map(drop).unwrap_err();
        assert_eq!(wrong(read(|message| *message = json!([1]))), "INVALID_MESSAGE");
        let ahead = clock::now() + TimeDelta::days(2);
        assert_eq!(wrong(read(|message| message["occurredAt"] = json!(ahead.to_rfc3339()))), "INVALID_FIELD");
    }

    #[derive(Debug, Deserialize)]
    struct Fields {
        #[expect(dead_code, reason = "read only to be refused")]
        n: i64,
    }

    #[test]
    fn fields_in_an_array_or_given_twice_are_a_data_error() {
        let array =
            r#"["00000000-0000-0000-0000-000000000001","T","2026-11-30T10:00:00Z",null,null,{"n":1}]"#;
        assert!(Message::read(array.as_bytes(), "T").is_err());
        let with = |data: &str| {
            let body = format!(
                r#"{{"eventId":"00000000-0000-0000-0000-000000000001","eventType":"T","occurredAt":"2026-11-30T10:00:00Z","data":{data}}}"#
            );
            Message::read(body.as_bytes(), "T").and_then(|message| message.data::<Fields>())
        };
        assert!(with(r#"{"n":1,"other":[]}"#).is_ok());
        for wrong in ["[1]", r#"{"n":1,"n":2}"#, r#"{"n":"1"}"#, "7", "null"] {
            assert!(matches!(with(wrong), Err(HandlingError::Data { .. })), "{wrong}");
        }
        let long = format!(r#"{{"n":"{}"}}"#, "9".repeat(100_000));
        let Err(HandlingError::Data { message, .. }) = with(&long) else { panic!("it is taken") };
        assert!(message.len() < 500, "{} bytes of it are quoted", message.len());
    }

    #[test]
    fn an_id_is_found_also_in_a_message_that_cannot_be_read() {
        assert_eq!(traceable_id(br#"{"eventId":"x"}"#, Some("m")).as_deref(), Some("x"));
        let odd = br#"{"eventId":"00000000000000000000000000000ABC"}"#;
        assert_eq!(traceable_id(odd, None).as_deref(), Some("00000000-0000-0000-0000-000000000abc"));
        assert_eq!(traceable_id(b"\xff", Some("m")).as_deref(), Some("m"));
        assert_eq!(traceable_id(b"{}", None), None);
    }
}
