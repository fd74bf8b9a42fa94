use std::{sync::Arc, time::Duration};

use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use futures_util::StreamExt;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Connector;

/// Something may have changed: look. What changed is never in the hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// A failure was recorded.
    Failure,
}

/// Hints from every process, over a connection of its own that is always drained. A lost hint only costs time:
/// everybody who waits for one polls as well.
#[derive(Clone)]
pub struct Hints {
    failures: watch::Sender<u64>,
    connector: Arc<Connector>,
}

const CHANNEL: &str = "paydesk_failure";
const RECONNECT: Duration = Duration::from_secs(1);

impl Hints {
    /// Prepares the hints; [`Hints::run`] brings them in.
    pub fn new(connector: Connector) -> Self {
        Self { failures: watch::Sender::new(0), connector: Arc::new(connector) }
    }

    /// Changes whenever a failure may have been recorded.
    pub fn failures(&self) -> watch::Receiver<u64> {
        self.failures.subscribe()
    }

    /// A hint from within this process.
    pub fn failure_recorded(&self) {
        self.failures.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Listens until `stop`, connecting again as often as needed.
    pub async fn run(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let listening = async {
                match self.listen().await {
                    Ok(()) => tracing::warn!("the LISTEN connection ended; connecting again"),
                    Err(error) => tracing::warn!(%error, "the LISTEN connection failed; connecting again"),
                }
                tokio::time::sleep(RECONNECT).await;
            };
            tokio::select! {
                () = listening => {}
                () = stop.cancelled() => {}
            }
        }
    }

    async fn listen(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut connection: AsyncPgConnection = self.connector.connect().await?;
        connection.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        // What happened while nobody listened is looked for at once.
        self.failure_recorded();
        let mut notifications = std::pin::pin!(connection.notifications_stream());
        while let Some(notification) = notifications.next().await {
            notification?;
            self.failure_recorded();
        }
        Ok(())
    }
}
