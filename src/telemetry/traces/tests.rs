use axum::{Router, body::Bytes, http::HeaderMap, routing::post};
use tokio::{net::TcpListener, sync::mpsc};
use tracing::{info_span, subscriber::with_default};
use tracing_subscriber::layer::SubscriberExt as _;

use super::*;

/// A collector that hands on the content type and the body of each request.
#[expect(clippy::disallowed_methods, reason = "the collector lives as long as the test's runtime")]
async fn collector() -> (String, mpsc::UnboundedReceiver<(String, Bytes)>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let take = move |headers: HeaderMap, body: Bytes| async move {
        let kind = headers["content-type"].to_str().unwrap().to_owned();
        sender.send((kind, body)).unwrap();
    };
    let app = Router::new().route("/v1/traces", post(take));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (endpoint, receiver)
}

fn contains(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_spans_reach_the_collector_with_the_trace_that_was_handed_on() {
    let (endpoint, mut received) = collector().await;
    let provider = provider(&address(&endpoint)).unwrap();
    let parent = with_default(tracing_subscriber::registry().with(layer(&provider)), || {
        let _library = tracing::info_span!(target: "hyper::client", "not_ours").entered();
        let _request = info_span!("ours", request_id = "r-1").entered();
        current_traceparent()
    });
    tokio::task::spawn_blocking(move || provider.shutdown()).await.unwrap().unwrap();

    let (kind, body) = received.recv().await.unwrap();
    assert_eq!(kind, "application/x-protobuf");
    for text in ["ours", "r-1", "paydesk"] {
        assert!(contains(&body, text), "{text}");
    }
    assert!(!contains(&body, "not_ours"));
    let parent = parent.unwrap();
    let trace_id: Vec<u8> =
        (3..35).step_by(2).map(|at| u8::from_str_radix(&parent[at..at + 2], 16).unwrap()).collect();
    assert_eq!((&parent[..3], parent.len()), ("00-", 55));
    assert!(body.windows(16).any(|window| window == trace_id));
}

#[test]
fn without_a_collector_there_is_no_trace_to_hand_on() {
    with_default(tracing_subscriber::registry(), || {
        let _request = info_span!("request").entered();
        assert_eq!(current_traceparent(), None);
    });
    shutdown();
}
