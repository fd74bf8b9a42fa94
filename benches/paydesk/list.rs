//! A page of 50 outbox events with 12 fields over HTTP, beside the same rows by bare Diesel, serde and axum, and beside
//! the same by the GraphQL library alone; at few and at many rows.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use async_graphql::{Context, EmptyMutation, EmptySubscription, Object, Schema, SimpleObject};
use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    routing::{get, post},
};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid},
};
use diesel_async::RunQueryDsl;
use futures_util::future::join_all;
use paydesk::{
    db::{Database, Statement},
    httpclient::HttpClient,
};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use crate::{ROUNDS, Scale, graphql::Api, growth, report::Figure, setup::Bench};

const CONNECTIONS: usize = 16;
const REQUESTS: u32 = 4_000;
const LIST: &str = "{ outboxEvents(first: 50) { nodes { id eventId eventType aggregateType aggregateId status retryCount createdAt updatedAt publishedAt exchange routingKey } } }";

/// The twelve fields.
#[derive(QueryableByName, Serialize, SimpleObject)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = SqlUuid)]
    event_id: Uuid,
    #[diesel(sql_type = Text)]
    event_type: String,
    #[diesel(sql_type = Text)]
    aggregate_type: String,
    #[diesel(sql_type = Text)]
    aggregate_id: String,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = Integer)]
    retry_count: i32,
    #[diesel(sql_type = Timestamptz)]
    created_at: chrono::DateTime<chrono::Utc>,
    #[diesel(sql_type = Timestamptz)]
    updated_at: chrono::DateTime<chrono::Utc>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    published_at: Option<chrono::DateTime<chrono::Utc>>,
    #[diesel(sql_type = Text)]
    exchange: String,
    #[diesel(sql_type = Text)]
    routing_key: String,
}

pub async fn measure(scale: Scale) -> Vec<Figure> {
    let bench = Bench::new().await;
    let (mut figures, mut rows) = (Vec::new(), 0);
    for size in scale.of(&[10_000, 2_000_000], &[10_000, 200_000]) {
        growth::fill(&bench, rows, *size).await;
        rows = *size;
        let (mut product, mut limit, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        for _round in 0..ROUNDS {
            product.push(by_graphql(&bench).await);
            limit.push(bare(&bench).await);
            plain.push(plain_graphql(&bench).await);
        }
        let name = format!("list of 50 × 12 at {size} rows");
        let unit = "per s";
        figures.push(Figure { name, unit, product: product.clone(), limit, target: "≥ 0.60" });
        let name = format!("list at {size} rows, beside async-graphql");
        figures.push(Figure { name, unit, product, limit: plain, target: "–" });
    }
    bench.remove().await;
    figures
}

/// Answers a second over all connections.
async fn rate<F: Future<Output = ()>>(ask: impl Fn() -> F) -> f64 {
    let (asked, started) = (Arc::new(AtomicU32::new(0)), Instant::now());
    let worker = || async {
        while asked.fetch_add(1, Ordering::Relaxed) < REQUESTS {
            ask().await;
        }
    };
    join_all((0..CONNECTIONS).map(|_| worker())).await;
    f64::from(REQUESTS) / started.elapsed().as_secs_f64()
}

async fn by_graphql(bench: &Bench) -> f64 {
    let app = bench.app(&[]).await;
    let server = app.listen().await.unwrap();
    let api = Api::new(HttpClient::new(Duration::from_secs(30), None).unwrap(), &server.addr.to_string());
    let rate = rate(|| async {
        let data = api.query(LIST, json!({})).await;
        assert_eq!(data["outboxEvents"]["nodes"].as_array().unwrap().len(), 50);
    })
    .await;
    assert!(server.stop().await && app.shut_down().await);
    rate
}

async fn bare(bench: &Bench) -> f64 {
    let app = bench.app(&[]).await;
    let router = Router::new().route("/", get(async |State(db): State<Database>| Json(rows(&db).await)));
    let (url, server) = serve(router.with_state(app.db.clone())).await;
    let client = HttpClient::new(Duration::from_secs(30), None).unwrap();
    let rate = rate(|| async {
        let answer = client.get(&url, &[]).await.unwrap();
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(rows.len(), 50);
    })
    .await;
    server.abort();
    assert!(app.shut_down().await);
    rate
}

struct Plain;

#[Object]
impl Plain {
    async fn outbox_events(&self, ctx: &Context<'_>) -> Vec<Row> {
        rows(ctx.data_unchecked()).await
    }
}

/// The library without anything of ours around it: no token, no limits, no connection of pages.
async fn plain_graphql(bench: &Bench) -> f64 {
    let app = bench.app(&[]).await;
    let schema = Schema::build(Plain, EmptyMutation, EmptySubscription).data(app.db.clone()).finish();
    let answer = async |State(schema): State<Schema<Plain, EmptyMutation, EmptySubscription>>,
                        body: Bytes| {
        let request: async_graphql::Request = serde_json::from_slice(&body).unwrap();
        Json(Schema::execute(&schema, request).await)
    };
    let (url, server) = serve(Router::new().route("/", post(answer)).with_state(schema)).await;
    let client = HttpClient::new(Duration::from_secs(30), None).unwrap();
    let query = LIST.replace("(first: 50) { nodes {", " {").replace(" } } }", " } }");
    let body = json!({ "query": query, "variables": {} }).to_string().into_bytes();
    let rate = rate(|| async {
        let answer = client.post_json(&url, &[], body.clone()).await.unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(answer["data"]["outboxEvents"].as_array().unwrap().len(), 50);
    })
    .await;
    server.abort();
    assert!(app.shut_down().await);
    rate
}

async fn serve(router: Router) -> (String, tokio::task::JoinHandle<std::io::Result<()>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    (url, tokio::spawn(async move { axum::serve(listener, router).await }))
}

async fn rows(db: &Database) -> Vec<Row> {
    let statement = Statement::new(
        "SELECT id, event_id, event_type, aggregate_type, aggregate_id, status, retry_count, created_at, updated_at, published_at,
                exchange, routing_key
         FROM payment_outbox ORDER BY created_at DESC, id DESC LIMIT 51",
    );
    let mut rows: Vec<Row> = statement.load(&mut *db.read().await.unwrap()).await.unwrap();
    rows.truncate(50);
    rows
}
