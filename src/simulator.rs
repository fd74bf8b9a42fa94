//! The payment gateways' other side, in memory, for demonstrations and tests.
//!
//! Each gateway behaves as gateways.md describes it; `/_control/…` makes it misbehave and opens its books.
//! It knows nothing of Paydesk but its value types and the plain HTTP client that its webhooks go out with, so it cannot
//! share a mistake with the clients it answers.

mod apple;
mod behaviours;
mod bootpay;
mod calls;
mod control;
mod exchange;
mod google;
mod hecto;
mod line;
mod payverse;
mod sales;
mod setup;
mod tokens;
mod toss;
mod webhooks;
mod world;

use std::{io, net::SocketAddr, path::Path, time::Duration};

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::DropGuard;

use line::{Line, Lines};
pub use setup::SimulatorSetup;
use world::World;

/// How long a stop waits for connections whose client neither speaks nor leaves.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// Starts simulated gateways. Each start has books of its own.
#[derive(Debug, Clone, Copy)]
pub struct Simulator;

/// Simulated gateways that are answering. Dropping it stops them as well, without waiting.
#[derive(Debug)]
pub struct RunningSimulator {
    address: SocketAddr,
    world: World,
    stopping: DropGuard,
}

impl Simulator {
    /// Listens on `listen` (port 0 takes a free one) and answers until it is stopped.
    pub async fn start(listen: SocketAddr) -> io::Result<RunningSimulator> {
        Self::start_with(listen, SimulatorSetup::default()).await
    }

    /// The same, for merchants of one's own.
    pub async fn start_with(listen: SocketAddr, setup: SimulatorSetup) -> io::Result<RunningSimulator> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let world = World::new(setup);
        write(world.setup.apple_root.as_deref(), || apple_root(&world))?;
        write(world.setup.google_service_account.as_deref(), || google_service_account(&world, address))?;
        let stopping = world.stopping.clone();
        let router: Router<World> = control::router()
            .merge(toss::router())
            .merge(payverse::router())
            .merge(bootpay::router())
            .merge(hecto::router())
            .merge(google::router());
        let service = router.with_state(world.clone()).into_make_service_with_connect_info::<Line>();
        let server =
            axum::serve(Lines(listener), service).with_graceful_shutdown(stopping.clone().cancelled_owned());
        world.tasks.spawn(async move { server.await });
        Ok(RunningSimulator { address, world, stopping: stopping.drop_guard() })
    }
}

impl RunningSimulator {
    /// Where it answers, such as `http://127.0.0.1:9090`; Toss's base URL is this and `/toss`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The root certificate that Apple's transactions here are signed under, in PEM.
    pub fn apple_root(&self) -> io::Result<String> {
        apple_root(&self.world)
    }

    /// The key file of the service account that Google knows here. Its key is made at start and worth nothing.
    pub fn google_service_account(&self) -> io::Result<String> {
        google_service_account(&self.world, self.address)
    }

    /// Stops listening, cuts delays short, and waits until what has begun is finished.
    pub async fn stop(self) {
        let tasks = self.world.tasks;
        drop(self.stopping);
        tasks.close();
        let _patience_is_over = tokio::time::timeout(STOP_PATIENCE, tasks.wait()).await;
    }
}

fn apple_root(world: &World) -> io::Result<String> {
    let root = world.keys.apple().ok_or(io::ErrorKind::Unsupported)?;
    Ok(root.pem())
}

fn google_service_account(world: &World, address: SocketAddr) -> io::Result<String> {
    let account = world.keys.google().ok_or(io::ErrorKind::Unsupported)?;
    Ok(account.key_file(&format!("http://{address}")))
}

/// Writes what `text` gives to a file that was asked for.
fn write(path: Option<&Path>, text: impl FnOnce() -> io::Result<String>) -> io::Result<()> {
    let Some(path) = path else { return Ok(()) };
    let written = text().and_then(|text| std::fs::write(path, text));
    written.map_err(|error| {
        io::Error::new(error.kind(), format!("{} cannot be written: {error}", path.display()))
    })
}
