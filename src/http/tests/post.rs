use axum::body::Body;
use futures_util::stream;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::support::{ADMIN, JSON, exchange, request, start};
use crate::http::body::{self, MAX_BODY_BYTES};

const VIEWER: &str = r#"{"query":"{ viewer }"}"#;

#[tokio::test]
async fn a_query_is_answered_with_its_request_id() {
    let server = start().await;
    let headers = [ADMIN, "content-type: application/json; charset=utf-8", "x-request-id: mine-1"];
    let answer = exchange(server.address, request("POST", "/graphql", &headers, VIEWER).as_bytes()).await;
    assert_eq!((answer.status, answer.json()), (200, json!({ "data": { "viewer": "admin" } })));
    for header in [
        "x-request-id: mine-1",
        "content-type: application/json",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
    ] {
        assert!(answer.head.contains(header), "{}", answer.head);
    }
}

#[tokio::test]
async fn without_a_valid_token_nothing_is_told_whatever_is_sent() {
    let server = start().await;
    let two = [ADMIN, ADMIN, JSON];
    let wrong = ["authorization: Bearer wrong", JSON];
    for headers in
        [&[JSON][..], &["authorization: Basic admin", JSON], &["authorization: Bearer", JSON], &wrong, &two]
    {
        for body in [
            VIEWER,
            "not json",
            r#"{"query":"mutation { requeueOutboxEvnt }"}"#,
            r#"{"query":"{ __schema { types { name } } }"}"#,
        ] {
            let answer =
                exchange(server.address, request("POST", "/graphql", headers, body).as_bytes()).await;
            let expected = json!({ "errors": [{ "message": "A valid token is required.", "extensions": { "code": "UNAUTHENTICATED" } }] });
            assert_eq!((answer.status, answer.json()), (401, expected), "{headers:?}");
        }
    }
    let answer = exchange(
        server.address,
        request("POST", "/graphql", &["content-type: text/plain"], VIEWER).as_bytes(),
    )
    .await;
    assert_eq!(answer.status, 401);
}

#[tokio::test]
async fn keys_that_cannot_be_fetched_are_not_the_callers_fault() {
    let server = start().await;
    let headers = ["authorization: Bearer unavailable", JSON];
    let answer = exchange(server.address, request("POST", "/graphql", &headers, VIEWER).as_bytes()).await;
    assert_eq!((answer.status, answer.code().as_str()), (503, "INTERNAL"));
}

#[tokio::test]
async fn other_methods_and_content_types_are_refused() {
    let server = start().await;
    for method in ["GET", "PUT", "DELETE", "OPTIONS"] {
        let path = "/graphql?query=mutation%20%7B%20set%20%7D";
        let answer = exchange(server.address, request(method, path, &[ADMIN, JSON], "").as_bytes()).await;
        assert_eq!((answer.status, answer.code().as_str()), (405, "BAD_USER_INPUT"), "{method}");
        assert!(answer.head.contains("allow: post"), "{}", answer.head);
    }
    for kind in ["content-type: text/plain", "content-type: multipart/form-data; boundary=x", "x-none: 1"] {
        let body = r#"{"query":"mutation { set }"}"#;
        let answer =
            exchange(server.address, request("POST", "/graphql", &[ADMIN, kind], body).as_bytes()).await;
        assert_eq!((answer.status, answer.code().as_str()), (415, "BAD_USER_INPUT"), "{kind}");
    }
    assert_eq!(server.seen.mutated.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_however_it_is_framed() {
    let server = start().await;
    let large = format!(r#"{{"query":"{}"}}"#, "x".repeat(MAX_BODY_BYTES));
    let answer =
        exchange(server.address, request("POST", "/graphql", &[ADMIN, JSON], &large).as_bytes()).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "BAD_USER_INPUT"));

    let mut chunked =
        request("POST", "/graphql", &[ADMIN, JSON, "transfer-encoding: chunked"], "").into_bytes();
    let chunk = [b"10000\r\n".as_slice(), &vec![b' '; 0x10000], b"\r\n"].concat();
    for _ in 0..1_600 {
        chunked.extend_from_slice(&chunk);
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    let answer = exchange(server.address, &chunked).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "BAD_USER_INPUT"));
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_given_up() {
    let trickle = stream::once(async { Ok::<_, std::io::Error>("{") });
    let endless = futures_util::StreamExt::chain(trickle, stream::pending());
    let refused = body::read(Body::from_stream(endless), std::time::Duration::from_millis(20)).await;
    assert_eq!(refused.map_err(|refused| refused.status.as_u16()), Err(408));
}

#[tokio::test]
async fn a_panic_is_answered_with_a_request_id_and_nothing_else() {
    let server = start().await;
    let answer =
        exchange(server.address, request("GET", "/panics", &["x-request-id: p-1"], "").as_bytes()).await;
    let expected = json!({ "errors": [{ "message": "Internal error.", "extensions": { "code": "INTERNAL", "requestId": "p-1" } }] });
    assert_eq!((answer.status, answer.json()), (500, expected));
    assert!(answer.head.contains("x-request-id: p-1"));
    let in_resolver = r#"{"query":"{ panics }"}"#;
    let answer =
        exchange(server.address, request("POST", "/graphql", &[ADMIN, JSON], in_resolver).as_bytes()).await;
    assert_eq!((answer.status, answer.code().as_str()), (500, "INTERNAL"));
}

#[tokio::test]
async fn unknown_paths_health_readiness_and_metrics() {
    let server = start().await;
    let get = async |path: &str| exchange(server.address, request("GET", path, &[], "").as_bytes()).await;
    let missing = get("/nope").await;
    assert_eq!((missing.status, missing.code().as_str()), (404, "NOT_FOUND"));
    assert_eq!(get("/healthz").await.status, 200);
    let ready = get("/readyz").await;
    let expected = json!({ "database": "down", "broker": "up", "detail": { "queue": "not consumed" } });
    assert_eq!((ready.status, ready.json()), (503, expected));
    let metrics = get("/metrics").await;
    assert_eq!((metrics.status, metrics.body.as_str()), (200, "paydesk_up 1\n"));
    assert!(metrics.head.contains("text/plain; version=0.0.4"));
}

#[tokio::test]
async fn a_connection_serves_more_than_one_request() {
    let server = start().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let kept = request("GET", "/healthz", &[], "").replace("connection: close\r\n", "");
    for _ in 0..2 {
        stream.write_all(kept.as_bytes()).await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"}") {
            stream.read_buf(&mut received).await.unwrap();
        }
    }
}
