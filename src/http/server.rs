//! The server: accepts, bounds, and ends connections.
//!
//! axum's own `serve` has no time limit for a request's head and none for the end, so the loop over hyper is ours.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

use super::Connections;

/// Connections at once, before they become websockets; more wait in the kernel's queue.
pub const MAX_CONNECTIONS: usize = 16_384;
/// How long a request's head may take to arrive, and how long a connection may idle between two.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of a request's head.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// The wait after an accept that failed for want of file descriptors: others must end first.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves `router` on `listener` until `connections.closing`, then waits at most `grace` for the connections
/// and websockets under way. True if all came to their end; the rest are dropped.
pub async fn serve(listener: TcpListener, router: Router, connections: Connections, grace: Duration) -> bool {
    let abandon = CancellationToken::new();
    accept(listener, router, &connections, &abandon).await;
    connections.tracker.close();
    let ended = tokio::time::timeout(grace, connections.tracker.wait()).await.is_ok();
    abandon.cancel();
    ended
}

async fn accept(
    listener: TcpListener,
    router: Router,
    connections: &Connections,
    abandon: &CancellationToken,
) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let next = async { (place.await, listener.accept().await) };
        let (place, accepted) = tokio::select! {
            () = connections.closing.cancelled() => return,
            next = next => next,
        };
        let (Ok(place), Ok((stream, _peer))) = (place, check(accepted)) else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (router, closing, abandon) = (router.clone(), connections.closing.clone(), abandon.clone());
        connections.tracker.spawn(async move {
            let _place = place;
            tokio::select! {
                () = abandon.cancelled() => {}
                () = connection(stream, router, closing) => {}
            }
        });
    }
}

fn check<T>(accepted: io::Result<T>) -> io::Result<T> {
    accepted.inspect_err(|error| tracing::warn!(%error, "cannot accept a connection"))
}

async fn connection(stream: TcpStream, router: Router, closing: CancellationToken) {
    // Small answers are sent as they are; a socket that refuses this works all the same.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // Clients go away; nothing here is ours to mend.
        tracing::trace!(%error, "connection ended");
    }
}
