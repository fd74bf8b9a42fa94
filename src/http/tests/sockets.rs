use std::{sync::atomic::Ordering, time::Duration};

use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::support::{
    Client, closed, connect, eventually, exchange, init, open, ready, receive, request, send, start,
    start_with, subscribe,
};
use crate::http::SocketPolicy;

const PROTOCOL: (&str, &str) = ("sec-websocket-protocol", "graphql-transport-ws");

fn code(message: &Value) -> &str {
    message["payload"][0]["extensions"]["code"].as_str().unwrap_or("none")
}

#[tokio::test]
async fn only_graphql_transport_ws_from_our_own_pages_is_upgraded() {
    let server = start().await;
    let own = format!("http://{}", server.address);
    for headers in [
        &[PROTOCOL][..],
        &[PROTOCOL, ("origin", &own)],
        &[("sec-websocket-protocol", "graphql-ws, graphql-transport-ws")],
    ] {
        assert!(connect(&server, headers).await.is_ok(), "{headers:?}");
    }
    for (headers, status) in [
        (&[][..], 400),
        (&[("sec-websocket-protocol", "graphql-ws")], 400),
        (&[PROTOCOL, ("origin", "https://evil.example")], 403),
        (&[PROTOCOL, ("origin", "null")], 403),
    ] {
        let (refused, body) = connect(&server, headers).await.err().unwrap();
        assert_eq!(refused, status, "{headers:?}");
        let body: Value = serde_json::from_str(&body).unwrap();
        assert!(body["errors"][0]["extensions"]["code"].is_string(), "{body}");
    }
    let plain = exchange(server.address, request("GET", "/graphql/ws", &[], "").as_bytes()).await;
    assert_eq!((plain.status, plain.code().as_str()), (400, "BAD_USER_INPUT"));
}

#[tokio::test]
async fn queries_mutations_and_subscriptions_run_side_by_side() {
    let server = start().await;
    let mut client = ready(&server).await;
    subscribe(&mut client, "silent", "subscription { silent }").await;
    for (id, query, data) in
        [("q", "{ viewer }", json!({ "viewer": "admin" })), ("m", "mutation { set }", json!({ "set": true }))]
    {
        subscribe(&mut client, id, query).await;
        assert_eq!(
            receive(&mut client).await,
            json!({ "id": id, "type": "next", "payload": { "data": data } })
        );
        assert_eq!(receive(&mut client).await, json!({ "id": id, "type": "complete" }));
    }
    subscribe(&mut client, "s", "subscription { ticks(count: 2) }").await;
    for tick in 0..2 {
        assert_eq!(receive(&mut client).await["payload"]["data"]["ticks"], tick);
    }
    assert_eq!(receive(&mut client).await, json!({ "id": "s", "type": "complete" }));
    send(&mut client, json!({ "type": "ping" })).await;
    assert_eq!(receive(&mut client).await, json!({ "type": "pong" }));
}

