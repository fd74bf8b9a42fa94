//! HTTP: the router, `POST /graphql`, its websocket, health, metrics, and the server around them.

mod answer;
mod body;
mod console;
mod graphql;
mod health;
mod origin;
mod request_id;
mod server;
mod session;
#[cfg(test)]
mod tests;
mod webhooks;
mod ws;

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::header,
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::future::BoxFuture;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    auth::{Principal, TokenError},
    graphql::Api,
};

pub use axum::Router;
pub use body::{BODY_TIMEOUT, MAX_BODY_BYTES};
pub use console::console;
pub use health::Readiness;
pub use server::{MAX_CONNECTIONS, serve};
pub use session::SignIn;
pub use webhooks::webhooks;
pub use ws::SocketPolicy;

/// Verifies a token; a function, so that this room need not know where keys come from.
pub type Authenticate =
    Arc<dyn Fn(String) -> BoxFuture<'static, Result<Principal, TokenError>> + Send + Sync>;
/// Looks whether the process can work.
pub type CheckReadiness = Arc<dyn Fn() -> BoxFuture<'static, Readiness> + Send + Sync>;
/// Renders the metrics as Prometheus reads them.
pub type RenderMetrics = Arc<dyn Fn() -> String + Send + Sync>;

/// What the routes work with.
#[derive(Clone)]
pub struct Http {
    /// The GraphQL API.
    pub api: Api,
    /// Who bears a token.
    pub authenticate: Authenticate,
    /// How browsers sign in.
    pub sign_in: SignIn,
    /// Whether the process can work.
    pub readiness: CheckReadiness,
    /// Metrics on this listener; none when they have their own.
    pub metrics: Option<RenderMetrics>,
    /// How websockets are kept.
    pub sockets: SocketPolicy,
    /// Connections and websockets under way.
    pub connections: Connections,
}

/// The connections under way, and the order to end them.
#[derive(Clone, Default)]
pub struct Connections {
    /// Cancelled at shutdown: nothing new is accepted, websockets close with 1012, requests end.
    pub closing: CancellationToken,
    /// Every connection and websocket until it has ended.
    pub tracker: TaskTracker,
}

/// Every route. `more` joins it beneath the same request ids, panics and headers; its fallback wins.
pub fn router(http: Http, more: Router) -> Router {
    let metrics = http.metrics.clone();
    let own = Router::new()
        .route("/graphql", post(graphql::post).fallback(answer::method_not_allowed))
        .route("/graphql/ws", get(ws::upgrade).fallback(answer::method_not_allowed))
        .route("/healthz", get(health::alive).fallback(answer::method_not_allowed))
        .route("/readyz", get(health::ready).fallback(answer::method_not_allowed))
        .merge(session::routes())
        .with_state(http)
        .merge(more);
    let own = match metrics {
        Some(render) => own.merge(metrics_router(render)),
        None => own,
    };
    own.layer(Extension(ws::OpenSockets::default())).layer(middleware::from_fn(request_id::around))
}

/// A router that answers what no route does; merge it where nothing else has a fallback.
pub fn not_found() -> Router {
    Router::new().fallback(answer::not_found)
}

/// `GET /metrics` alone, for a listener of its own.
pub fn metrics_router(render: RenderMetrics) -> Router {
    Router::new().route("/metrics", get(metrics)).with_state(render)
}

async fn metrics(State(render): State<RenderMetrics>) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], render()).into_response()
}
