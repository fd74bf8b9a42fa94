//! One websocket from its first message to its close.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::FutureExt;
use tokio::time::{Instant, sleep_until, timeout};

use super::{
    message::{
        ACK, ClientMessage, Close, DUPLICATE_ID, EXPIRED, FORBIDDEN, INIT_TIMEOUT, INVALID, PONG, RESTART,
        SECOND_INIT, TRY_AGAIN, UNAUTHORIZED, about,
    },
    operations::{Operations, Outcome},
};
use crate::{
    auth::{Principal, TokenError},
    graphql::{ApiError, Caller, Event, error_body},
    http::{Http, request_id::RequestId},
    types::clock,
};

/// Why a session ends.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// We close it.
    Close(Close),
    /// The client closes it, and waits for our answer to that.
    Left,
    /// The client has gone, or does not take what we send.
    Gone,
}

pub struct Session {
    socket: WebSocket,
    http: Http,
    request_id: RequestId,
    /// By the console's cookie.
    signed_in: Option<Principal>,
    bearer: Option<Bearer>,
    operations: Operations,
    /// Operations so far: each has its own request id.
    started: u64,
    init_until: Instant,
    ping_at: Instant,
    dead_at: Instant,
}

/// Whose socket it is, and until when.
struct Bearer {
    principal: Principal,
    /// By the console's cookie.
    is_browser: bool,
    until: Instant,
}

impl Session {
    pub fn new(socket: WebSocket, http: Http, request_id: RequestId, signed_in: Option<Principal>) -> Self {
        let now = Instant::now();
        Self {
            init_until: now + http.sockets.init_timeout,
            ping_at: now + http.sockets.ping_every,
            dead_at: now + http.sockets.dead_after,
            socket,
            http,
            request_id,
            signed_in,
            bearer: None,
            operations: Operations::default(),
            started: 0,
        }
    }

    /// Serves the socket to its end.
    pub async fn run(mut self) {
        let end = loop {
            if let Err(end) = self.step().await {
                break end;
            }
        };
        // Before the closing handshake: whatever they hold is given back at once.
        self.operations = Operations::default();
        tracing::debug!(?end, "websocket ended");
        match end {
            End::Close(Close(code, reason)) => {
                let frame = CloseFrame { code, reason: reason.into() };
                Box::pin(self.finish(Some(Message::Close(Some(frame))))).await;
            }
            End::Left => Box::pin(self.finish(None)).await,
            End::Gone => {}
        }
    }

    async fn step(&mut self) -> Result<(), End> {
        let closing = self.http.connections.closing.clone();
        let (deadline, due) = self.deadline();
        tokio::select! {
            () = closing.cancelled() => Err(End::Close(RESTART)),
            () = sleep_until(deadline) => self.due(due).await,
            received = self.socket.recv() => match received {
                Some(Ok(message)) => self.receive(message).await,
                Some(Err(_)) => Err(End::Close(INVALID)),
                None => Err(End::Gone),
            },
            (id, outcome) = self.operations.next() => self.deliver(&id, outcome).await,
        }
    }

    /// What is due first.
    fn deadline(&self) -> (Instant, Due) {
        let who = match &self.bearer {
            None => (self.init_until, Due::Init),
            Some(bearer) => (bearer.until, Due::Expiry),
        };
        let all = [who, (self.ping_at, Due::Ping), (self.dead_at, Due::Dead)];
        all.into_iter().min_by_key(|(at, _)| *at).unwrap_or(who)
    }

    async fn due(&mut self, due: Due) -> Result<(), End> {
        match due {
            Due::Init => Err(End::Close(INIT_TIMEOUT)),
            Due::Expiry => Err(End::Close(EXPIRED)),
            // What it sent may still wait to be read, since nothing is while an answer is being sent.
            Due::Dead => match self.socket.recv().now_or_never() {
                Some(Some(Ok(message))) => self.receive(message).await,
                _ => Err(End::Gone),
            },
            Due::Ping => {
                self.ping_at = Instant::now() + self.http.sockets.ping_every;
                self.send(Message::Ping(bytes::Bytes::new())).await
            }
        }
    }

    async fn receive(&mut self, message: Message) -> Result<(), End> {
        self.dead_at = Instant::now() + self.http.sockets.dead_after;
        match message {
            Message::Text(text) => {
                let message = ClientMessage::read(text.as_str()).ok_or(End::Close(INVALID))?;
                // A client says little, and what answering it takes would be part of each socket for good.
                Box::pin(self.handle(message)).await
            }
            Message::Binary(_) => Err(End::Close(INVALID)),
            Message::Close(_) => Err(End::Left),
            // The library answers pings itself.
            Message::Ping(_) | Message::Pong(_) => Ok(()),
        }
    }

    async fn handle(&mut self, message: ClientMessage) -> Result<(), End> {
        match message {
            ClientMessage::Init { token } => self.init(token).await,
            ClientMessage::Ping => self.send_text(PONG.to_owned()).await,
            ClientMessage::Pong => Ok(()),
            ClientMessage::Subscribe { id, payload } => self.subscribe(id, payload.get()).await,
            ClientMessage::Complete { id } => {
                self.operations.stop(&id);
                Ok(())
            }
        }
    }

