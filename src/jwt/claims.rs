use std::time::Duration;

use chrono::DateTime;
use jsonwebtoken::{Algorithm, Validation, decode};
use serde_json::{Map, Value};

use super::{TokenError, key::VerifyingKey};
use crate::types::Instant;

/// What every token must fulfil.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The only accepted `iss`.
    pub issuer: String,
    /// What `aud` must be, or hold.
    pub audience: String,
    /// How far the clocks may differ when `exp` and `nbf` are checked.
    pub leeway: Duration,
}

/// The claims of a token that passed.
#[derive(Debug, Clone)]
pub struct Claims {
    /// When the token ends (`exp`).
    pub expires_at: Instant,
    /// Every claim as it stands in the token.
    pub all: Map<String, Value>,
}

impl Rules {
    /// Checks signature and claims.
    pub(super) fn check(&self, token: &str, key: &VerifyingKey) -> Result<Claims, TokenError> {
        let decoded = decode::<Map<String, Value>>(token, &key.key, &self.validation(&key.algorithms))
            .map_err(|error| TokenError::of(&error))?;
        let all = decoded.claims;
        // jsonwebtoken also takes a list of issuers, one of which fits; RFC 7519 knows one issuer only.
        if all.get("iss").and_then(Value::as_str) != Some(self.issuer.as_str()) {
            return Err(TokenError::Issuer);
        }
        let expires_at = all.get("exp").and_then(numeric_date).ok_or(TokenError::Claim("exp"))?;
        Ok(Claims { expires_at, all })
    }

    fn validation(&self, algorithms: &[Algorithm]) -> Validation {
        Validation {
            required_spec_claims: ["exp", "iss", "aud"].map(str::to_owned).into(),
            leeway: self.leeway.as_secs(),
            validate_exp: true,
            validate_nbf: true,
            validate_aud: true,
            aud: Some([self.audience.clone()].into()),
            iss: Some([self.issuer.clone()].into()),
            algorithms: algorithms.to_vec(),
            ..Validation::default()
        }
    }
}

/// A JSON number of seconds since 1970 as an instant; what lies outside the calendar is none.
fn numeric_date(value: &Value) -> Option<Instant> {
    let seconds = match value.as_u64() {
        Some(seconds) => seconds,
        None => Duration::try_from_secs_f64(value.as_f64()?).ok()?.as_secs(),
    };
    DateTime::from_timestamp(i64::try_from(seconds).ok()?, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_whole_and_fractional_seconds_and_nothing_outside_the_calendar() {
        for (written, seconds) in
            [(json!(1_700_000_000), 1_700_000_000), (json!(1_700_000_000.9), 1_700_000_000)]
        {
            assert_eq!(numeric_date(&written).unwrap().timestamp(), seconds);
        }
        for written in [json!(1e30), json!(u64::MAX), json!(-1), json!("never"), json!(null), json!([1])] {
            assert_eq!(numeric_date(&written), None, "{written}");
        }
    }
}
