use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, routing::get};
use futures_util::{FutureExt, SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinHandle,
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Error, Message, client::IntoClientRequest, http::HeaderValue},
};
use tokio_util::task::TaskTracker;

use crate::{
    auth::{Principal, Role, Sessions, TokenError},
    graphql::testing::{Seen, api},
    http::{Connections, Http, Readiness, SignIn, SocketPolicy, not_found, router, serve},
    types::clock,
};

/// Long enough for any machine; nothing waits for it when all is well.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct TestServer {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
    pub connections: Connections,
    /// What the token `slow` waits for.
    pub gate: Arc<Semaphore>,
    pub served: JoinHandle<bool>,
}

pub async fn start() -> TestServer {
    start_with(SocketPolicy::default(), 1_000).await
}

pub async fn start_with(sockets: SocketPolicy, rate: u32) -> TestServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (api, seen) = api(false, rate);
    let (connections, gate) = (Connections::default(), Arc::new(Semaphore::new(0)));
    let waiting = gate.clone();
    let http = Http {
        api,
        authenticate: Arc::new(move |token| authenticate(token, waiting.clone()).boxed()),
        sign_in: SignIn {
            sessions: Some(Sessions::of_this_process().unwrap()),
            dev_login: None,
            environment: "test".to_owned(),
        },
        readiness: Arc::new(|| {
            let detail = vec![("queue".to_owned(), "not consumed".to_owned())];
            async { Readiness { database: false, broker: true, consuming: true, detail } }.boxed()
        }),
        metrics: Some(Arc::new(|| "paydesk_up 1\n".to_owned())),
        sockets,
        connections: connections.clone(),
    };
    let more = not_found().route("/panics", get(panics));
    let router: Router = router(http, more);
    let served = TaskTracker::new().spawn(serve(listener, router, connections.clone(), PATIENCE));
    TestServer { address, seen, connections, gate, served }
}

async fn panics() -> String {
    let empty: Vec<String> = Vec::new();
    empty.into_iter().next().expect("hunter2")
}

async fn authenticate(token: String, gate: Arc<Semaphore>) -> Result<Principal, TokenError> {
    let bearer = |roles: &[Role], lasts| {
        let expires_at = clock::now() + chrono::TimeDelta::milliseconds(lasts);
        Ok(Principal::for_tests(&token, roles, expires_at))
    };
    match token.as_str() {
        "admin" => bearer(&[Role::Admin], 3_600_000),
        "service" => bearer(&[Role::Service], 3_600_000),
        "short" => bearer(&[Role::Admin], 300),
        "slow" => {
            gate.acquire().await.unwrap().forget();
            bearer(&[Role::Admin], 3_600_000)
        }
        "unavailable" => Err(TokenError::KeysUnavailable),
        _ => Err(TokenError::Signature),
    }
}

/// One answer, taken apart.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }

    pub fn code(&self) -> String {
        self.json()["errors"][0]["extensions"]["code"].as_str().unwrap_or("none").to_owned()
    }
}

/// Sends bytes on a connection of its own and reads everything that comes back.
pub async fn exchange(address: SocketAddr, request: &[u8]) -> Answer {
    let (mut read, mut write) = TcpStream::connect(address).await.unwrap().into_split();
    let (sent, received) = tokio::join!(async { write.write_all(request).await }, async {
        let mut received = Vec::new();
        read.read_to_end(&mut received).await.map(|_| received)
    });
    sent.unwrap();
    parse(&String::from_utf8(received.unwrap()).unwrap())
}

pub fn parse(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}

/// A request that ends its connection.
pub fn request(method: &str, path: &str, headers: &[&str], body: &str) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: paydesk.example\r\nconnection: close\r\n");
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    if !body.is_empty() {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    format!("{text}\r\n{body}")
}

pub const ADMIN: &str = "authorization: Bearer admin";
pub const JSON: &str = "content-type: application/json";

pub type Client = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Opens a websocket with these headers; the status when it is refused.
pub async fn connect(server: &TestServer, headers: &[(&'static str, &str)]) -> Result<Client, (u16, String)> {
    let url = format!("ws://{}/graphql/ws", server.address);
    let mut request = url.into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
    }
    match connect_async(request).await {
        Ok((client, _)) => Ok(client),
        Err(Error::Http(refused)) => {
            let body = refused.body().clone().unwrap_or_default();
            Err((refused.status().as_u16(), String::from_utf8(body).unwrap()))
        }
        Err(other) => panic!("{other}"),
    }
}

pub async fn open(server: &TestServer) -> Client {
    connect(server, &[("sec-websocket-protocol", "graphql-transport-ws")]).await.unwrap()
}

pub async fn send(client: &mut Client, message: Value) {
    client.send(Message::text(message.to_string())).await.unwrap();
}

pub async fn init(client: &mut Client, token: &str) {
    let payload = json!({ "authorization": format!("Bearer {token}") });
    send(client, json!({ "type": "connection_init", "payload": payload })).await;
}

/// A socket that is past its ack.
pub async fn ready(server: &TestServer) -> Client {
    let mut client = open(server).await;
    init(&mut client, "admin").await;
    assert_eq!(receive(&mut client).await, json!({ "type": "connection_ack" }));
    client
}

pub async fn subscribe(client: &mut Client, id: &str, query: &str) {
    send(client, json!({ "type": "subscribe", "id": id, "payload": { "query": query } })).await;
}

/// The next message of the protocol.
pub async fn receive(client: &mut Client) -> Value {
    match next(client).await {
        Some(Message::Text(text)) => serde_json::from_str(text.as_str()).unwrap(),
        other => panic!("{other:?} instead of a text"),
    }
}

/// How the server closes; code 0 when it just ends the connection.
pub async fn closed(client: &mut Client) -> (u16, String) {
    loop {
        match next(client).await {
            Some(Message::Close(Some(frame))) => return (frame.code.into(), frame.reason.to_string()),
            Some(Message::Close(None)) | None => return (0, String::new()),
            Some(_) => {}
        }
    }
}

async fn next(client: &mut Client) -> Option<Message> {
    loop {
        match tokio::time::timeout(PATIENCE, client.next()).await.expect("an answer in time") {
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(message)) => return Some(message),
            Some(Err(_)) | None => return None,
        }
    }
}

/// Waits until `condition` holds.
pub async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}
