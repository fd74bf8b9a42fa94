//! `GET /graphql/ws`: GraphQL over a websocket, the protocol graphql-transport-ws and no other.
//!
//! The protocol's loop is our own: the library's has no deadline for the first message, lets a repeated id
//! replace a running operation, and sends error texts as close reasons.

mod message;
mod operations;
mod session;

use std::{
    sync::{Arc, atomic::AtomicUsize, atomic::Ordering},
    time::Duration,
};

use axum::{
    Extension,
    extract::{
        State,
        ws::{WebSocket, WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use tracing::Instrument;

use super::{Http, answer, origin, request_id::RequestId, session::is_from_own_page};
use crate::{graphql::ApiError, telemetry::record};
use session::Session;

const PROTOCOL: &str = "graphql-transport-ws";
/// Bytes of one message of a client.
const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// A socket costs its buffers, of which the library's own are 128 kB each.
const BUFFER_BYTES: usize = 512;
/// The largest answer that is sent; the buffer is empty before each.
const MAX_ANSWER_BYTES: usize = 32 << 20;

/// How websockets are kept.
#[derive(Debug, Clone)]
pub struct SocketPolicy {
    /// Until `connection_init` has come and was accepted.
    pub init_timeout: Duration,
    /// From one ping to the next.
    pub ping_every: Duration,
    /// Silence, not even a pong, after which the client is dead.
    pub dead_after: Duration,
    /// How long one message may take to be taken by a slow client.
    pub send_timeout: Duration,
    /// How long the closing handshake may take.
    pub close_timeout: Duration,
    /// Operations at once on one socket.
    pub max_operations: usize,
    /// Sockets at once in this process.
    pub max_sockets: usize,
}

impl Default for SocketPolicy {
    fn default() -> Self {
        Self {
            init_timeout: Duration::from_secs(10),
            ping_every: Duration::from_secs(10),
            dead_after: Duration::from_secs(25),
            send_timeout: Duration::from_secs(20),
            close_timeout: Duration::from_secs(2),
            max_operations: 100,
            max_sockets: 10_000,
        }
    }
}

/// Counts the sockets of this process.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenSockets(Arc<AtomicUsize>);

/// One socket's place; dropping it gives the place back.
struct Place(OpenSockets);

impl OpenSockets {
    fn take(&self, max: usize) -> Option<Place> {
        let grow = |open: usize| (open < max).then(|| open + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, grow).ok()?;
        Some(Place(self.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::AcqRel);
    }
}

pub(super) async fn upgrade(
    State(http): State<Http>,
    Extension(open): Extension<OpenSockets>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let refuse = |status, error: ApiError| answer::error(status, &error, &request_id);
    if origin::is_foreign(&headers) {
        return refuse(StatusCode::FORBIDDEN, ApiError::forbidden());
    }
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade.protocols([PROTOCOL]),
        Err(rejection) => {
            return refuse(rejection.status(), ApiError::bad_request("Only websockets are served here."));
        }
    };
    if upgrade.selected_protocol().is_none() {
        let error = ApiError::bad_request(format!("The websocket's subprotocol must be {PROTOCOL}."));
        return refuse(StatusCode::BAD_REQUEST, error);
    }
    let Some(place) = open.take(http.sockets.max_sockets) else {
        let error = ApiError::rate_limited("Too many websockets are open.");
        return refuse(StatusCode::SERVICE_UNAVAILABLE, error);
    };
    // A page of ours sends its cookie with the upgrade; it counts once the init comes without a token.
    let signed_in = http.sign_in.cookie(&headers).and_then(Result::ok).filter(|_| is_from_own_page(&headers));
    let tracked = http.connections.tracker.token();
    let span = tracing::info_span!("websocket", request_id = %request_id.as_str());
    upgrade
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_write_buffer_size(MAX_ANSWER_BYTES)
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES)
        .on_upgrade(move |socket: WebSocket| {
            let session = async move {
                let _held = (place, tracked, record::websocket());
                Session::new(socket, http, request_id, signed_in).run().await;
            };
            session.instrument(span)
        })
        .into_response()
}
