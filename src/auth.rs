//! Who is calling: roles, and principals as proof that a token was verified.
//!
//! The proofs have private fields and are made here only, so a use case that demands
//! `&AdminPrincipal` cannot be called without a verified ADMIN token.

mod principal;

pub use principal::{AdminPrincipal, Principal, ReaderPrincipal, Role, ServicePrincipal};
