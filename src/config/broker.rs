use std::time::Duration;

use clap::{Args, ValueEnum};
use secrecy::SecretString;

use super::value::{positive_duration, secret};

/// What kind of queues are declared for the messages that are consumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QueueType {
    /// Replicated: survives the loss of a broker node
    Quorum,
    /// On one node
    Classic,
}

/// How to reach RabbitMQ.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Broker")]
pub struct BrokerConfig {
    /// RabbitMQ, such as amqp://user:password@host:5672/vhost, or amqps://
    #[arg(long, env = "AMQP_URL", hide_env_values = true, value_parser = secret)]
    pub amqp_url: SecretString,

    /// Put before the names of our own exchanges and queues, so that several deployments share a virtual host
    #[arg(long, env = "PAYDESK_AMQP_PREFIX", default_value = "", value_parser = prefix)]
    pub amqp_prefix: String,

    /// How long connecting to the broker may take
    #[arg(long, env = "PAYDESK_AMQP_CONNECT_TIMEOUT", default_value = "10s", value_parser = positive_duration)]
    pub amqp_connect_timeout: Duration,

    /// Longest wait between two attempts to reach the broker (jittered, doubling from 200 ms)
    #[arg(long, env = "PAYDESK_AMQP_RECONNECT_CAP", default_value = "5s", value_parser = positive_duration)]
    pub amqp_reconnect_cap: Duration,

    /// Kind of the queues that are consumed; an existing queue of the other kind is not consumed
    #[arg(long, env = "PAYDESK_AMQP_QUEUE_TYPE", default_value = "quorum", value_enum)]
    pub amqp_queue_type: QueueType,

    /// How often exchanges, queues and bindings are declared anew while messages are consumed: what was deleted comes back
    #[arg(long, env = "PAYDESK_AMQP_REDECLARE_INTERVAL", default_value = "30s", value_parser = positive_duration)]
    pub amqp_redeclare_interval: Duration,
}

/// Names at the broker have 255 bytes, and ours need some of them.
fn prefix(text: &str) -> Result<String, String> {
    if text.len() > 200 {
        return Err("it must be at most 200 bytes long".to_owned());
    }
    if text.starts_with("amq.") || text.contains(char::is_control) {
        return Err("write a prefix such as staging. (RabbitMQ keeps amq. for itself)".to_owned());
    }
    Ok(text.to_owned())
}
