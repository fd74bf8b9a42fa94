//! The protocol's messages, and the codes that it closes with.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A message of the client.
#[derive(Debug)]
pub enum ClientMessage {
    /// The first one: who it is.
    Init { token: Option<String> },
    /// Answered with a pong.
    Ping,
    /// The answer to a ping.
    Pong,
    /// Starts an operation; the payload is the query's JSON.
    Subscribe { id: String, payload: Box<RawValue> },
    /// Ends an operation.
    Complete { id: String },
}

/// Ids longer than this are no ids.
const MAX_ID_BYTES: usize = 256;

#[derive(Deserialize)]
struct Raw {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    payload: Option<Box<RawValue>>,
}

#[derive(Deserialize, Default)]
struct InitPayload {
    #[serde(default, alias = "Authorization")]
    authorization: Option<String>,
}

impl ClientMessage {
    /// Reads one; none for what the protocol does not know.
    pub fn read(text: &str) -> Option<Self> {
        let Raw { kind, id, payload } = serde_json::from_str(text).ok()?;
        let id = || id.filter(|id| (1..=MAX_ID_BYTES).contains(&id.len()));
        match kind.as_str() {
            "connection_init" => Some(Self::Init { token: init_token(payload.as_deref()) }),
            "ping" => Some(Self::Ping),
            "pong" => Some(Self::Pong),
            "subscribe" => Some(Self::Subscribe { id: id()?, payload: payload? }),
            "complete" => Some(Self::Complete { id: id()? }),
            _ => None,
        }
    }
}

/// An init without a token, or with one that cannot be read, is an init that will be refused.
fn init_token(payload: Option<&RawValue>) -> Option<String> {
    let payload: InitPayload = serde_json::from_str(payload?.get()).ok()?;
    crate::auth::bearer(&payload.authorization?).map(str::to_owned)
}

/// `{"type":"connection_ack"}`.
pub const ACK: &str = r#"{"type":"connection_ack"}"#;
/// `{"type":"pong"}`.
pub const PONG: &str = r#"{"type":"pong"}"#;

/// A message about the operation `id`, which is JSON already, as its payload is.
pub fn about(id_json: &str, kind: &str, payload: Option<&str>) -> String {
    match payload {
        Some(payload) => format!(r#"{{"id":{id_json},"type":"{kind}","payload":{payload}}}"#),
        None => format!(r#"{{"id":{id_json},"type":"{kind}"}}"#),
    }
}

/// How a socket is closed: the protocol's code, and a reason of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Close(pub u16, pub &'static str);

/// Shutdown: the client reconnects, to another process if there is one.
pub const RESTART: Close = Close(1012, "Service restart");
/// The identity provider's keys are missing: worth a later try.
pub const TRY_AGAIN: Close = Close(1013, "Try again later");
/// No message of this protocol.
pub const INVALID: Close = Close(4400, "Invalid message");
/// An operation before the ack.
pub const UNAUTHORIZED: Close = Close(4401, "Unauthorized");
/// No valid token.
pub const FORBIDDEN: Close = Close(4403, "Forbidden");
/// The token has ended; the client comes back with a fresh one.
pub const EXPIRED: Close = Close(4403, "Token expired");
/// No init in time.
pub const INIT_TIMEOUT: Close = Close(4408, "Connection initialisation timeout");
/// The id is running.
pub const DUPLICATE_ID: Close = Close(4409, "Subscriber already exists");
/// A second init.
pub const SECOND_INIT: Close = Close(4429, "Too many initialisation requests");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_protocol_does_not_know_is_no_message() {
        for bad in [
            "",
            "5",
            "{}",
            r#"{"type":"start","id":"1","payload":{}}"#,
            r#"{"type":"subscribe","payload":{}}"#,
            r#"{"type":"subscribe","id":"","payload":{}}"#,
            r#"{"type":"subscribe","id":"1"}"#,
            r#"{"type":"complete"}"#,
            r#"{"type":"subscribe","id":1,"payload":{}}"#,
        ] {
            assert!(ClientMessage::read(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_token_is_read_from_the_init() {
        let token = |text: &str| match ClientMessage::read(text) {
            Some(ClientMessage::Init { token }) => token,
            other => panic!("{other:?}"),
        };
        let good = r#"{"type":"connection_init","payload":{"authorization":"Bearer abc","more":1}}"#;
        assert_eq!(token(good).as_deref(), Some("abc"));
        for bad in [
            r#"{"type":"connection_init"}"#,
            r#"{"type":"connection_init","payload":null}"#,
            r#"{"type":"connection_init","payload":[]}"#,
            r#"{"type":"connection_init","payload":{"authorization":"abc"}}"#,
            r#"{"type":"connection_init","payload":{"authorization":5}}"#,
        ] {
            assert_eq!(token(bad), None, "{bad}");
        }
    }
}
