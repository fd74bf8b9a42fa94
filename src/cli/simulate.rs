//! `paydesk simulate`: the payment gateways, simulated.

use std::{io, net::SocketAddr};

use clap::Args;
use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};

use crate::simulator::Simulator;

/// Simulates the payment gateways in memory, for demonstrations and tests
#[derive(Debug, Clone, Args)]
pub struct SimulateArgs {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:9090")]
    pub listen: SocketAddr,
}

/// Why there is no simulator.
#[derive(Debug, Error)]
pub enum SimulateError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
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
    let simulator = Simulator::start(args.listen)
        .await
        .map_err(|cause| SimulateError::Listen { address: args.listen, cause })?;
    println!("paydesk simulate listens on {}", simulator.base_url());
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    simulator.stop().await;
    Ok(())
}
