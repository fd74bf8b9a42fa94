use std::{collections::hash_map::DefaultHasher, hash::Hasher, path::Path};

use paydesk::db::{Connector, migrations::migrate};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use super::{block_in_thread, service_url};

/// A database of one test, copied from a migrated template and dropped with the test.
pub struct TestDb {
    pub url: String,
    pub client: Client,
    server_url: String,
    name: String,
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The server's URL with another database.
pub fn with_database(url: &str, name: &str) -> String {
    let (server, _database) = url.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

/// Changes when any migration does.
fn migrations_hash() -> u64 {
    let mut hash = DefaultHasher::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut folders: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for folder in folders {
        hash.write(folder.file_name().unwrap().as_encoded_bytes());
        hash.write(&std::fs::read(folder.join("up.sql")).unwrap());
    }
    hash.finish()
}

/// Makes the template once; tests in other processes wait for it.
async fn template(admin: &Client, server_url: &str) -> String {
    let name = format!("paydesk_template_{:016x}", migrations_hash());
    admin.execute("SELECT pg_advisory_lock(7302)", &[]).await.unwrap();
    let known = admin.query("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await.unwrap();
    if known.is_empty() {
        let making = format!("{name}_making");
        admin.batch_execute(&format!("DROP DATABASE IF EXISTS {making} WITH (FORCE)")).await.unwrap();
        admin.batch_execute(&format!("CREATE DATABASE {making}")).await.unwrap();
        let connector = Connector::new(&with_database(server_url, &making).into(), None).unwrap();
        migrate(&connector).await.unwrap();
        admin.batch_execute(&format!("ALTER DATABASE {making} RENAME TO {name}")).await.unwrap();
    }
    admin.execute("SELECT pg_advisory_unlock(7302)", &[]).await.unwrap();
    name
}

impl TestDb {
    /// A migrated, empty database.
    pub async fn new() -> Self {
        Self::on(service_url("DATABASE_URL")).await
    }

    /// The same, on a server of the test's own.
    pub async fn on(server_url: String) -> Self {
        let admin = connect(&server_url).await;
        let template = template(&admin, &server_url).await;
        let name = format!("paydesk_test_{}", Uuid::new_v4().simple());
        admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await.unwrap();
        let url = with_database(&server_url, &name);
        Self { client: connect(&url).await, url, server_url, name }
    }

    /// A further session.
    pub async fn session(&self) -> Client {
        connect(&self.url).await
    }

    /// Runs SQL that answers nothing.
    pub async fn run(&self, sql: &str) {
        self.client.batch_execute(sql).await.unwrap();
    }

    /// The first column of the first row.
    pub async fn value<T>(&self, sql: &str) -> T
    where
        T: for<'a> tokio_postgres::types::FromSql<'a>,
    {
        self.client.query_one(sql, &[]).await.unwrap().get(0)
    }

    /// The first column of every row.
    pub async fn values<T>(&self, sql: &str) -> Vec<T>
    where
        T: for<'a> tokio_postgres::types::FromSql<'a>,
    {
        self.client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// How many rows.
    pub async fn count(&self, from_where: &str) -> i64 {
        self.value(&format!("SELECT count(*) FROM {from_where}")).await
    }
}

impl Drop for TestDb {
    fn drop(&mut self) {
        let (server_url, name) = (self.server_url.clone(), self.name.clone());
        block_in_thread(async move {
            let admin = connect(&server_url).await;
            let _gone = admin.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
        });
    }
}
