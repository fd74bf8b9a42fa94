//! Paydesk: the payments operations backend.
//!
//! Every import goes down this list, never up; `tests/it/layering.rs` checks it.

pub mod audit;
pub mod auth;
pub mod broker;
pub mod config;
pub mod db;
pub mod failures;
pub mod httpclient;
pub mod outbox;
pub mod telemetry;
pub mod types;
pub mod workers;
