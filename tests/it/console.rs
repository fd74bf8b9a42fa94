//! The console's side of the server: its files, its session, and what a cookie is good for.

use std::time::Duration;

use clap::Parser;
use paydesk::{app::App, auth::Role, config::ServeConfig};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::{
    connect_async,
    tungstenite::{Message, client::IntoClientRequest},
};

use crate::support::{
    TestApp,
    api::{Actor, token},
    app::TestAppBuilder,
};

const KEY: &str = "a session key of the tests, longer than 32 bytes";
const QUERY: &str = r#"{"query":"{ viewer { subject roles } }"}"#;

/// An answer, taken apart.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let line =
            |line: &&str| line.split_once(':').is_some_and(|(given, _)| given.eq_ignore_ascii_case(name));
        self.head.lines().find(line).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {} {}", self.status, self.body))
    }

    /// The cookie as a browser sends it back.
    fn cookie(&self) -> String {
        let set = self.header("set-cookie").unwrap_or_else(|| panic!("no cookie: {}", self.head));
        set.split(';').next().unwrap().to_owned()
    }
}

/// Sends a request as it stands.
async fn send(base: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let given = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    let mut text =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if !given("host") {
        text.push_str(&format!("host: {base}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("\r\n{body}"));
    let mut stream = TcpStream::connect(base).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut received)).await.unwrap().unwrap();
    let received = String::from_utf8_lossy(&received).into_owned();
    let (head, body) = received.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

fn with_sessions() -> TestAppBuilder {
    TestApp::builder().set("session-key", KEY)
}

/// Signs in as the console does, and hands out the cookie.
async fn signed_in(test: &TestApp, roles: &[Role]) -> String {
    let bearer = format!("Bearer {}", token(roles, "alice"));
    let origin = format!("http://{}", test.base);
    let headers = [("authorization", bearer.as_str()), ("origin", &origin), ("x-paydesk-console", "1")];
    let answer = send(&test.base, "POST", "/auth/session", &headers, "").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.cookie()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_becomes_a_cookie_that_only_the_browser_sees_and_that_asks_as_the_token_did() {
    let test = with_sessions().start().await;
    let origin = format!("http://{}", test.base);
    let bearer = format!("Bearer {}", token(&[Role::Operator], "alice"));
    let answer =
        send(&test.base, "POST", "/auth/session", &[("authorization", &bearer), ("origin", &origin)], "")
            .await;
    let set = answer.header("set-cookie").unwrap();
    for part in ["__Host-paydesk=", "; Path=/", "; HttpOnly", "; Secure", "; SameSite=Strict", "; Max-Age="] {
        assert!(set.contains(part), "{set}");
    }
    let lasts: u64 = set.split("Max-Age=").nth(1).unwrap().split(';').next().unwrap().parse().unwrap();
    assert!((3_500..=3_600).contains(&lasts), "as long as the token: {lasts}");
    assert!(!set.contains("alice") && !set.contains(bearer.split('.').nth(1).unwrap()));
    assert_eq!(answer.json()["viewer"]["subject"], "alice");

    let cookie = answer.cookie();
    let me = send(&test.base, "GET", "/auth/me", &[("cookie", &format!("other=1; {cookie}"))], "").await;
    assert_eq!(me.json()["viewer"]["roles"], json!(["OPERATOR"]));
    assert_eq!(me.header("cache-control"), Some("no-store"));
    let nobody = send(&test.base, "GET", "/auth/me", &[], "").await;
    assert_eq!((nobody.status, &nobody.json()["viewer"]), (200, &Value::Null));

    let console = [
        ("cookie", cookie.as_str()),
        ("origin", &origin),
        ("x-paydesk-console", "1"),
        ("content-type", "application/json"),
    ];
    let asked = send(&test.base, "POST", "/graphql", &console, QUERY).await;
    assert_eq!(asked.json()["data"]["viewer"], json!({ "subject": "alice", "roles": ["OPERATOR"] }));
    let mutation = r#"{"query":"mutation { requeueOutboxEvent(input: { id: 1, reason: \"x\" }) { userErrors { code } } }"}"#;
    let refused = send(&test.base, "POST", "/graphql", &console, mutation).await;
    assert_eq!(refused.json()["errors"][0]["extensions"]["code"], "FORBIDDEN");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_can_be_held_to_the_consoles_own_queries_and_a_token_is_not() {
    let test = with_sessions().set("console-queries-only", "true").start().await;
    let cookie = signed_in(&test, &[Role::Admin]).await;
    let (origin, bearer) =
        (format!("http://{}", test.base), format!("Bearer {}", token(&[Role::Admin], "alice")));
    let browser = [
        ("cookie", cookie.as_str()),
        ("origin", &origin),
        ("x-paydesk-console", "1"),
        ("content-type", "application/json"),
    ];
    let service = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let written: Value =
        serde_json::from_str(include_str!("../../web/src/gql/persisted-documents.json")).unwrap();
    let books =
        written.as_object().unwrap().iter().find(|(_, text)| text.to_string().contains("query Books"));
    let own =
        json!({ "query": "query Other { viewer { subject } }", "documentId": books.unwrap().0 }).to_string();
    let post = async |headers: &[(&str, &str)], body: &str| {
        send(&test.base, "POST", "/graphql", headers, body).await.json()
    };

    // What runs is the query that the server knows under the name, not the text beside it.
    let answer = post(&browser, &own).await;
    assert!(answer["data"]["invariants"].is_array(), "{answer}");
    let unknown = r#"{"query":"{ viewer { subject } }","documentId":"sha256:0"}"#;
    for refused in [QUERY, unknown] {
        let answer = post(&browser, refused).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{answer}");
        assert!(answer["data"].is_null(), "{answer}");
    }
    assert_eq!(post(&service, QUERY).await["data"]["viewer"]["subject"], "alice");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_is_good_for_nothing_but_a_json_post_of_our_own_page() {
    let test = with_sessions().start().await;
    let cookie = signed_in(&test, &[Role::Admin]).await;
    let own = format!("http://{}", test.base);
    let all = [
        ("cookie", cookie.as_str()),
        ("origin", own.as_str()),
        ("x-paydesk-console", "1"),
        ("content-type", "application/json"),
    ];
    let with = |changed: &'static str, value: Option<&'static str>| {
        let kept = all.iter().filter(move |(name, _)| *name != changed).copied();
        kept.chain(value.map(|value| (changed, value))).collect::<Vec<_>>()
    };
    let ask = async |headers: Vec<(&str, &str)>| {
        let answer = send(&test.base, "POST", "/graphql", &headers, QUERY).await;
        assert!(answer.json()["data"].is_null(), "{headers:?}: {}", answer.body);
        answer.status
    };
    assert_eq!(send(&test.base, "POST", "/graphql", &all, QUERY).await.status, 200);
    assert_eq!(ask(with("x-paydesk-console", None)).await, 403);
    assert_eq!(ask(with("x-paydesk-console", Some("true"))).await, 403);
    assert_eq!(ask(with("origin", None)).await, 403);
    assert_eq!(ask(with("origin", Some("https://evil.example"))).await, 403);
    assert_eq!(ask(with("origin", Some("null"))).await, 403);
    assert_eq!(ask(with("content-type", Some("text/plain"))).await, 415);
    assert_eq!(ask(with("content-type", Some("application/x-www-form-urlencoded"))).await, 415);
    assert_eq!(ask(with("cookie", Some("__Host-paydesk=forged"))).await, 401);
    assert_eq!(ask(with("cookie", Some("paydesk=x"))).await, 401);
    assert_eq!(
        ask([all.as_slice(), &[("authorization", "Bearer x")]].concat()).await,
        401,
        "a bad token is not made good by a cookie"
    );
    assert_eq!(send(&test.base, "GET", "/graphql", &all, "").await.status, 405);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_in_takes_a_good_token_of_somebody_who_may_look() {
    let test = with_sessions().start().await;
    let own = format!("http://{}", test.base);
    let sign_in = async |headers: &[(&str, &str)]| {
        let answer = send(&test.base, "POST", "/auth/session", headers, "").await;
        assert!(answer.header("set-cookie").is_none(), "{headers:?}");
        answer.status
    };
    let admin = format!("Bearer {}", token(&[Role::Admin], "alice"));
    let service = format!("Bearer {}", token(&[Role::Service], "meetings"));
    let nobody = format!("Bearer {}", token(&[], "nobody"));
    assert_eq!(sign_in(&[("origin", &own)]).await, 401);
    assert_eq!(sign_in(&[("authorization", "Bearer x.y.z")]).await, 401);
    assert_eq!(sign_in(&[("authorization", &admin), ("origin", "https://evil.example")]).await, 403);
    assert_eq!(sign_in(&[("authorization", &service), ("origin", &own)]).await, 403);
    assert_eq!(sign_in(&[("authorization", &nobody), ("origin", &own)]).await, 403);
    let cookie = signed_in(&test, &[Role::Admin]).await;
    assert_eq!(sign_in(&[("cookie", &cookie), ("origin", &own)]).await, 401, "a cookie makes no new one");
    assert_eq!(send(&test.base, "GET", "/auth/session", &[("authorization", &admin)], "").await.status, 405);
    test.stop().await;

    let without_key = TestApp::start().await;
    let answer = send(&without_key.base, "POST", "/auth/session", &[("authorization", &admin)], "").await;
    assert_eq!(answer.status, 404);
    assert!(answer.body.contains("PAYDESK_SESSION_KEY"), "{}", answer.body);
    assert_eq!(send(&without_key.base, "GET", "/auth/me", &[], "").await.json()["sessions"], false);
    without_key.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_out_is_for_our_own_page_and_takes_the_cookie_back() {
    let test = with_sessions().start().await;
    let own = format!("http://{}", test.base);
    for headers in [
        vec![],
        vec![("origin", own.as_str())],
        vec![("x-paydesk-console", "1")],
        vec![("x-paydesk-console", "1"), ("origin", "https://evil.example")],
    ] {
        let answer = send(&test.base, "POST", "/auth/logout", &headers, "").await;
        assert_eq!((answer.status, answer.header("set-cookie")), (403, None), "{headers:?}");
    }
    let answer =
        send(&test.base, "POST", "/auth/logout", &[("x-paydesk-console", "1"), ("origin", &own)], "").await;
    assert_eq!(answer.status, 204);
    assert!(answer.header("set-cookie").unwrap().starts_with("__Host-paydesk=; Path=/; Max-Age=0;"));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_another_process_with_the_same_key_is_taken_and_one_of_another_key_is_not() {
    let first = with_sessions().start().await;
    let second = with_sessions().start_beside(&first).await;
    let third = TestApp::builder()
        .set("session-key", "another session key of the tests, also long")
        .start_beside(&first)
        .await;
    let cookie = signed_in(&first, &[Role::Admin]).await;
    let viewer = async |test: &TestApp| {
        send(&test.base, "GET", "/auth/me", &[("cookie", &cookie)], "").await.json()["viewer"]["subject"]
            .clone()
    };
    assert_eq!(viewer(&second).await, "alice");
    assert_eq!(viewer(&third).await, Value::Null);
    third.stop().await;
    second.stop().await;
    first.stop().await;
}

/// Opens a websocket with these headers and sends an init without a token: the ack, or how it was refused.
async fn socket(test: &TestApp, headers: &[(&'static str, &str)], payload: Value) -> Result<Value, u16> {
    use futures_util::{SinkExt, StreamExt};
    let mut request = format!("ws://{}/graphql/ws", test.base).into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let (mut stream, _) = match connect_async(request).await {
        Ok(connected) => connected,
        Err(tokio_tungstenite::tungstenite::Error::Http(refused)) => return Err(refused.status().as_u16()),
        Err(other) => panic!("{other}"),
    };
    stream
        .send(Message::text(json!({ "type": "connection_init", "payload": payload }).to_string()))
        .await
        .unwrap();
    loop {
        match tokio::time::timeout(Duration::from_secs(20), stream.next()).await.unwrap().unwrap().unwrap() {
            Message::Text(text) => {
                return Ok(serde_json::from_str::<Value>(text.as_str()).unwrap()["type"].clone());
            }
            Message::Close(frame) => return Err(frame.unwrap().code.into()),
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_websocket_takes_the_cookie_of_our_own_page_alone() {
    let test = with_sessions().start().await;
    let cookie = signed_in(&test, &[Role::Operator]).await;
    let own = format!("http://{}", test.base);
    let ack = Ok(json!("connection_ack"));
    assert_eq!(socket(&test, &[("cookie", &cookie), ("origin", &own)], json!({})).await, ack);
    assert_eq!(socket(&test, &[("cookie", &cookie), ("origin", &own)], Value::Null).await, ack);
    assert_eq!(
        socket(&test, &[("cookie", &cookie), ("origin", "https://evil.example")], json!({})).await,
        Err(403)
    );
    assert_eq!(socket(&test, &[("cookie", &cookie)], json!({})).await, Err(4403), "no browser, no cookie");
    assert_eq!(socket(&test, &[("origin", &own)], json!({})).await, Err(4403));
    assert_eq!(
        socket(&test, &[("cookie", "__Host-paydesk=forged"), ("origin", &own)], json!({})).await,
        Err(4403)
    );
    let bad = json!({ "authorization": "Bearer x" });
    assert_eq!(
        socket(&test, &[("cookie", &cookie), ("origin", &own)], bad).await,
        Err(4403),
        "a bad token stays bad"
    );
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn personas_are_there_in_development_alone_and_for_our_own_page_on_this_machine() {
    let test = TestApp::builder().set("dev-login", "true").start().await;
    let own = format!("http://{}", test.base);
    let all = [("origin", own.as_str()), ("x-paydesk-console", "1"), ("content-type", "application/json")];
    let port = test.base.rsplit_once(':').unwrap().1;
    assert_eq!(
        send(&test.base, "GET", "/auth/me", &[], "").await.json()["personas"],
        json!(["admin", "operator"])
    );
    for (persona, role) in [("admin", "ADMIN"), ("operator", "OPERATOR")] {
        let body = json!({ "persona": persona }).to_string();
        let answer = send(&test.base, "POST", "/auth/dev", &all, &body).await;
        assert_eq!(answer.json()["viewer"]["roles"], json!([role]));
        let me = send(&test.base, "GET", "/auth/me", &[("cookie", &answer.cookie())], "").await;
        assert_eq!(me.json()["viewer"]["subject"], format!("dev-{persona}"));
    }
    let admin = r#"{"persona":"admin"}"#;
    let rebound = format!("evil.example:{port}");
    let rebound_origin = format!("http://{rebound}");
    for (what, headers, body, status) in [
        ("no origin", all[1..].to_vec(), admin, 403),
        ("no mark", vec![all[0], all[2]], admin, 403),
        ("no JSON", all[..2].to_vec(), admin, 415),
        ("another site", vec![("origin", "https://evil.example"), all[1], all[2]], admin, 403),
        (
            "another name for this address",
            vec![("host", &rebound), ("origin", &rebound_origin), all[1], all[2]],
            admin,
            403,
        ),
        ("a persona that is none", all.to_vec(), r#"{"persona":"service"}"#, 400),
        ("nothing", all.to_vec(), "", 400),
    ] {
        let answer = send(&test.base, "POST", "/auth/dev", &headers, body).await;
        assert_eq!((answer.status, answer.header("set-cookie")), (status, None), "{what}");
    }
    test.stop().await;

    let without = with_sessions().start().await;
    let own = format!("http://{}", without.base);
    let headers = [("origin", own.as_str()), all[1], all[2]];
    assert_eq!(send(&without.base, "POST", "/auth/dev", &headers, admin).await.status, 404);
    assert_eq!(send(&without.base, "GET", "/auth/dev", &[], "").await.status, 404);
    assert_eq!(send(&without.base, "GET", "/auth/me", &[], "").await.json()["personas"], json!([]));
    without.stop().await;
}

#[derive(Parser)]
struct Settings {
    #[command(flatten)]
    serve: ServeConfig,
}

#[test]
fn personas_are_refused_where_others_could_reach_them_and_a_short_key_is_refused() {
    let built = |more: &[&str]| {
        let fixed = [
            "test",
            "--database-url=postgres://u@127.0.0.1/none",
            "--amqp-url=amqp://127.0.0.1",
            "--jwt-issuer=i",
            "--jwt-audience=a",
        ];
        let settings = Settings::try_parse_from(fixed.iter().chain(more)).unwrap();
        App::build(settings.serve).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let secret = "--jwt-hs256-secret=a secret of the tests, longer than 32 bytes";
    let refused = built(&[secret, "--dev-login", "--listen=0.0.0.0:8080"]);
    assert!(refused.starts_with("PAYDESK_DEV_LOGIN: it needs a loopback address"), "{refused}");
    let refused = built(&["--jwt-jwks-url=http://127.0.0.1:1/keys", "--dev-login"]);
    assert!(refused.starts_with("PAYDESK_DEV_LOGIN: it signs"), "{refused}");
    let refused = built(&[secret, "--session-key=too short"]);
    assert!(refused.starts_with("PAYDESK_SESSION_KEY:") && !refused.contains("too short"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_for_every_path_of_a_browser_and_for_nothing_else() {
    let test = TestApp::start().await;
    let get = async |path: &str, accept: &str| send(&test.base, "GET", path, &[("accept", accept)], "").await;
    let page = get("/", "text/html").await;
    let is_built = page.status == 200;
    if is_built {
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(page.header("cache-control"), Some("no-cache"));
        let policy = page.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "require-trusted-types-for 'script'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        let script = page.body.split("src=\"").nth(1).unwrap().split('"').next().unwrap();
        let asset = get(script, "*/*").await;
        assert_eq!(
            (asset.status, asset.header("cache-control")),
            (200, Some("public, max-age=31536000, immutable"))
        );
        let known = [("if-none-match", page.header("etag").unwrap())];
        assert_eq!(send(&test.base, "GET", "/", &known, "").await.status, 304);
    } else {
        assert!(page.status == 404 && page.body.contains("without its console"), "{}", page.body);
    }
    for path in ["/payments", "/payments/1?tab=x", "/no/such/page"] {
        assert_eq!(get(path, "text/html,*/*;q=0.8").await.body, page.body, "{path}");
    }
    for (path, accept) in [
        ("/payments", "application/json"),
        ("/payments", "*/*"),
        ("/assets/none.js", "text/html"),
        ("/favicon.ico", "image/*"),
    ] {
        let answer = get(path, accept).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (404, Some("application/json")),
            "{path} {accept}"
        );
    }
    assert_eq!(send(&test.base, "POST", "/payments", &[("accept", "text/html")], "").await.status, 404);
    for headers in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(page.header(headers.0), Some(headers.1));
    }
    test.stop().await;
}

const OVERVIEW: &str = "outbox { status count { value precision } } payments { status count { value } } refunds { status count { value } }
    oldestPendingAgeSeconds publishedPerMinute { at value } failuresPerMinute { at value } publishLatencyMs { p50 p99 }
    openDeadLetters brokerConnected asOf chargeJobs { status count { value } } strandedJobs";

#[tokio::test(flavor = "multi_thread")]
async fn the_overview_tells_how_everything_stands_and_again_when_it_changed() {
    let test = TestApp::start().await;
    let _queue = test.inbox(&["wanted"]).await;
    let published = test.insert_event("wanted").await;
    test.reaches(published, "PUBLISHED").await;
    let failed = test.insert_event("unwanted").await;
    test.reaches(failed, "DEAD_LETTERED").await;
    let mut socket = test.operator().socket().await;
    socket.subscribe("1", &format!("subscription {{ overviewChanged {{ {OVERVIEW} }} }}"), json!({})).await;
    let overview = socket.data().await["overviewChanged"].take();
    let counted = |states: &Value, status: &str| {
        let of = states.as_array().unwrap().iter().find(|one| one["status"] == status);
        of.unwrap_or_else(|| panic!("{status} in {states}"))["count"]["value"].clone()
    };
    assert_eq!(counted(&overview["outbox"], "PUBLISHED"), 1);
    assert_eq!(counted(&overview["outbox"], "DEAD_LETTERED"), 1);
    assert_eq!(
        (counted(&overview["payments"], "PENDING"), counted(&overview["refunds"], "FAILED")),
        (json!(0), json!(0))
    );
    let minutes = |name: &str| overview[name].as_array().unwrap().clone();
    let sum = |name: &str| minutes(name).iter().map(|minute| minute["value"].as_i64().unwrap()).sum::<i64>();
    assert_eq!((minutes("publishedPerMinute").len(), sum("publishedPerMinute")), (60, 1));
    assert_eq!(sum("failuresPerMinute"), 3);
    assert!(overview["publishLatencyMs"]["p50"].as_f64().unwrap() > 0.0);
    assert_eq!(
        (counted(&overview["chargeJobs"], "FAILED"), &overview["strandedJobs"]),
        (json!(0), &json!(0))
    );
    assert_eq!(
        (&overview["brokerConnected"], &overview["oldestPendingAgeSeconds"]),
        (&json!(true), &Value::Null)
    );
    loop {
        let next = socket.data().await["overviewChanged"].take();
        assert!(next["asOf"].as_str() > overview["asOf"].as_str());
        test.db.run("INSERT INTO payment (order_id, user_id, meeting_id, order_name, amount, idempotency_key) VALUES ('o', 1, 1, 'x', 1, 'k') ON CONFLICT DO NOTHING").await;
        if counted(&next["payments"], "PENDING") == 1 {
            break;
        }
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_who_ask_for_the_overview_cost_no_statement_each() {
    let test = TestApp::builder().set("workers", "false").start().await;
    let query = format!("{{ overview {{ {OVERVIEW} }} }}");
    let ask = async |actor: Actor| actor.data(&query, json!({})).await;
    ask(test.operator()).await;
    let before = test.app.db.statements();
    futures_util::future::join_all((0..100).map(|_| ask(test.operator()))).await;
    // What the feed, the gauges and a few looks send by themselves meanwhile.
    let cost = test.app.db.statements() - before;
    assert!(cost < 100, "{cost} statements");
    test.stop().await;
}
