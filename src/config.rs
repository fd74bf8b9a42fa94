//! Settings: one struct per concern, each field a flag and an environment variable.
//! This is the only room that reads the environment (through clap).

#![expect(clippy::doc_markdown, reason = "the fields' documentation is the text of --help")]

mod broker;
mod charges;
mod consumers;
mod database;
mod gateways;
mod http;
mod log;
mod outbox;
mod payments;
mod serve;
mod token;
mod value;

pub use broker::{BrokerConfig, QueueType};
pub use charges::ChargeConfig;
pub use consumers::ConsumerConfig;
pub use database::DatabaseConfig;
pub use gateways::{AppleEnvironment, HectoField, PurchaseConfig, TossConfig, given};
pub use http::HttpConfig;
pub use log::{LogConfig, LogFormat};
pub use outbox::OutboxConfig;
pub use payments::{PaymentConfig, ReconcileConfig};
pub use serve::{ServeConfig, SettingError};
pub use token::{SigningConfig, TokenConfig};
pub use value::{whole, without_empty_variables};
