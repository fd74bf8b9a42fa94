//! The payment gateways' other side, in memory, for demonstrations and tests.
//!
//! Each gateway behaves as gateways.md describes it; `/_control/…` makes it misbehave and opens its books.
//! It knows nothing of Paydesk but its value types, so it cannot share a mistake with the clients it answers.

mod behaviours;
mod calls;
mod control;
mod line;
mod toss;
mod world;

use std::{io, net::SocketAddr, time::Duration};

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::DropGuard;

use line::{Line, Lines};
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
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let world = World::default();
        let stopping = world.stopping.clone();
        let router: Router<World> = control::router().merge(toss::router());
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

    /// Stops listening, cuts delays short, and waits until what has begun is finished.
    pub async fn stop(self) {
        let tasks = self.world.tasks;
        drop(self.stopping);
        tasks.close();
        let _patience_is_over = tokio::time::timeout(STOP_PATIENCE, tasks.wait()).await;
    }
}
