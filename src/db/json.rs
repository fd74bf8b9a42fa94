use diesel::{
    deserialize::{self, FromSql, FromSqlRow},
    pg::{Pg, PgValue},
    sql_types::Json,
};

/// A `json` column as it may stand there: PostgreSQL takes numbers, surrogates and depths that serde does not. What
/// cannot be read is kept as its text, so that one odd row never costs a whole list.
#[derive(Debug, Clone, PartialEq, FromSqlRow)]
pub struct StoredJson(pub serde_json::Value);

impl FromSql<Json, Pg> for StoredJson {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        let bytes = value.as_bytes();
        let read = serde_json::from_slice(bytes);
        Ok(Self(read.unwrap_or_else(|_odd| String::from_utf8_lossy(bytes).into_owned().into())))
    }
}
