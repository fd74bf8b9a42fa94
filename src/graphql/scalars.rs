//! The API's scalars. Each refuses a wrong value in `is_valid` already, so that validation can name the
//! argument at fault before anything runs.

use async_graphql::{InputValueError, InputValueResult, Number, Scalar, ScalarType, Value};
use chrono::{SecondsFormat, Utc};

use crate::types::Instant;

/// The largest whole number that a JSON reader keeps exactly: 2^53 − 1.
pub const MAX_LONG: i64 = 9_007_199_254_740_991;

/// A 64-bit whole number that stays exact in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Long(i64);

impl Long {
    /// None for a number that JSON readers would round.
    pub fn new(value: i64) -> Option<Self> {
        (-MAX_LONG..=MAX_LONG).contains(&value).then_some(Self(value))
    }

    /// The nearest one: for figures that are approximate anyway.
    pub fn clamped(value: i64) -> Self {
        Self(value.clamp(-MAX_LONG, MAX_LONG))
    }

    /// The number.
    pub fn get(self) -> i64 {
        self.0
    }
}

/// 64-bit integer as a JSON number, never beyond ±(2^53−1).
#[Scalar(name = "Long")]
impl ScalarType for Long {
    fn parse(value: Value) -> InputValueResult<Self> {
        read_long(&value).ok_or_else(|| InputValueError::expected_type(value))
    }

    fn is_valid(value: &Value) -> bool {
        read_long(value).is_some()
    }

    fn to_value(&self) -> Value {
        Value::Number(Number::from(self.0))
    }
}

fn read_long(value: &Value) -> Option<Long> {
    match value {
        Value::Number(number) => number.as_i64().and_then(Long::new),
        _ => None,
    }
}

/// An instant on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DateTime(pub Instant);

impl From<Instant> for DateTime {
    fn from(instant: Instant) -> Self {
        Self(instant)
    }
}

/// RFC 3339 instant in UTC.
#[Scalar(name = "DateTime")]
impl ScalarType for DateTime {
    fn parse(value: Value) -> InputValueResult<Self> {
        read_date_time(&value).ok_or_else(|| InputValueError::expected_type(value))
    }

    fn is_valid(value: &Value) -> bool {
        read_date_time(value).is_some()
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

/// Any offset is taken, and turned into UTC; a text without one is no instant.
fn read_date_time(value: &Value) -> Option<DateTime> {
    match value {
        Value::String(text) => {
            let instant = chrono::DateTime::parse_from_rfc3339(text).ok()?;
            Some(DateTime(instant.with_timezone(&Utc))).filter(|instant| storable(instant.0))
        }
        _ => None,
    }
}

/// PostgreSQL's `timestamptz` begins in 4713 BC and chrono's ends far after it; a year of four digits is
/// what RFC 3339 can write back.
fn storable(instant: Instant) -> bool {
    use chrono::Datelike;
    (1..=9_999).contains(&instant.year())
}

/// A UUID on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uuid(pub uuid::Uuid);

impl From<uuid::Uuid> for Uuid {
    fn from(uuid: uuid::Uuid) -> Self {
        Self(uuid)
    }
}

/// A UUID, written with hyphens.
#[Scalar(name = "UUID")]
impl ScalarType for Uuid {
    fn parse(value: Value) -> InputValueResult<Self> {
        read_uuid(&value).ok_or_else(|| InputValueError::expected_type(value))
    }

    fn is_valid(value: &Value) -> bool {
        read_uuid(value).is_some()
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.hyphenated().to_string())
    }
}

fn read_uuid(value: &Value) -> Option<Uuid> {
    match value {
        Value::String(text) => uuid::Uuid::try_parse(text).ok().map(Uuid),
        _ => None,
    }
}

/// Any JSON value, as it is stored; read only.
#[derive(Debug, Clone, PartialEq)]
pub struct Json(pub serde_json::Value);

/// Any JSON value.
#[Scalar(name = "JSON")]
impl ScalarType for Json {
    fn parse(value: Value) -> InputValueResult<Self> {
        Ok(Self(value.into_json()?))
    }

    fn to_value(&self) -> Value {
        Value::from_json(self.0.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_is_a_whole_number_that_json_keeps() {
        let read = |text: &str| Long::parse(serde_json::from_str(text).unwrap()).ok().map(Long::get);
        assert_eq!(read("9007199254740991"), Some(MAX_LONG));
        assert_eq!(read("-9007199254740991"), Some(-MAX_LONG));
        for bad in
            ["9007199254740992", "-9007199254740992", "1.5", "1e3", "\"1\"", "true", "18446744073709551615"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(Long::new(MAX_LONG + 1), None);
        assert_eq!(Long::new(3_000_000_000).unwrap().to_value(), Value::Number(3_000_000_000_i64.into()));
    }

    #[test]
    fn an_instant_is_read_with_any_offset_and_written_in_utc() {
        let read = |text: &str| DateTime::parse(Value::String(text.to_owned())).ok();
        let written = read("2026-01-02T12:00:00.5+09:00").unwrap().to_value();
        assert_eq!(written, Value::String("2026-01-02T03:00:00.500Z".to_owned()));
        for bad in ["2026-01-02", "2026-01-02T12:00:00", "tomorrow", "", "+12026-01-02T12:00:00Z"] {
            assert!(read(bad).is_none(), "{bad}");
        }
        assert!(!DateTime::is_valid(&Value::Number(5.into())));
    }

    #[test]
    fn a_uuid_is_a_uuid() {
        let id = uuid::Uuid::from_u128(5);
        assert_eq!(Uuid::parse(Uuid(id).to_value()).ok(), Some(Uuid(id)));
        assert!(!Uuid::is_valid(&Value::String("5".to_owned())));
    }
}