    async fn init(&mut self, token: Option<String>) -> Result<(), End> {
        if self.bearer.is_some() {
            return Err(End::Close(SECOND_INIT));
        }
        let is_browser = token.is_none();
        let principal = match token {
            Some(token) => self.verify(token).await?,
            None => self.signed_in.take().ok_or(End::Close(FORBIDDEN))?,
        };
        self.bearer = Some(Bearer { until: expiry(&principal), is_browser, principal });
        self.send_text(ACK.to_owned()).await
    }

    async fn verify(&mut self, token: String) -> Result<Principal, End> {
        let verified = tokio::select! {
            () = self.http.connections.closing.cancelled() => return Err(End::Close(RESTART)),
            () = sleep_until(self.init_until) => return Err(End::Close(INIT_TIMEOUT)),
            verified = (self.http.authenticate)(token) => verified,
        };
        verified.map_err(|error| {
            tracing::debug!(%error, "token refused");
            End::Close(if error == TokenError::KeysUnavailable { TRY_AGAIN } else { FORBIDDEN })
        })
    }

    async fn subscribe(&mut self, id: String, payload: &str) -> Result<(), End> {
        let Some(bearer) = &self.bearer else { return Err(End::Close(UNAUTHORIZED)) };
        if self.operations.contains(&id) {
            return Err(End::Close(DUPLICATE_ID));
        }
        self.started += 1;
        let request_id = format!("{}-{}", self.request_id.as_str(), self.started);
        if self.operations.len() >= self.http.sockets.max_operations {
            let error = ApiError::rate_limited("Too many operations run on this socket.");
            let errors = error_list(&error, &request_id);
            return self.send_text(about(&json_text(&id), "error", Some(&errors))).await;
        }
        let caller =
            Caller { principal: bearer.principal.clone(), is_browser: bearer.is_browser, request_id };
        let events = self.http.api.open(payload, &caller);
        self.operations.start(id, events);
        Ok(())
    }

    async fn deliver(&mut self, id: &str, outcome: Outcome) -> Result<(), End> {
        let id_json = json_text(id);
        let text = match outcome {
            Outcome::Event(Event::Next(result)) => about(&id_json, "next", Some(&result)),
            Outcome::Event(Event::Error(errors)) => {
                self.operations.stop(id);
                about(&id_json, "error", Some(&errors))
            }
            Outcome::Ended => {
                self.operations.stop(id);
                about(&id_json, "complete", None)
            }
        };
        self.send_text(text).await
    }

    async fn send_text(&mut self, text: String) -> Result<(), End> {
        self.send(Message::Text(text.into())).await
    }

    /// Waits until the client takes it, since nothing is polled meanwhile, but not for ever, not beyond the
    /// token, and not beyond shutdown.
    async fn send(&mut self, message: Message) -> Result<(), End> {
        let until = self.bearer.as_ref().map(|bearer| bearer.until);
        let expired = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        let started = Instant::now();
        tokio::select! {
            biased;
            sent = timeout(self.http.sockets.send_timeout, self.socket.send(message)) => match sent {
                Ok(Ok(())) => {
                    self.took(started);
                    Ok(())
                }
                Ok(Err(_)) | Err(_) => Err(End::Gone),
            },
            () = self.http.connections.closing.cancelled() => Err(End::Close(RESTART)),
            () = expired => Err(End::Close(EXPIRED)),
        }
    }

    /// A client that had to be waited for, and then took it, is alive although it sent nothing.
    fn took(&mut self, started: Instant) {
        let now = Instant::now();
        if now.duration_since(started) >= WAITED_FOR {
            self.dead_at = now + self.http.sockets.dead_after;
        }
    }

    /// Does our half of the closing handshake and waits for the client's, so that it reads the close before
    /// the connection ends.
    async fn finish(mut self, close: Option<Message>) {
        let handshake = async {
            if let Some(close) = close {
                self.socket.send(close).await.ok()?;
            }
            while let Some(Ok(_)) = self.socket.recv().await {}
            Some(())
        };
        if timeout(self.http.sockets.close_timeout, handshake).await.is_err() {
            tracing::debug!("the client did not answer the close");
        }
    }
}

/// Longer than handing a message to the kernel takes.
const WAITED_FOR: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Init,
    Expiry,
    Ping,
    Dead,
}

/// The token's end on the clock that timers run by. One that lasts beyond what they can tell lasts a year.
fn expiry(principal: &Principal) -> Instant {
    let left = principal.expires_at().signed_duration_since(clock::now()).to_std().unwrap_or(Duration::ZERO);
    Instant::now() + left.min(Duration::from_secs(365 * 24 * 3_600))
}

fn json_text(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// The errors alone, as the protocol's `error` message has them.
fn error_list(error: &ApiError, request_id: &str) -> String {
    let body = error_body(error, request_id);
    body.strip_prefix(r#"{"errors":"#).and_then(|rest| rest.strip_suffix('}')).unwrap_or("[]").to_owned()
}
