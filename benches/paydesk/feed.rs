//! Idle subscribers of the failures: the memory of each, and how long a failure takes to the last of them.

use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt, future::join_all};
use serde_json::{Value, json};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream,
    tungstenite::{Message, client::IntoClientRequest},
};

use crate::{
    ROUNDS, Scale,
    graphql::token,
    idle::{resident_mib, serve},
    report::{Figure, percentile},
    setup::Bench,
};

type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

/// Failures in each round.
const FAILURES: usize = 20;
/// Subscribers that connect at once.
const AT_ONCE: usize = 50;

pub async fn measure(scale: Scale) -> Vec<Figure> {
    let mut figures = Vec::new();
    for subscribers in scale.of(&[1_000_usize, 5_000], &[200]) {
        let (mut memory, mut last) = (Vec::new(), Vec::new());
        for _round in 0..ROUNDS {
            let (kilobytes, mut delays) = round(*subscribers).await;
            memory.push(kilobytes);
            last.push(percentile(&mut delays, 99));
        }
        let name = |what: &str| format!("{what} of {subscribers} subscribers");
        figures.push(Figure {
            name: name("memory of each"),
            unit: "kB",
            product: memory,
            limit: Vec::new(),
            target: "≤ 20",
        });
        figures.push(Figure {
            name: name("commit → last, p99"),
            unit: "ms",
            product: last,
            limit: Vec::new(),
            target: "≤ 250",
        });
    }
    figures
}

/// Kilobytes for each subscriber; milliseconds from each failure's commit to the last one's frame.
async fn round(subscribers: usize) -> (f64, Vec<f64>) {
    let bench = Bench::new().await;
    let server = serve(&bench, &bench.amqp_url, &["--rate-limit-operator=1000000"]).await;
    let before = resident_mib(server.id());
    let mut sockets = Vec::with_capacity(subscribers);
    while sockets.len() < subscribers {
        let connecting = (0..AT_ONCE.min(subscribers - sockets.len())).map(|_| subscribe(server.addr()));
        sockets.extend(join_all(connecting).await);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let count = f64::from(u32::try_from(subscribers).unwrap());
    let kilobytes = (resident_mib(server.id()) - before) * 1024.0 / count;
    let mut delays = Vec::new();
    for number in 0..FAILURES {
        let failure = "INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt)
                       VALUES ('PAYMENT_FAILED', 'INFO', 'PAYMENT', $1, 'BENCH', 'no', 'bench', 1)";
        // As the product does: the hint is sent with the row.
        let row = format!(
            "BEGIN; {}; NOTIFY paydesk_failure; COMMIT",
            failure.replace("$1", &format!("'{number}'"))
        );
        bench.client.batch_execute(&row).await.unwrap();
        let committed = Instant::now();
        join_all(sockets.iter_mut().map(next)).await;
        delays.push(committed.elapsed().as_secs_f64() * 1000.0);
    }
    drop((sockets, server));
    bench.remove().await;
    (kilobytes, delays)
}

async fn subscribe(addr: &str) -> Socket {
    let mut request = format!("ws://{addr}/graphql/ws").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
    let (mut socket, _answer) = tokio_tungstenite::connect_async(request).await.unwrap();
    let init =
        json!({ "type": "connection_init", "payload": { "authorization": format!("Bearer {}", token()) } });
    socket.send(Message::text(init.to_string())).await.unwrap();
    assert_eq!(next(&mut socket).await["type"], "connection_ack");
    let query = "subscription { failures { failure { id code message } lagged } }";
    let start = json!({ "type": "subscribe", "id": "1", "payload": { "query": query } });
    socket.send(Message::text(start.to_string())).await.unwrap();
    socket
}

async fn next(socket: &mut Socket) -> Value {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) => {
                let message: Value = serde_json::from_str(&text).unwrap();
                if message["type"] != "ping" {
                    return message;
                }
                socket.send(Message::text(r#"{"type":"pong"}"#)).await.unwrap();
            }
            Message::Ping(_) | Message::Pong(_) => {}
            other => panic!("{other:?}"),
        }
    }
}
