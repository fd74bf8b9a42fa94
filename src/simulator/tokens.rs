//! Access tokens that the gateways have given out.

use std::collections::HashSet;

use axum::http::HeaderMap;
use uuid::Uuid;

/// The tokens that are good, each at its gateway. They last as long as the simulator's books.
#[derive(Debug, Default)]
pub(super) struct Tokens(HashSet<(&'static str, String)>);

impl Tokens {
    /// A new token.
    pub(super) fn issue(&mut self, gateway: &'static str) -> String {
        let token = format!("sim.token.{}", Uuid::new_v4().simple());
        self.0.insert((gateway, token.clone()));
        token
    }

    /// Whether a request carries a token of this gateway.
    pub(super) fn is_good(&self, gateway: &'static str, headers: &HeaderMap) -> bool {
        let header = headers.get("authorization").and_then(|value| value.to_str().ok());
        let token = header.and_then(|value| value.strip_prefix("Bearer "));
        token.is_some_and(|token| self.0.contains(&(gateway, token.to_owned())))
    }
}
