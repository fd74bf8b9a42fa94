//! Who is calling: roles, and principals as proof that a token was verified.
//!
//! The proofs have private fields and are made here only, so a use case that demands
//! `&AdminPrincipal` cannot be called without a verified ADMIN token.

mod issue;
mod principal;
mod roles;
mod verifier;

pub use crate::jwt::{SignError, TokenError};
pub use issue::issue;
pub use principal::{AdminPrincipal, Principal, ReaderPrincipal, Role, ServicePrincipal};
pub use verifier::{TokenVerifier, bearer};
