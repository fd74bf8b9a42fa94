use std::{path::PathBuf, time::Duration};

use clap::Args;
use secrecy::{ExposeSecret, SecretString};

use super::{
    SettingError,
    value::{duration, http_url, secret},
};

/// How tokens are verified: exactly one of secret, key file and JWKS.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Tokens")]
pub struct TokenConfig {
    /// A shared secret of at least 32 bytes: tokens are HS256
    #[arg(long, env = "PAYDESK_JWT_HS256_SECRET", hide_env_values = true, value_parser = secret)]
    pub jwt_hs256_secret: Option<SecretString>,

    /// A PEM file with a public key: tokens are RS256, ES256 or EdDSA, as the key is
    #[arg(long, env = "PAYDESK_JWT_PUBLIC_KEY_FILE")]
    pub jwt_public_key_file: Option<PathBuf>,

    /// A JWKS address of the identity provider, cached and refreshed on an unknown key id
    #[arg(long, env = "PAYDESK_JWT_JWKS_URL", value_parser = http_url)]
    pub jwt_jwks_url: Option<String>,

    /// The only issuer (`iss`) that is accepted
    #[arg(long, env = "PAYDESK_JWT_ISSUER")]
    pub jwt_issuer: String,

    /// The audience (`aud`) that a token must be for
    #[arg(long, env = "PAYDESK_JWT_AUDIENCE")]
    pub jwt_audience: String,

    /// The claim that holds the roles; a dotted path reaches into objects
    #[arg(long, env = "PAYDESK_JWT_ROLES_CLAIM", default_value = "roles")]
    pub jwt_roles_claim: String,

    /// How far clocks may differ when expiry and not-before are checked
    #[arg(long, env = "PAYDESK_JWT_LEEWAY", default_value = "5s", value_parser = duration)]
    pub jwt_leeway: Duration,
}

impl TokenConfig {
    /// Exactly one source of keys, a secret that is long enough, and names that can be checked against.
    pub fn check(&self) -> Result<(), SettingError> {
        let sources = [
            self.jwt_hs256_secret.is_some(),
            self.jwt_public_key_file.is_some(),
            self.jwt_jwks_url.is_some(),
        ];
        if sources.into_iter().filter(|given| *given).count() != 1 {
            return Err(SettingError::new(
                "PAYDESK_JWT_HS256_SECRET",
                "set exactly one of PAYDESK_JWT_HS256_SECRET, PAYDESK_JWT_PUBLIC_KEY_FILE and PAYDESK_JWT_JWKS_URL",
            ));
        }
        if self.jwt_leeway > MAX_LEEWAY {
            return Err(SettingError::new("PAYDESK_JWT_LEEWAY", "it must be at most 5m"));
        }
        self.jwt_hs256_secret.as_ref().map_or(Ok(()), check_secret)?;
        check_names(&self.jwt_issuer, &self.jwt_audience, &self.jwt_roles_claim)
    }
}

/// What `paydesk token` signs with: the same secret and names that `serve` checks against.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Tokens")]
pub struct SigningConfig {
    /// The shared secret of at least 32 bytes to sign with (HS256)
    #[arg(long, env = "PAYDESK_JWT_HS256_SECRET", hide_env_values = true, value_parser = secret)]
    pub jwt_hs256_secret: SecretString,

    /// The issuer (`iss`) to write into the token
    #[arg(long, env = "PAYDESK_JWT_ISSUER")]
    pub jwt_issuer: String,

    /// The audience (`aud`) to write into the token
    #[arg(long, env = "PAYDESK_JWT_AUDIENCE")]
    pub jwt_audience: String,

    /// The claim that holds the roles; a dotted path makes nested objects
    #[arg(long, env = "PAYDESK_JWT_ROLES_CLAIM", default_value = "roles")]
    pub jwt_roles_claim: String,
}

impl SigningConfig {
    /// A secret that is long enough, and names that `serve` would take.
    pub fn check(&self) -> Result<(), SettingError> {
        check_secret(&self.jwt_hs256_secret)?;
        check_names(&self.jwt_issuer, &self.jwt_audience, &self.jwt_roles_claim)
    }
}

/// A longer difference between two clocks is a fault to mend, and makes expired tokens live on.
const MAX_LEEWAY: Duration = Duration::from_secs(300);

/// Claims that mean something else, so that roles cannot stand in them.
const OTHER_CLAIMS: [&str; 8] = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti", "name"];

/// HS256 is no stronger than its secret.
fn check_secret(secret: &SecretString) -> Result<(), SettingError> {
    if secret.expose_secret().len() < 32 {
        return Err(SettingError::new("PAYDESK_JWT_HS256_SECRET", "it must be at least 32 bytes long"));
    }
    Ok(())
}

/// An empty issuer or audience would be matched by an empty claim.
fn check_names(issuer: &str, audience: &str, roles_claim: &str) -> Result<(), SettingError> {
    for (variable, value) in [("PAYDESK_JWT_ISSUER", issuer), ("PAYDESK_JWT_AUDIENCE", audience)] {
        if value.is_empty() {
            return Err(SettingError::new(variable, "it must not be empty"));
        }
    }
    let mut steps = roles_claim.split('.');
    if steps.clone().any(str::is_empty) || steps.next().is_some_and(|first| OTHER_CLAIMS.contains(&first)) {
        return Err(SettingError::new(
            "PAYDESK_JWT_ROLES_CLAIM",
            "write the name of a claim such as roles, or a path such as realm_access.roles",
        ));
    }
    Ok(())
}
