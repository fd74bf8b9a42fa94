//! Paydesk: the payments operations backend.
//!
//! Every import goes down this list, never up; `tests/it/layering.rs` checks it.

pub mod auth;
pub mod config;
pub mod httpclient;
pub mod jwt;
pub mod telemetry;
pub mod types;
