//! The migrations: each can be taken back, names follow the rule, and the code's picture of the tables is true.

use std::collections::BTreeMap;

use diesel_async::AsyncMigrationHarness;
use diesel_migrations::MigrationHarness;
use paydesk::db::{
    Connector,
    migrations::{MIGRATIONS, migrate},
};
use tokio_postgres::error::SqlState;

use crate::support::db::TestDb;

/// Every table of ours: what Diesel keeps for itself is not.
const OURS: &str = "c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE '\\_\\_diesel%'";

fn connector(db: &TestDb) -> Connector {
    Connector::new(&db.url.as_str().into(), None).unwrap()
}

async fn revert_all(db: &TestDb) {
    let mut harness = AsyncMigrationHarness::new(connector(db).connect().await.unwrap());
    harness.revert_all_migrations(MIGRATIONS).unwrap();
}

/// All that the migrations make, a line each, from the catalogs; equal for equal schemas.
async fn description(db: &TestDb) -> Vec<String> {
    let sql = format!(
        "SELECT format('column %s.%s %s %s %s null=%s default=%s identity=%s', c.relname, a.attnum, a.attname,
                       format_type(a.atttypid, a.atttypmod), c.reloptions, NOT a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity)
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
              LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
         WHERE c.relkind = 'r' AND {OURS}
         UNION ALL SELECT format('constraint %s.%s %s', c.relname, k.conname, pg_get_constraintdef(k.oid))
         FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE {OURS}
         UNION ALL SELECT 'index ' || pg_get_indexdef(i.indexrelid)
         FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE {OURS}
         UNION ALL SELECT 'trigger ' || pg_get_triggerdef(t.oid)
         FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND {OURS}
         UNION ALL SELECT 'sequence ' || c.relname FROM pg_class c WHERE c.relkind = 'S' AND {OURS}
         UNION ALL SELECT format('comment %s.%s %s', c.relname, m.objsubid, m.description)
         FROM pg_description m JOIN pg_class c ON c.oid = m.objoid AND m.classoid = 'pg_class'::regclass WHERE {OURS}
         UNION ALL SELECT format('function %s %s', pg_get_functiondef(p.oid), obj_description(p.oid, 'pg_proc'))
         FROM pg_proc p
         WHERE p.pronamespace = 'public'::regnamespace AND p.proname NOT LIKE 'diesel%'
           AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.objid = p.oid AND e.deptype = 'e')
         ORDER BY 1"
    );
    db.values(&sql).await
}

/// What the migrations fill in.
async fn seeds(db: &TestDb) -> Vec<String> {
    let price_list =
        "SELECT concat_ws(' ', container, sku, can, price, title, is_active) FROM can_product ORDER BY 1";
    let mut seeds: Vec<String> = db.values("SELECT f::text FROM failure_feed f").await;
    seeds.extend(db.values::<String>(price_list).await);
    seeds
}

