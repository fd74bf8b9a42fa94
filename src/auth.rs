//! Who is calling: roles, and principals as proof that a token was verified.
//!
//! The proofs have private fields and are made here only, so a use case that demands
//! `&AdminPrincipal` cannot be called without a verified ADMIN token.

mod dev_login;
mod issue;
mod principal;
mod roles;
mod session;
mod verifier;

pub use crate::jwt::{SignError, TokenError};
pub use dev_login::{DevLogin, Persona};
pub use issue::issue;
pub use principal::{AdminPrincipal, Principal, ReaderPrincipal, Role, ServicePrincipal};
pub use session::{SealedSession, Sessions};
pub use verifier::{TokenVerifier, bearer};
