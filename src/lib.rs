//! Paydesk: the payments operations backend.
//!
//! Every import goes down this list, never up; `tests/it/layering.rs` checks it.

pub mod auth;
pub mod config;
pub mod db;
pub mod graphql;
pub mod http;
pub mod httpclient;
pub mod types;
