use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;

use super::support::{JSON, closed, eventually, exchange, ready, request, start, subscribe};

#[tokio::test]
async fn a_request_under_way_is_answered_and_new_connections_are_refused() {
    let server = start().await;
    let slow =
        request("POST", "/graphql", &["authorization: Bearer slow", JSON], r#"{"query":"{ viewer }"}"#);
    let address = server.address;
    let under_way = exchange(address, slow.as_bytes());
    let shutdown = async {
        eventually("the request has come", || server.connections.tracker.len() == 1).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        server.connections.closing.cancel();
        while TcpStream::connect(address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        server.gate.add_permits(1);
    };
    let (answer, ()) = tokio::join!(under_way, shutdown);
    assert_eq!(answer.json(), json!({ "data": { "viewer": "slow" } }));
    assert!(server.served.await.unwrap());
}

#[tokio::test]
async fn websockets_are_closed_with_1012_and_idle_connections_ended() {
    let server = start().await;
    let _idle = TcpStream::connect(server.address).await.unwrap();
    let mut sockets = [ready(&server).await, ready(&server).await];
    for socket in &mut sockets {
        subscribe(socket, "1", "subscription { silent }").await;
    }
    eventually("both stream", || server.seen.streaming.load(std::sync::atomic::Ordering::SeqCst) == 2).await;
    server.connections.closing.cancel();
    for socket in &mut sockets {
        assert_eq!(closed(socket).await, (1012, "Service restart".to_owned()));
    }
    assert!(server.served.await.unwrap());
    assert_eq!(server.seen.streaming.load(std::sync::atomic::Ordering::SeqCst), 0);
}
