use std::time::Duration;

use super::{Role, SignError, issue};
use crate::config::{HttpConfig, SigningConfig, TokenConfig};

/// As long as a session lasts.
const LASTS: Duration = Duration::from_secs(10 * 3_600);

/// Somebody to play while developing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persona {
    /// May act.
    Admin,
    /// May look.
    Operator,
}

impl Persona {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Admin, Self::Operator];

    /// As requests and answers write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Operator => "operator",
        }
    }

    /// Reads it again.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|persona| persona.as_str() == text)
    }
}

/// Signs the personas' tokens in development. They are verified like any other: this makes no principal.
#[derive(Debug, Clone)]
pub struct DevLogin(SigningConfig);

impl DevLogin {
    /// None unless the settings ask for it.
    pub fn new(http: &HttpConfig, token: &TokenConfig) -> Option<Self> {
        let secret = token.jwt_hs256_secret.clone().filter(|_| http.dev_login)?;
        Some(Self(SigningConfig {
            jwt_hs256_secret: secret,
            jwt_issuer: token.jwt_issuer.clone(),
            jwt_audience: token.jwt_audience.clone(),
            jwt_roles_claim: token.jwt_roles_claim.clone(),
        }))
    }

    /// A token of this persona.
    pub fn token(&self, persona: Persona) -> Result<String, SignError> {
        let (subject, name, role) = match persona {
            Persona::Admin => ("dev-admin", "Dev Admin", Role::Admin),
            Persona::Operator => ("dev-operator", "Dev Operator", Role::Operator),
        };
        issue(&self.0, subject, Some(name), &[role], LASTS)
    }
}
