//! Paydesk: the payments operations backend.
//!
//! Every import goes down this list, never up; `tests/it/layering.rs` checks it.

pub mod auth;
pub mod config;
pub mod gateways;
pub mod httpclient;
pub mod simulator;
pub mod types;
