//! The GraphQL API as its users see it: over HTTP and over the websocket.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use paydesk::{
    auth::{Role, issue},
    config::SigningConfig,
    httpclient::{HttpClient, HttpError},
};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Message, client::IntoClientRequest},
};

use super::app::SECRET;

/// Signs a token as the tests' identity provider would.
pub fn token(roles: &[Role], subject: &str) -> String {
    let signing = SigningConfig {
        jwt_hs256_secret: SECRET.into(),
        jwt_issuer: "paydesk-tests".to_owned(),
        jwt_audience: "paydesk".to_owned(),
        jwt_roles_claim: "roles".to_owned(),
    };
    issue(&signing, subject, None, roles, Duration::from_secs(3600)).unwrap()
}

/// The code of an answer's first error, or `OK`.
pub fn code(answer: &Value) -> &str {
    answer["errors"][0]["extensions"]["code"].as_str().unwrap_or("OK")
}

/// The path of the argument that an answer's first error blames, such as `filter.status`.
pub fn blamed(answer: &Value) -> String {
    let path = answer["errors"][0]["extensions"]["field"].as_array().cloned().unwrap_or_default();
    path.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(".")
}

/// A caller of the API.
#[derive(Clone)]
pub struct Actor {
    pub base: String,
    pub token: Option<String>,
    http: HttpClient,
}

impl Actor {
    pub fn new(base: String, token: Option<String>) -> Self {
        Self { base, token, http: HttpClient::new(Duration::from_secs(30), None).unwrap() }
    }

    /// `POST /graphql`: the HTTP status and the answer as JSON.
    pub async fn post(&self, body: &Value) -> (u16, Value) {
        let authorization = format!("Bearer {}", self.token.as_deref().unwrap_or_default());
        let headers = [("authorization", authorization.as_str())];
        let headers = if self.token.is_some() { &headers[..] } else { &[] };
        let url = format!("http://{}/graphql", self.base);
        let answer = self.http.post_json(&url, headers, body.to_string().into_bytes()).await.unwrap();
        (answer.status, serde_json::from_slice(&answer.body).unwrap_or(Value::Null))
    }

    /// The whole answer to a query, or that there was none.
    pub async fn try_query(&self, query: &str, variables: Value) -> Result<Value, HttpError> {
        let authorization = format!("Bearer {}", self.token.as_deref().unwrap_or_default());
        let headers = [("authorization", authorization.as_str())];
        let body = json!({ "query": query, "variables": variables }).to_string().into_bytes();
        let answer = self.http.post_json(&format!("http://{}/graphql", self.base), &headers, body).await?;
        Ok(serde_json::from_slice(&answer.body).unwrap_or(Value::Null))
    }

    /// The whole answer to a query.
    pub async fn query(&self, query: &str, variables: Value) -> Value {
        self.post(&json!({ "query": query, "variables": variables })).await.1
    }

    /// The data of a query that must succeed.
    pub async fn data(&self, query: &str, variables: Value) -> Value {
        let mut answer = self.query(query, variables).await;
        assert!(answer["errors"].is_null(), "{answer:#}");
        answer["data"].take()
    }

    /// The code of a query that must be refused.
    pub async fn refused(&self, query: &str, variables: Value) -> String {
        let answer = self.query(query, variables).await;
        answer["errors"][0]["extensions"]["code"]
            .as_str()
            .unwrap_or_else(|| panic!("not refused: {answer:#}"))
            .to_owned()
    }

    /// An open websocket, past its `connection_ack`.
    pub async fn socket(&self) -> Socket {
        let mut socket = Socket::connect(&self.base).await;
        let authorization = format!("Bearer {}", self.token.as_deref().unwrap_or_default());
        socket
            .send(json!({ "type": "connection_init", "payload": { "authorization": authorization } }))
            .await;
        assert_eq!(socket.next().await.unwrap()["type"], "connection_ack");
        socket
    }
}

/// A websocket that speaks graphql-transport-ws.
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub close_code: Option<u16>,
}

impl Socket {
    pub async fn connect(base: &str) -> Self {
        let mut request = format!("ws://{base}/graphql/ws").into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
        let (stream, _response) = connect_async(request).await.unwrap();
        Self { stream, close_code: None }
    }

    pub async fn send(&mut self, message: Value) {
        self.stream.send(Message::text(message.to_string())).await.unwrap();
    }

    pub async fn subscribe(&mut self, id: &str, query: &str, variables: Value) {
        let payload = json!({ "query": query, "variables": variables });
        self.send(json!({ "id": id, "type": "subscribe", "payload": payload })).await;
    }

    /// The next message that is no ping; `None` once the socket is closed. Fails after 20 s of silence.
    pub async fn next(&mut self) -> Option<Value> {
        // One deadline for them all: the server's pings are no news.
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            let message = tokio::time::timeout_at(deadline, self.stream.next()).await.expect("silence");
            match message {
                Some(Ok(Message::Text(text))) => {
                    let message: Value = serde_json::from_str(&text).unwrap();
                    match message["type"].as_str() {
                        Some("ping") => self.send(json!({ "type": "pong" })).await,
                        Some("pong") => {}
                        _ => return Some(message),
                    }
                }
                Some(Ok(Message::Close(frame))) => {
                    self.close_code = frame.map(|frame| frame.code.into());
                    return None;
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }

    /// The errors of the next message, which must be an `error`.
    pub async fn errors(&mut self) -> Value {
        let mut message = self.next().await.expect("the socket was closed");
        assert_eq!(message["type"], "error", "{message:#}");
        json!({ "errors": message["payload"].take() })
    }

    /// The data of the next `next` message.
    pub async fn data(&mut self) -> Value {
        let mut message = self.next().await.expect("the socket was closed");
        assert_eq!(message["type"], "next", "{message:#}");
        assert!(message["payload"]["errors"].is_null(), "{message:#}");
        message["payload"]["data"].take()
    }
}
