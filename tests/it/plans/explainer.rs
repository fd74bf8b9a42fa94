//! A proxy before PostgreSQL that keeps the plan of every statement: the SQL that is judged is the SQL that was sent.
//!
//! The server tells the plans itself, by `auto_explain`, as notices on the connection that runs the statement.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::support::db::TestDb;

/// A statement, and how it was run.
#[derive(Clone)]
pub struct Plan {
    pub query: String,
    root: Value,
}

/// What was run on the connections through the proxy.
#[derive(Clone)]
pub struct Explainer {
    pub addr: SocketAddr,
    plans: Arc<Mutex<Vec<Plan>>>,
}

/// One node of a plan.
pub struct Node<'a>(&'a Value);

impl Node<'_> {
    pub fn kind(&self) -> &str {
        self.0["Node Type"].as_str().unwrap_or_default()
    }

    pub fn relation(&self) -> Option<&str> {
        self.0["Relation Name"].as_str()
    }

    fn per_loop(&self, what: &str) -> i64 {
        self.0[what].as_i64().unwrap_or(0) * self.0["Actual Loops"].as_i64().unwrap_or(1)
    }

    /// Rows that it gave.
    pub fn rows(&self) -> i64 {
        self.per_loop("Actual Rows")
    }

    /// Rows that it read in vain.
    pub fn in_vain(&self) -> i64 {
        self.per_loop("Rows Removed by Filter") + self.per_loop("Rows Removed by Index Recheck")
    }
}

impl Plan {
    pub fn nodes(&self) -> Vec<Node<'_>> {
        let (mut found, mut open) = (Vec::new(), vec![&self.root]);
        while let Some(node) = open.pop() {
            found.push(Node(node));
            open.extend(node["Plans"].as_array().into_iter().flatten());
        }
        found
    }

    pub fn reads(&self, relation: &str) -> bool {
        self.nodes().iter().any(|node| node.relation() == Some(relation))
    }

    /// Pages that it looked at, in the cache or not.
    pub fn pages(&self) -> i64 {
        ["Shared Hit Blocks", "Shared Read Blocks"].iter().filter_map(|what| self.root[what].as_i64()).sum()
    }

    /// Rows that a statement changed or answered with.
    pub fn rows(&self) -> i64 {
        Node(&self.root).rows()
    }

    /// The tree, short enough for a failing test's message.
    pub fn outline(&self) -> String {
        let node = |node: Node<'_>| {
            let on = node.0["Index Name"].as_str().or(node.relation()).unwrap_or_default();
            format!("{} {on} rows={} in vain={}", node.kind(), node.rows(), node.in_vain())
        };
        self.nodes().into_iter().map(node).collect::<Vec<_>>().join("; ")
    }
}

impl Explainer {
    /// Has the database explain everything, and puts a proxy before it: whoever connects by `db.url` from now on is
    /// seen; `db.client` is not.
    pub async fn before(db: &mut TestDb) -> Self {
        let name = db.url.rsplit_once('/').unwrap().1.to_owned();
        for setting in [
            "session_preload_libraries = 'auto_explain'",
            "auto_explain.log_min_duration = 0",
            "auto_explain.log_analyze = on",
            "auto_explain.log_buffers = on",
            "auto_explain.log_timing = off",
            "auto_explain.log_format = 'json'",
            "client_min_messages = 'log'",
        ] {
            db.run(&format!("ALTER DATABASE {name} SET {setting}")).await;
        }
        let (scheme_and_user, host_and_name) = db.url.rsplit_once('@').unwrap();
        let server = host_and_name.split('/').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let explainer = Self { addr: listener.local_addr().unwrap(), plans: Arc::default() };
        db.url = format!("{scheme_and_user}@{}/{name}", explainer.addr);
        let plans = Arc::clone(&explainer.plans);
        tokio::spawn(async move {
            while let Ok((client, _peer)) = listener.accept().await {
                let (server, plans) = (server.clone(), Arc::clone(&plans));
                tokio::spawn(async move { pass_on(client, &server, &plans).await });
            }
        });
        explainer
    }

    /// The plans since the last time.
    pub fn take(&self) -> Vec<Plan> {
        std::mem::take(&mut *self.plans.lock().unwrap())
    }

    /// Those so far that `wanted` picks, left where they are.
    pub fn seen(&self, wanted: impl Fn(&Plan) -> bool) -> Vec<Plan> {
        self.plans.lock().unwrap().iter().filter(|plan| wanted(plan)).cloned().collect()
    }
}

async fn pass_on(client: TcpStream, server: &str, plans: &Mutex<Vec<Plan>>) {
    let server = TcpStream::connect(server).await.unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let upwards = async {
        let _end = tokio::io::copy(&mut from_client, &mut to_server).await;
        let _closed = to_server.shutdown().await;
    };
    let downwards = async {
        let (mut chunk, mut unread) = (vec![0_u8; 64 * 1024], Vec::new());
        while let Ok(read @ 1..) = from_server.read(&mut chunk).await {
            unread.extend_from_slice(&chunk[..read]);
            // Before the client has its answer, so that a plan is known as soon as its statement is over.
            note_plans(&mut unread, plans);
            if to_client.write_all(&chunk[..read]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! { () = upwards => {}, () = downwards => {} }
}

/// Takes the whole messages off `unread`: a type, a length that counts itself, a body.
fn note_plans(unread: &mut Vec<u8>, plans: &Mutex<Vec<Plan>>) {
    while let Some(length) = unread.get(1..5) {
        let length = usize::try_from(u32::from_be_bytes(length.try_into().unwrap())).unwrap();
        if unread.len() <= length {
            return;
        }
        let message: Vec<u8> = unread.drain(..=length).collect();
        if message[0] == b'N' {
            plans.lock().unwrap().extend(plan(&message[5..]));
        }
    }
}

/// The plan in a notice; its fields are a letter and a text, `M` the message.
fn plan(notice: &[u8]) -> Option<Plan> {
    let mut fields = notice.split(|&byte| byte == 0);
    let text = fields.find_map(|field| field.strip_prefix(b"M"))?;
    let text = std::str::from_utf8(text).ok()?;
    let explained: Value = serde_json::from_str(&text[text.find("plan:\n")? + "plan:\n".len()..]).unwrap();
    Some(Plan { query: explained["Query Text"].as_str()?.to_owned(), root: explained["Plan"].clone() })
}
