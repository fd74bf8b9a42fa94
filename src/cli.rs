//! The command line: one file per command. Exit codes: 0 done, 1 failed, 2 wrong usage or settings.

pub mod demo;
pub mod migrate;
pub mod serve;
pub mod simulate;
pub mod token;
mod usage;
pub mod verify;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use thiserror::Error;

use crate::config::{SettingError, without_empty_variables};

/// Paydesk, the payments operations backend
#[derive(Debug, Parser)]
#[command(name = "paydesk", version, max_term_width = 110)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves HTTP and GraphQL and runs every background task, until SIGTERM
    Serve(Box<crate::config::ServeConfig>),
    /// Applies the embedded migrations and exits
    Migrate(migrate::MigrateArgs),
    /// Prints the GraphQL schema (SDL)
    Schema,
    /// Checks the books of a database: what must hold of its rows, and which break it
    ///
    /// Some checks ask whether something was left behind: an event that is sent for too long, a payment that nobody asks
    /// about. How long is too long is said by the server's own intervals and leases; give those that the server has,
    /// as the same variables, or leave both at their defaults.
    Verify(Box<verify::VerifyArgs>),
    /// Signs a token with the HS256 secret, for development and scripts
    Token(token::TokenArgs),
    /// Simulates the payment gateways
    Simulate(simulate::SimulateArgs),
    /// Sends demo traffic, with some failures, to a running server through its public interfaces
    Demo(demo::DemoArgs),
}

/// Why a command did not do what it was asked.
#[derive(Debug, Error)]
enum CommandError {
    /// The settings cannot be worked with: exit code 2.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// It failed: exit code 1.
    #[error("{0}")]
    Failed(String),
}

impl CommandError {
    fn failed(error: impl std::fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Reads the command line and the environment, does it, and tells how it ended.
pub fn run() -> ExitCode {
    let parsed = without_empty_variables(Cli::command()).try_get_matches();
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage::explain(&error),
    };
    match dispatch(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("paydesk: {error}");
            ExitCode::from(if matches!(error, CommandError::Setting(_)) { 2 } else { 1 })
        }
    }
}

fn dispatch(command: Command) -> Result<(), CommandError> {
    match command {
        Command::Token(args) => Ok(token::run(&args)?),
        Command::Schema => usage::print(&crate::graphql::sdl()).map_err(CommandError::failed),
        Command::Serve(config) => in_runtime(serve::run(*config)),
        Command::Migrate(args) => in_runtime(migrate::run(args)),
        Command::Verify(args) => in_runtime(verify::run(*args)),
        Command::Simulate(args) => {
            in_runtime(async { simulate::run(args).await.map_err(CommandError::failed) })
        }
        Command::Demo(args) => in_runtime(async { demo::run(args).await.map_err(CommandError::failed) }),
    }
}

fn in_runtime(work: impl Future<Output = Result<(), CommandError>>) -> Result<(), CommandError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CommandError::failed)?;
    let outcome = runtime.block_on(work);
    // What is left after a shutdown that ran out of time is not waited for once more.
    runtime.shutdown_background();
    crate::telemetry::shutdown();
    outcome
}

impl From<token::TokenCommandError> for CommandError {
    fn from(error: token::TokenCommandError) -> Self {
        match error {
            token::TokenCommandError::Setting(error) => Self::Setting(error),
            other => Self::failed(other),
        }
    }
}