#[tokio::test(flavor = "multi_thread")]
async fn up_then_down_leaves_nothing_and_up_again_makes_the_same() {
    let db = TestDb::new().await;
    let (made, filled) = (description(&db).await, seeds(&db).await);
    assert!(made.len() > 100, "the description has {} lines only", made.len());
    revert_all(&db).await;
    assert_eq!(description(&db).await, Vec::<String>::new());
    assert_eq!(
        db.values::<String>("SELECT typname::text FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid \
                             WHERE t.typnamespace = 'public'::regnamespace AND c.relname NOT LIKE '\\_\\_diesel%'")
            .await,
        Vec::<String>::new()
    );
    migrate(&connector(&db)).await.unwrap();
    assert_eq!(description(&db).await, made);
    assert_eq!(seeds(&db).await, filled);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_processes_that_migrate_at_once_all_succeed_and_each_migration_runs_once() {
    let db = TestDb::new().await;
    revert_all(&db).await;
    let started: Vec<_> = (0..4)
        .map(|_| {
            let connector = connector(&db);
            tokio::spawn(async move { migrate(&connector).await })
        })
        .collect();
    let mut applied = Vec::new();
    for migrating in started {
        applied.push(migrating.await.unwrap().unwrap().len());
    }
    applied.sort_unstable();
    let all = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap().count();
    assert_eq!(applied, [0, 0, 0, all]);
}

/// `table_name (keys) { column -> Type, … }`, as `schema.rs` spells it.
type Tables = BTreeMap<String, Vec<String>>;

async fn tables_in_the_database(db: &TestDb) -> Tables {
    let keys = format!(
        "SELECT c.relname::text, a.attname::text FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
         CROSS JOIN unnest(k.conkey) WITH ORDINALITY AS key (attnum, place)
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = key.attnum
         WHERE k.contype = 'p' AND {OURS} ORDER BY c.relname, key.place"
    );
    let mut key_columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in db.client.query(&keys, &[]).await.unwrap() {
        key_columns.entry(row.get(0)).or_default().push(row.get(1));
    }
    let mut tables: Tables = key_columns
        .into_iter()
        .map(|(table, keys)| (table, vec![format!("({})", keys.join(", "))]))
        .collect();
    let columns = "SELECT table_name::text, column_name::text, udt_name::text, is_nullable = 'YES'
                   FROM information_schema.columns
                   WHERE table_schema = 'public' AND table_name NOT LIKE '\\_\\_diesel%' ORDER BY table_name, ordinal_position";
    for row in db.client.query(columns, &[]).await.unwrap() {
        let (table, column, udt, nullable): (String, String, String, bool) =
            (row.get(0), row.get(1), row.get(2), row.get(3));
        let capital = |name: &str| name[..1].to_uppercase() + &name[1..];
        let of_diesel = match udt.strip_prefix('_') {
            // PostgreSQL keeps no elements of an array from being null.
            Some(element) => format!("Array<Nullable<{}>>", capital(element)),
            None => capital(&udt),
        };
        let of_diesel = if nullable { format!("Nullable<{of_diesel}>") } else { of_diesel };
        tables.entry(table).or_default().push(format!("{column} -> {of_diesel}"));
    }
    tables
}

fn tables_in_the_code() -> Tables {
    let schema = include_str!("../../src/db/schema.rs");
    let table = |block: &str| {
        let (head, columns) = block.split_once('{').unwrap();
        let (name, keys) = head.trim().split_once(' ').unwrap();
        let columns = columns.split_once('}').unwrap().0;
        let columns = columns.lines().map(|line| line.trim().trim_end_matches(','));
        let columns = columns.filter(|line| !line.is_empty()).map(str::to_owned);
        (name.to_owned(), std::iter::once(keys.trim().to_owned()).chain(columns).collect())
    };
    schema.split("diesel::table! {").skip(1).map(table).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_codes_picture_of_the_tables_is_the_databases() {
    let db = TestDb::new().await;
    pretty_eq(&tables_in_the_code(), &tables_in_the_database(&db).await);
}

/// Says which table differs instead of printing all of them twice.
fn pretty_eq(code: &Tables, database: &Tables) {
    let names: Vec<_> = database.keys().collect();
    assert_eq!(code.keys().collect::<Vec<_>>(), names, "the tables");
    for (name, columns) in database {
        assert_eq!(&code[name], columns, "the columns of `{name}`");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_constraint_and_index_is_named_after_its_table_and_kind() {
    let db = TestDb::new().await;
    let sql = format!(
        "WITH named AS (
             SELECT c.relname AS of_table, k.conname AS name,
                    CASE k.contype WHEN 'p' THEN 'pk' WHEN 'u' THEN 'uq' WHEN 'f' THEN 'fk' WHEN 'c' THEN 'ck' ELSE 'none' END AS kind
             FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE k.contype IN ('p', 'u', 'f', 'c', 'x') AND {OURS}
             UNION ALL
             SELECT c.relname, x.relname, CASE WHEN i.indisunique THEN 'uq' ELSE 'ix' END
             FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
             WHERE {OURS} AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.conrelid = c.oid)
         )
         SELECT format('%s: %s is not named %s_<columns>_%s', of_table, name, of_table, kind) FROM named
         WHERE name !~ ('^' || of_table || '_[a-z_0-9]+_' || kind || '$') ORDER BY 1"
    );
    assert_eq!(db.values::<String>(&sql).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_table_and_function_says_what_it_is_for() {
    let db = TestDb::new().await;
    let sql = format!(
        "SELECT c.relname::text FROM pg_class c WHERE c.relkind = 'r' AND obj_description(c.oid, 'pg_class') IS NULL AND {OURS}
         UNION ALL
         SELECT p.proname::text FROM pg_proc p
         WHERE p.pronamespace = 'public'::regnamespace AND p.proname NOT LIKE 'diesel%' AND obj_description(p.oid, 'pg_proc') IS NULL"
    );
    assert_eq!(db.values::<String>(&sql).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_operators_did_cannot_be_changed_afterwards() {
    let db = TestDb::new().await;
    db.run(
        "INSERT INTO audit_entry (actor, role, action, target_type, target_id, request_id)
            VALUES ('alice', 'ADMIN', 'requeueOutboxEvent', 'OUTBOX_EVENT', '1', 'r')",
    )
    .await;
    for change in [
        "UPDATE audit_entry SET actor = 'mallory'",
        "DELETE FROM audit_entry",
        "TRUNCATE audit_entry",
        "INSERT INTO audit_entry (id, actor, role, action, target_type, target_id, request_id)
         SELECT id, 'mallory', role, action, target_type, target_id, request_id FROM audit_entry
         ON CONFLICT (id) DO UPDATE SET actor = excluded.actor",
    ] {
        let refused = db.client.batch_execute(change).await.unwrap_err();
        assert_eq!(refused.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{change}");
    }
    assert_eq!(db.values::<String>("SELECT actor FROM audit_entry").await, ["alice"]);
}
