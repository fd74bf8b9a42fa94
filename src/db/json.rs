use diesel::{
    deserialize::{self, FromSql, FromSqlRow},
    pg::{Pg, PgValue},
    sql_types::Json,
};

/// A `json` column as it may stand there: PostgreSQL takes numbers, surrogates and depths that serde does not. What
/// cannot be read is kept as its text, so that one odd row never costs a whole list.
#[derive(Debug, Clone, PartialEq, FromSqlRow)]
pub struct StoredJson(pub serde_json::Value);

impl StoredJson {
    /// Reads a column's text.
    pub fn of(text: &str) -> Self {
        let read = serde_json::from_str(text);
        Self(read.unwrap_or_else(|_odd| text.to_owned().into()))
    }
}

impl FromSql<Json, Pg> for StoredJson {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self::of(&String::from_utf8_lossy(value.as_bytes())))
    }
}