#[tokio::test]
async fn an_error_is_of_its_operation_alone() {
    let server = start().await;
    let mut client = ready(&server).await;
    subscribe(&mut client, "silent", "subscription { silent }").await;
    let brackets = format!("{{ echo(long: {}1{}) }}", "[".repeat(3_000), "]".repeat(3_000));
    for (query, expected) in [
        ("{ nope }", "BAD_USER_INPUT"),
        ("{ viewer", "BAD_USER_INPUT"),
        (brackets.as_str(), "QUERY_TOO_COMPLEX"),
        ("subscription { explodes }", "INTERNAL"),
        ("subscription { falters }", "INTERNAL"),
    ] {
        subscribe(&mut client, "1", query).await;
        let mut message = receive(&mut client).await;
        if message["type"] == "next" {
            message = receive(&mut client).await;
        }
        assert_eq!(
            (message["type"].as_str(), message["id"].as_str()),
            (Some("error"), Some("1")),
            "{message}"
        );
        assert_eq!(code(&message), expected);
        assert!(!message.to_string().contains("hunter2"), "{message}");
    }
    assert_eq!(server.seen.streaming.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_missing_role_is_the_operations_error() {
    let server = start().await;
    let mut client = open(&server).await;
    init(&mut client, "service").await;
    receive(&mut client).await;
    subscribe(&mut client, "1", "subscription { ticks(count: 1) }").await;
    assert_eq!(code(&receive(&mut client).await), "FORBIDDEN");
    subscribe(&mut client, "1", "{ viewer }").await;
    assert_eq!(receive(&mut client).await["type"], "next");
}

#[tokio::test]
async fn completing_an_operation_ends_it_and_frees_its_id() {
    let server = start().await;
    let mut client = ready(&server).await;
    for _ in 0..2 {
        subscribe(&mut client, "1", "subscription { silent }").await;
        eventually("it streams", || server.seen.streaming.load(Ordering::SeqCst) == 1).await;
        send(&mut client, json!({ "type": "complete", "id": "1" })).await;
        eventually("it has ended", || server.seen.streaming.load(Ordering::SeqCst) == 0).await;
    }
    send(&mut client, json!({ "type": "complete", "id": "unknown" })).await;
    subscribe(&mut client, "2", "{ viewer }").await;
    assert_eq!(receive(&mut client).await["id"], "2");
}

#[tokio::test]
async fn each_breach_of_the_protocol_has_its_close_code() {
    let server = start().await;
    let close = |code: u16, reason: &str| (code, reason.to_owned());

    let mut client = open(&server).await;
    subscribe(&mut client, "1", "{ viewer }").await;
    assert_eq!(closed(&mut client).await, close(4401, "Unauthorized"));

    for payload in [
        json!(null),
        json!({}),
        json!({ "authorization": "Bearer wrong" }),
        json!({ "authorization": "admin" }),
    ] {
        let mut client = open(&server).await;
        send(&mut client, json!({ "type": "connection_init", "payload": payload })).await;
        assert_eq!(closed(&mut client).await, close(4403, "Forbidden"), "{payload}");
    }
    let mut client = open(&server).await;
    init(&mut client, "unavailable").await;
    assert_eq!(closed(&mut client).await, close(1013, "Try again later"));

    let mut client = ready(&server).await;
    init(&mut client, "admin").await;
    assert_eq!(closed(&mut client).await, close(4429, "Too many initialisation requests"));

    let mut client = ready(&server).await;
    for _ in 0..2 {
        subscribe(&mut client, "1", "subscription { silent }").await;
    }
    assert_eq!(closed(&mut client).await, close(4409, "Subscriber already exists"));

    for message in [Message::text("{"), Message::text(r#"{"type":"start"}"#), Message::binary(vec![1])] {
        let mut client = ready(&server).await;
        client.send(message).await.unwrap();
        assert_eq!(closed(&mut client).await, close(4400, "Invalid message"));
    }
}

#[tokio::test]
async fn without_an_init_in_time_the_socket_is_closed() {
    let policy = SocketPolicy { init_timeout: Duration::from_millis(50), ..SocketPolicy::default() };
    let server = start_with(policy, 1_000).await;
    let mut clients: Vec<Client> = Vec::new();
    for _ in 0..50 {
        clients.push(open(&server).await);
    }
    // One whose token is still being looked at when the time is over.
    init(&mut clients[0], "slow").await;
    for client in &mut clients {
        assert_eq!(closed(client).await, (4408, "Connection initialisation timeout".to_owned()));
    }
}

#[tokio::test]
async fn the_socket_ends_with_its_token() {
    let server = start().await;
    let mut client = open(&server).await;
    init(&mut client, "short").await;
    receive(&mut client).await;
    subscribe(&mut client, "1", "subscription { silent }").await;
    assert_eq!(closed(&mut client).await, (4403, "Token expired".to_owned()));
    eventually("its operations have ended", || server.seen.streaming.load(Ordering::SeqCst) == 0).await;
}
