//! `paydesk serve`: everything in one process, until SIGTERM.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

use super::CommandError;
use crate::{
    app::{App, AppError},
    config::{ServeConfig, SettingError},
    telemetry,
};

/// Serves until SIGTERM or SIGINT, then comes to a good end: what is under way finishes, nothing is left claimed.
pub(super) async fn run(config: ServeConfig) -> Result<(), CommandError> {
    telemetry::init_logs(&config.log)?;
    let app = App::build(config)?;
    if app.payments.toss.is_none() {
        tracing::warn!(
            "the gateway TOSS is off: set PAYDESK_TOSS_URL and PAYDESK_TOSS_SECRET_KEY to take payments"
        );
    }
    app.migrate().await?;
    app.start();
    let server = app.listen().await.map_err(|error| listen_error(&app.config, &error))?;
    tracing::info!(address = %server.addr, instance = %app.instance, "serving");
    signalled().await.map_err(CommandError::failed)?;
    tracing::info!("shutting down");
    let requests = server.stop().await;
    let workers = app.shut_down().await;
    if requests && workers {
        tracing::info!("stopped");
        Ok(())
    } else {
        Err(CommandError::Failed("the grace time was over before everything had ended".to_owned()))
    }
}

async fn signalled() -> io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

fn listen_error(config: &ServeConfig, error: &io::Error) -> SettingError {
    SettingError::new("PAYDESK_LISTEN", format!("cannot listen on {}: {error}", config.http.listen))
}

impl From<AppError> for CommandError {
    fn from(error: AppError) -> Self {
        match error {
            AppError::Setting(error) => Self::Setting(error),
            other @ (AppError::HttpClient(_) | AppError::Migration(_)) => Self::failed(other),
        }
    }
}
