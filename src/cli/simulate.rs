//! `paydesk simulate`: the payment gateways, simulated.

use std::{io, net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;
use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};

use crate::simulator::{Simulator, SimulatorSetup};

/// Simulates the payment gateways in memory, for demonstrations and tests. Merchant ids and keys are taken from the same
/// variables that `serve` reads; without them they are the documented ones of the simulator.
#[derive(Debug, Clone, Args)]
pub struct SimulateArgs {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:9090")]
    pub listen: SocketAddr,

    /// Where Payverse's and Hecto's webhooks go: this and /payverse or /hecto
    #[arg(long, default_value = "http://127.0.0.1:8080/webhooks")]
    pub webhook_url: String,

    /// How long a webhook that was not received well waits for its second try; doubles with each, ten tries in all
    #[arg(long, default_value = "1s", value_parser = humantime::parse_duration)]
    pub webhook_retry: Duration,

    /// Writes the root certificate that Apple's transactions are signed under to this file (PEM)
    #[arg(long)]
    pub apple_root: Option<PathBuf>,

    /// Writes the key file of the service account that Google knows here to this file (JSON)
    #[arg(long)]
    pub google_service_account: Option<PathBuf>,

    /// Our merchant id at Payverse
    #[arg(long, env = "PAYDESK_PAYVERSE_MID", default_value = "SIM_KRW_01")]
    pub payverse_mid: String,

    /// Our client key at Payverse
    #[arg(long, env = "PAYDESK_PAYVERSE_CLIENT_KEY", default_value = "sim_client_key01")]
    pub payverse_client_key: String,

    /// The key of Payverse's signatures
    #[arg(
        long,
        env = "PAYDESK_PAYVERSE_SECRET_KEY",
        hide_env_values = true,
        default_value = "sim_secret_key01"
    )]
    pub payverse_secret_key: String,

    /// Our application id at Bootpay
    #[arg(long, env = "PAYDESK_BOOTPAY_APPLICATION_ID", default_value = "sim_application_01")]
    pub bootpay_application_id: String,

    /// Our private key at Bootpay
    #[arg(
        long,
        env = "PAYDESK_BOOTPAY_PRIVATE_KEY",
        hide_env_values = true,
        default_value = "sim_private_key01"
    )]
    pub bootpay_private_key: String,

    /// Our merchant id at Hecto
    #[arg(long, env = "PAYDESK_HECTO_MERCHANT_ID", default_value = "sim_card_il")]
    pub hecto_merchant_id: String,

    /// The key of Hecto's hashes
    #[arg(
        long,
        env = "PAYDESK_HECTO_LICENSE_KEY",
        hide_env_values = true,
        default_value = "SIMLICENSEKEY0001"
    )]
    pub hecto_license_key: String,

    /// The key of Hecto's encryption, of 32 bytes
    #[arg(
        long,
        env = "PAYDESK_HECTO_AES_KEY",
        hide_env_values = true,
        default_value = "simAes256KeySimAes256KeySimAes25"
    )]
    pub hecto_aes_key: String,

    /// Our app's bundle id
    #[arg(long, env = "PAYDESK_APPLE_BUNDLE_ID", default_value = "kr.sim.coin")]
    pub apple_bundle_id: String,

    /// Our app's package name
    #[arg(long, env = "PAYDESK_GOOGLE_PACKAGE_NAME", default_value = "kr.sim.coin")]
    pub google_package_name: String,
}

impl SimulateArgs {
    fn setup(&self) -> SimulatorSetup {
        let args = self.clone();
        SimulatorSetup {
            payverse_mid: args.payverse_mid,
            payverse_client_key: args.payverse_client_key,
            payverse_secret_key: args.payverse_secret_key,
            bootpay_application_id: args.bootpay_application_id,
            bootpay_private_key: args.bootpay_private_key,
            hecto_merchant_id: args.hecto_merchant_id,
            hecto_license_key: args.hecto_license_key,
            hecto_aes_key: args.hecto_aes_key,
            apple_bundle_id: args.apple_bundle_id,
            google_package_name: args.google_package_name,
            apple_root: args.apple_root,
            google_service_account: args.google_service_account,
            webhook_url: Some(args.webhook_url),
            webhook_retry: args.webhook_retry,
        }
    }
}

/// Why there is no simulator.
#[derive(Debug, Error)]
pub enum SimulateError {
    /// The address cannot be listened on, or a file cannot be written.
    #[error("cannot start on {address}: {cause}")]
    Start {
        /// The address of `--listen`.
        address: SocketAddr,
        /// What the system says.
        cause: io::Error,
    },
    /// The process cannot learn when to stop.
    #[error("cannot wait for signals: {0}")]
    Signals(#[from] io::Error),
}

/// Answers until SIGINT or SIGTERM. Prints one line with the address as soon as it listens.
pub async fn run(args: SimulateArgs) -> Result<(), SimulateError> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let simulator = Simulator::start_with(args.listen, args.setup())
        .await
        .map_err(|cause| SimulateError::Start { address: args.listen, cause })?;
    println!("paydesk simulate listens on {}", simulator.base_url());
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    simulator.stop().await;
    Ok(())
}
