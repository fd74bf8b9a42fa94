//! What a stranger, or a clumsy friend, can send to the whole server, and what it never tells.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::{connect_async, tungstenite::client::IntoClientRequest};

use crate::{
    payments::{APPROVED, CREATE, input},
    support::{Proxy, TestApp, Toss, api::code, app::SECRET, eventually, service_url},
};

/// Sends raw bytes and reads the answer to its end.
async fn raw(base: &str, head: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(base).await.unwrap();
    let head = format!("{head}\r\nhost: {base}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn hostile_queries() -> Vec<(&'static str, String)> {
    let aliases =
        |count: usize| (0..count).map(|n| format!("a{n}: viewer {{ subject }} ")).collect::<String>();
    let nested = |open: &str, close: &str| {
        format!("{{ payment(id: {}1{}) {{ id }} }}", open.repeat(1_500), close.repeat(1_500))
    };
    vec![
        ("a thousand aliases", format!("{{ {} }}", aliases(1_000))),
        ("a thousand aliases in a fragment", format!("{{ ...f }} fragment f on Query {{ {} }}", aliases(1_000))),
        ("ten thousand directives", format!("{{ viewer {} {{ subject }} }}", "@skip(if: false) ".repeat(10_000))),
        ("nested lists", nested("[", "]")),
        ("nested objects", nested("{a:", "}")),
        ("nested selections", format!("{}{}", "{ payment ".repeat(1_500), "}".repeat(1_500))),
        ("nested list types", format!("query ($v: {}Int{}) {{ viewer {{ subject }} }}", "[".repeat(1_500), "]".repeat(1_500))),
        ("a large page of lists of lists", "{ failures(first: 100) { nodes { subject { ... on Payment { outboxEvents { failures { subject { ... on Payment { outboxEvents { failures { id } } } } } } } } } } }".to_owned()),
        ("eleven mutations", format!("mutation {{ {} }}", (0..11).map(|n| format!("m{n}: requeueOutboxEvent(input: {{ id: 1, reason: \"r\" }}) {{ userErrors {{ code }} }} ")).collect::<String>())),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_queries_are_refused_in_a_post_a_batch_and_a_websocket_and_the_server_lives() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let admin = test.admin();
    let mut socket = admin.socket().await;
    for (what, query) in hostile_queries() {
        let answer = admin.query(&query, json!({})).await;
        assert_eq!(code(&answer), "QUERY_TOO_COMPLEX", "{what}: {answer}");
        let (status, answers) =
            admin.post(&json!([{ "query": query }, { "query": "{ viewer { subject } }" }])).await;
        assert_eq!((status, code(&answers[0])), (200, "QUERY_TOO_COMPLEX"), "{what}");
        assert_eq!(answers[1]["data"]["viewer"]["subject"], "admin", "{what}: its neighbour is answered");
        socket.subscribe("1", &query, json!({})).await;
        assert_eq!(code(&socket.errors().await), "QUERY_TOO_COMPLEX", "{what}");
    }
    let (status, answer) = admin.post(&Value::Array(vec![json!({ "query": "{ __typename }" }); 200])).await;
    assert_eq!((status, code(&answer)), (400, "BAD_USER_INPUT"));
    let deep = format!("{}1{}", "[".repeat(3_000), "]".repeat(3_000));
    let body = format!("{{\"query\": \"{{ __typename }}\", \"variables\": {{ \"v\": {deep} }} }}");
    let head = format!(
        "POST /graphql HTTP/1.1\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}",
        admin.token.as_deref().unwrap(),
        body.len()
    );
    assert!(raw(&test.base, &head, body.as_bytes()).await.starts_with("HTTP/1.1 400"));
    test.stop().await;
}

/// The most memory that this process ever had, in KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_megabytes_in_chunks_are_refused_and_never_in_memory() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let mut stream = TcpStream::connect(&test.base).await.unwrap();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n",
        test.base,
        test.admin().token.unwrap()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let before = peak_memory();
    let chunk = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
    for _ in 0..1_600 {
        stream.write_all(&chunk).await.unwrap();
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let grown = peak_memory() - before;
    assert!(answer.starts_with(b"HTTP/1.1 413"), "{}", String::from_utf8_lossy(&answer));
    assert!(grown < 20 * 1024, "{grown} KiB more");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mutation_by_get_or_as_text_is_not_carried_out() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    let token = test.service().token.unwrap();
    let body = json!({ "query": CREATE, "variables": input("k", 7, 42, APPROVED) }).to_string();
    let authorization = format!("authorization: Bearer {token}");
    let get = "GET /graphql?query=mutation%20%7B%20requeueOutboxEvent%20%7D HTTP/1.1";
    assert!(raw(&test.base, &format!("{get}\r\n{authorization}"), b"").await.starts_with("HTTP/1.1 405"));
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/graphql",
    ] {
        let head = format!(
            "POST /graphql HTTP/1.1\r\n{authorization}\r\ncontent-type: {content_type}\r\ncontent-length: {}",
            body.len()
        );
        assert!(raw(&test.base, &head, body.as_bytes()).await.starts_with("HTTP/1.1 415"), "{content_type}");
    }
    assert_eq!((test.db.count("payment").await, toss.calls().await.len()), (0, 0));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_the_schema_is_told_to_strangers_or_by_mistakes() {
    let test = TestApp::builder().set("workers", "false").start().await;
    for query in [
        "mutation { requeueOutboxEven(input: { id: 1, reason: \"r\" }) { outboxEvent { id } } }",
        "{ outboxEvnts { nodes { id } } }",
        "{ payment(identifier: 1) { id } }",
        "{ payment(id: 1) { orderIdd } }",
        "{ payments(filter: { stat: PENDING }) { nodes { id } } }",
        "{ __schema { types { name } } }",
        "{ __type(name: \"Payment\") { fields { name } } }",
        "{ viewer { subject ... on Pament { id } } }",
    ] {
        let (status, answer) = test.anonymous().post(&json!({ "query": query })).await;
        assert_eq!((status, code(&answer)), (401, "UNAUTHENTICATED"), "{query}");
        let mut told = answer.to_string();
        for actor in [test.service(), test.admin()] {
            let answer = actor.query(query, json!({})).await;
            assert_eq!(code(&answer), "BAD_USER_INPUT", "{query}: {answer}");
            told += &answer.to_string();
            let mut socket = actor.socket().await;
            socket.subscribe("1", query, json!({})).await;
            told += &socket.errors().await.to_string();
        }
        for leak in [
            "Did you mean",
            "requeueOutboxEvent\"",
            "outboxEvents",
            "PaymentFilter",
            "\"orderId\"",
            "Query",
            "Mutation",
        ] {
            assert!(!told.contains(leak), "{query}: {leak} in {told}");
        }
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn introspection_is_for_those_who_switch_it_on() {
    let test = TestApp::builder().set("workers", "false").set("graphql-introspection", "true").start().await;
    let data = test.admin().data("{ __schema { queryType { name } } }", json!({})).await;
    assert_eq!(data["__schema"]["queryType"]["name"], "Query");
    let (status, _) = test.anonymous().post(&json!({ "query": "{ __schema { queryType { name } } }" })).await;
    assert_eq!(status, 401, "also then only with a token");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_websocket_from_a_foreign_page_is_refused() {
    let test = TestApp::builder().set("workers", "false").start().await;
    for (origin, welcome) in [
        ("https://evil.example".to_owned(), false),
        ("null".to_owned(), false),
        (format!("http://{}.evil.example", test.base), false),
        (format!("http://{}", test.base), true),
    ] {
        let mut request = format!("ws://{}/graphql/ws", test.base).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
        request.headers_mut().insert("origin", origin.parse().unwrap());
        assert_eq!(connect_async(request).await.is_ok(), welcome, "{origin}");
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_in_any_answer_not_even_of_a_broken_server() {
    let (broker, amqp_url) = Proxy::before(&service_url("AMQP_URL")).await;
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).amqp_url(amqp_url).start().await;
    let admin = test.admin();
    broker.refuse();
    let mut told = eventually("the outage is told", async || {
        let answer = raw(&test.base, "GET /readyz HTTP/1.1", b"").await;
        (!answer.contains("\"broker\":\"up\"")).then_some(answer)
    })
    .await;
    test.db
        .run("ALTER TABLE payment RENAME TO payment_away; ALTER TABLE payment_outbox RENAME TO outbox_away")
        .await;
    for query in [
        "{ payment(id: 1) { id } }",
        "{ payments { nodes { id } count { value } } }",
        "{ outboxEvents { nodes { id } } }",
    ] {
        let answer = admin.query(query, json!({})).await;
        assert_eq!(code(&answer), "INTERNAL", "{answer}");
        assert!(answer["errors"][0]["extensions"]["requestId"].is_string());
        told += &answer.to_string();
    }
    told += &admin.query(CREATE, input("k", 7, 42, APPROVED)).await.to_string();
    test.db
        .run("ALTER TABLE payment_away RENAME TO payment; ALTER TABLE outbox_away RENAME TO payment_outbox")
        .await;
    for path in ["/metrics", "/healthz", "/readyz", "/graphql", "/nosuch"] {
        told += &raw(&test.base, &format!("GET {path} HTTP/1.1"), b"").await;
    }
    told += &admin.data("{ viewer { subject name roles environment } }", json!({})).await.to_string();
    for secret in [
        SECRET,
        "test_sk_sim",
        "guest:guest",
        "postgres://",
        "amqp://",
        "relation",
        "payment_away",
        "diesel",
        "src/",
        "433000",
    ] {
        assert_eq!(told.lines().find(|line| line.contains(secret)), None, "{secret}");
    }
    broker.pass();
    test.broker_is_up().await;
    test.stop().await;
}
