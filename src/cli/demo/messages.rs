//! What the meeting service sends: registrations, some of which are cancelled or whose meeting is deleted, and now and
//! then a message that nobody can read.

use std::time::Duration;

use chrono::SecondsFormat;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    broker::{BatchEnd, Broker, ConfirmChannel, MEETING_EVENTS, OutgoingMessage},
    types::clock,
};

/// Registrations come at a quarter of the payments' rate.
const PAYMENTS_PER_REGISTRATION: u32 = 4;
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(10);
/// The wait before a broker that is away is tried again.
const RECONNECT: Duration = Duration::from_secs(2);

/// A message and its key.
struct Letter {
    routing_key: &'static str,
    event_type: &'static str,
    body: Vec<u8>,
}

/// Sends until it is dropped.
pub(super) async fn send_all(broker: &Broker, rate: u32) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1) * PAYMENTS_PER_REGISTRATION / rate.max(1));
    let mut channel = None;
    let mut number = 0_u64;
    let (mut meeting, mut user) = (1, 1);
    loop {
        ticks.tick().await;
        number += 1;
        let letter = match number % 12 {
            3 | 9 => event(
                "participant.cancel",
                "PARTICIPANT_CANCEL",
                meeting,
                json!({
                    "meetingId": meeting, "userId": user, "refundRequired": number % 12 == 3, "reason": "Demo",
                }),
            ),
            6 => event(
                "meeting.deleted",
                "MEETING_DELETED",
                meeting,
                json!({ "meetingId": meeting, "reason": "Demo" }),
            ),
            11 => unreadable(),
            _ => {
                (meeting, user) = (fastrand::i64(1..1 << 52), fastrand::i64(1..1 << 52));
                let amount = 1000 * fastrand::u32(1..=50);
                event(
                    "participant.register",
                    "PARTICIPANT_REGISTER",
                    meeting,
                    json!({
                        "meetingId": meeting, "userId": user, "amount": amount, "orderName": "Demo meeting",
                    }),
                )
            }
        };
        channel = send(broker, channel.take(), letter).await;
    }
}

fn event(routing_key: &'static str, event_type: &'static str, meeting: i64, data: Value) -> Letter {
    let wrapper = json!({
        "eventId": Uuid::now_v7(), "eventType": event_type,
        "occurredAt": clock::now().to_rfc3339_opts(SecondsFormat::Millis, true), "correlationId": Uuid::now_v7(),
        "aggregateType": "MEETING", "aggregateId": meeting.to_string(), "data": data,
    });
    Letter { routing_key, event_type, body: wrapper.to_string().into_bytes() }
}

fn unreadable() -> Letter {
    Letter {
        routing_key: "participant.register",
        event_type: "PARTICIPANT_REGISTER",
        body: br#"{"eventType":"PARTICIPANT_REGISTER","data":"#.to_vec(),
    }
}

/// Sends one; gives the channel back if it may be used again.
async fn send(broker: &Broker, channel: Option<ConfirmChannel>, letter: Letter) -> Option<ConfirmChannel> {
    let channel = match channel {
        Some(channel) => channel,
        None => match broker.lone_channel().await {
            Ok(channel) => channel,
            Err(error) => {
                eprintln!("demo: a message cannot be sent: {error}");
                tokio::time::sleep(RECONNECT).await;
                return None;
            }
        },
    };
    let short = |what, text: &str| OutgoingMessage::short(what, text).unwrap_or_default();
    let message = OutgoingMessage {
        message_id: Uuid::now_v7(),
        exchange: short("exchange", &broker.name(MEETING_EVENTS)),
        routing_key: short("routing key", letter.routing_key),
        event_type: short("event type", letter.event_type),
        correlation_id: short("correlation id", &Uuid::now_v7().to_string()),
        traceparent: None,
        body: letter.body,
    };
    let sent = channel.send(&[message], CONFIRM_TIMEOUT).await;
    if sent.end != BatchEnd::Confirmed {
        eprintln!("demo: a message was not taken: {:?}", sent.end);
    }
    sent.channel
}
