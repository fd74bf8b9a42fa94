//! Clients that misbehave, or just die.

use std::{sync::atomic::Ordering, time::Duration};

use futures_util::SinkExt;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::support::{closed, connect, eventually, ready, receive, start, start_with, subscribe};
use crate::http::SocketPolicy;

#[tokio::test]
async fn clients_that_die_are_cleaned_up() {
    let policy = SocketPolicy {
        ping_every: Duration::from_millis(20),
        dead_after: Duration::from_millis(100),
        ..SocketPolicy::default()
    };
    let server = start_with(policy, 1_000).await;
    let mut dead = Vec::new();
    for _ in 0..20 {
        let mut client = ready(&server).await;
        subscribe(&mut client, "1", "subscription { silent }").await;
        // Nobody polls it any more: no ping is answered, and the connection stays.
        dead.push(client);
    }
    eventually("nothing streams", || {
        server.seen.streaming.load(Ordering::SeqCst) == 0 && server.connections.tracker.is_empty()
    })
    .await;
}

#[tokio::test]
async fn a_living_client_is_kept_by_its_pongs() {
    let policy = SocketPolicy {
        ping_every: Duration::from_millis(20),
        dead_after: Duration::from_millis(400),
        ..SocketPolicy::default()
    };
    let server = start_with(policy, 1_000).await;
    let mut client = ready(&server).await;
    let reading = tokio::time::timeout(Duration::from_millis(1_500), receive(&mut client));
    assert!(reading.await.is_err(), "it only answers pings, and is not closed");
    subscribe(&mut client, "1", "{ viewer }").await;
    assert_eq!(receive(&mut client).await["type"], "next");
}

#[tokio::test]
async fn a_slow_client_slows_its_own_stream_and_is_dropped_in_the_end() {
    let policy = SocketPolicy { send_timeout: Duration::from_millis(300), ..SocketPolicy::default() };
    let server = start_with(policy, 1_000).await;
    let mut client = ready(&server).await;
    subscribe(&mut client, "1", "subscription { flood }").await;
    eventually("it streams", || server.seen.streaming.load(Ordering::SeqCst) == 1).await;
    eventually("it was dropped", || server.seen.streaming.load(Ordering::SeqCst) == 0).await;
    // What the kernel's buffers take, and one more.
    let made = server.seen.counted.load(Ordering::SeqCst);
    assert!(made < 500, "{made} results of 100 kB were made for a client that reads none");
}

#[tokio::test]
async fn a_message_over_the_limit_ends_the_socket() {
    let server = start().await;
    let mut client = ready(&server).await;
    let _ = client.send(Message::text("x".repeat((1 << 20) + 1))).await;
    closed(&mut client).await;
    eventually("it is gone", || server.connections.tracker.is_empty()).await;
}

#[tokio::test]
async fn operations_and_sockets_are_bounded() {
    let policy = SocketPolicy { max_operations: 3, max_sockets: 1, ..SocketPolicy::default() };
    let server = start_with(policy, 1_000).await;
    let mut client = ready(&server).await;
    for id in ["1", "2", "3", "4"] {
        subscribe(&mut client, id, "subscription { silent }").await;
    }
    let refused = receive(&mut client).await;
    assert_eq!((&refused["type"], &refused["id"]), (&json!("error"), &json!("4")));
    assert_eq!(refused["payload"][0]["extensions"]["code"], "RATE_LIMITED", "{refused}");

    let protocol = [("sec-websocket-protocol", "graphql-transport-ws")];
    assert_eq!(connect(&server, &protocol).await.err().map(|refused| refused.0), Some(503));
    drop(client);
    eventually("the place is free", || server.connections.tracker.is_empty()).await;
    assert!(connect(&server, &protocol).await.is_ok());
}

#[tokio::test]
async fn the_rate_is_the_subjects_over_all_its_sockets() {
    let server = start_with(SocketPolicy::default(), 1).await;
    let mut sockets = [ready(&server).await, ready(&server).await];
    let mut kinds = Vec::new();
    for socket in &mut sockets {
        for id in ["a", "b"] {
            subscribe(socket, id, "subscription { silent }").await;
        }
        subscribe(socket, "c", "{ viewer }").await;
        kinds.push(receive(socket).await);
    }
    // Two operations are its burst: each further one is refused, on the second socket too.
    for refused in kinds {
        assert_eq!(refused["payload"][0]["extensions"]["code"], "RATE_LIMITED", "{refused}");
    }
}

#[tokio::test]
async fn a_client_that_closes_gets_its_close_answered() {
    let server = start().await;
    let mut client = ready(&server).await;
    client.close(None).await.unwrap();
    eventually("it is gone", || server.connections.tracker.is_empty()).await;
    assert_eq!(closed(&mut client).await.0, 0);
}
