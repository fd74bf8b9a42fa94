use std::time::Duration;

use serde_json::{Value, json};

use super::{Role, SignError, roles::RolesClaim};
use crate::{config::SigningConfig, jwt, types::clock};

/// Signs a token that `TokenVerifier` takes for `subject` with `roles`, valid from now for `ttl`:
/// for development, scripts and tests. A deployment's tokens come from its identity provider.
pub fn issue(
    config: &SigningConfig,
    subject: &str,
    name: Option<&str>,
    roles: &[Role],
    ttl: Duration,
) -> Result<String, SignError> {
    let now = clock::now().timestamp();
    let lifetime = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX);
    let mut claims = RolesClaim::parse(&config.jwt_roles_claim).write(roles);
    let registered = [
        ("iss", json!(config.jwt_issuer)),
        ("aud", json!(config.jwt_audience)),
        ("sub", json!(subject)),
        ("iat", json!(now)),
        ("exp", json!(now.saturating_add(lifetime))),
    ];
    claims.extend(registered.map(|(claim, value)| (claim.to_owned(), value)));
    if let Some(name) = name {
        claims.insert("name".to_owned(), Value::from(name));
    }
    jwt::sign(&config.jwt_hs256_secret, &claims)
}
