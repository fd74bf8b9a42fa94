use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::Publisher;
use crate::{
    broker::BrokerState,
    db::DbError,
    failures::{self, FailureKind, NewFailure, Severity, SubjectType},
};

/// The wait before an outage that could not be written down is written again.
const RETRY: Duration = Duration::from_secs(1);

/// Writes each outage of the broker down, once, as this process sees it.
pub(super) async fn run(publisher: Arc<Publisher>, stop: CancellationToken) {
    let mut states = publisher.broker.state();
    loop {
        let state = states.borrow_and_update().clone();
        let outage = match state {
            BrokerState::Down { error, .. } => Some(("DOWN", error)),
            BrokerState::Blocked { reason, .. } => Some(("BLOCKED", reason)),
            BrokerState::Connecting | BrokerState::Up { .. } => None,
        };
        if let Some((code, message)) = outage {
            while let Err(error) = record(&publisher, code, &message).await {
                tracing::warn!(%error, "the broker's outage cannot be written down; trying again");
                tokio::select! {
                    () = tokio::time::sleep(RETRY) => {}
                    () = stop.cancelled() => return,
                }
            }
        }
        tokio::select! {
            changed = states.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
    }
}

async fn record(publisher: &Publisher, code: &str, message: &str) -> Result<(), DbError> {
    let failure = NewFailure {
        kind: FailureKind::BrokerUnavailable,
        severity: Severity::Critical,
        subject_type: SubjectType::Broker,
        subject_id: publisher.instance.clone(),
        event_type: None,
        code: code.to_owned(),
        message: message.to_owned(),
        detail: None,
        attempt: 1,
        flow_id: None,
    };
    Ok(failures::record(&mut *publisher.db.conn().await?, failure).await?)
}
