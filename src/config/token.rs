use std::{path::PathBuf, time::Duration};

use clap::Args;
use secrecy::{ExposeSecret, SecretString};

use super::{
    SettingError,
    value::{duration, secret},
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
    #[arg(long, env = "PAYDESK_JWT_JWKS_URL")]
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
    /// Exactly one source of keys, and a secret that is long enough.
    pub(super) fn check(&self) -> Result<(), SettingError> {
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
        match &self.jwt_hs256_secret {
            Some(secret) if secret.expose_secret().len() < 32 => {
                Err(SettingError::new("PAYDESK_JWT_HS256_SECRET", "it must be at least 32 bytes long"))
            }
            _ => Ok(()),
        }
    }
}
