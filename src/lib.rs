//! Paydesk: the payments operations backend.
//!
//! Imports go one way: a room may use what stands *below* it in the list of `tests/it/layering.rs`, never what
//! stands above.

pub mod app;
pub mod audit;
pub mod auth;
pub mod broker;
pub mod charges;
pub mod cli;
pub mod config;
pub mod db;
pub mod failures;
pub mod gateways;
pub mod graphql;
pub mod http;
pub mod httpclient;
pub mod idempotency;
pub mod inbox;
pub mod jwt;
pub mod operations;
pub mod outbox;
pub mod payments;
pub mod simulator;
pub mod telemetry;
pub mod types;
pub mod workers;
