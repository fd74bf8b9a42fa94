use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Principal, TokenError, roles::RolesClaim};
use crate::{
    config::{SettingError, TokenConfig},
    httpclient::HttpClient,
    jwt::{Checker, KeyError, Rules},
    types::text,
};

/// Longest subject, in characters: it stands in audit entries and idempotency keys.
const MAX_SUBJECT_CHARS: usize = 255;
/// Longest display name that is kept, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Turns tokens into principals: the only way to one. Clones share the cached keys.
#[derive(Debug, Clone)]
pub struct TokenVerifier(Arc<Verifier>);

#[derive(Debug)]
struct Verifier {
    checker: Checker,
    roles: RolesClaim,
}

impl TokenVerifier {
    /// Reads the configured key; `http` is for a JWKS, which is fetched when the first token comes.
    pub fn new(config: &TokenConfig, http: HttpClient) -> Result<Self, SettingError> {
        config.check()?;
        let checker = checker(config, http)?;
        Ok(Self(Arc::new(Verifier { checker, roles: RolesClaim::parse(&config.jwt_roles_claim) })))
    }

    /// Who bears `token`.
    pub async fn verify(&self, token: &str) -> Result<Principal, TokenError> {
        let claims = self.0.checker.check(token).await?;
        let roles = self.0.roles.read(&claims.all);
        Ok(Principal::verified(subject(&claims.all)?, name(&claims.all), roles, claims.expires_at))
    }
}

fn checker(config: &TokenConfig, http: HttpClient) -> Result<Checker, SettingError> {
    let rules = Rules {
        issuer: config.jwt_issuer.clone(),
        audience: config.jwt_audience.clone(),
        leeway: config.jwt_leeway,
    };
    let wrong = |variable| move |error: KeyError| SettingError::new(variable, error.to_string());
    if let Some(secret) = &config.jwt_hs256_secret {
        return Checker::shared_secret(secret, rules).map_err(wrong("PAYDESK_JWT_HS256_SECRET"));
    }
    if let Some(file) = &config.jwt_public_key_file {
        let variable = "PAYDESK_JWT_PUBLIC_KEY_FILE";
        let pem = std::fs::read(file).map_err(|error| {
            SettingError::new(variable, format!("cannot read {}: {error}", file.display()))
        })?;
        return Checker::public_key(&pem, rules).map_err(wrong(variable));
    }
    let url = config.jwt_jwks_url.as_deref().unwrap_or_default();
    Checker::jwks(url, http, rules).map_err(wrong("PAYDESK_JWT_JWKS_URL"))
}

/// `sub`: there, not empty, not too long, and of characters that a database column and a log line can hold.
fn subject(claims: &Map<String, Value>) -> Result<String, TokenError> {
    match claims.get("sub").and_then(Value::as_str) {
        Some(subject)
            if !subject.trim().is_empty()
                && subject.chars().count() <= MAX_SUBJECT_CHARS
                && !subject.chars().any(char::is_control) =>
        {
            Ok(subject.to_owned())
        }
        _ => Err(TokenError::Claim("sub")),
    }
}

/// `name` is for display only, so a strange one costs the name, not the access.
fn name(claims: &Map<String, Value>) -> Option<String> {
    let name = text::storable(claims.get("name")?.as_str()?.trim(), MAX_NAME_BYTES);
    (!name.is_empty()).then_some(name)
}

/// The token of an `Authorization` header; `None` if it is not a single bearer token.
pub fn bearer(header_value: &str) -> Option<&str> {
    let (scheme, token) = header_value.trim().split_once(' ')?;
    let token = token.trim();
    let single = !token.is_empty() && !token.contains(char::is_whitespace);
    (scheme.eq_ignore_ascii_case("bearer") && single).then_some(token)
}

#[cfg(test)]
mod tests;
