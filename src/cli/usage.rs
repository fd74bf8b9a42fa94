//! Wrong usage, told in one line that names the setting.

use std::process::ExitCode;

use clap::{
    CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// Prints help and version as they are, and what is wrong in one line; tells the exit code.
pub(super) fn explain(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print!("{}", error.render());
            ExitCode::SUCCESS
        }
        ErrorKind::MissingRequiredArgument => {
            for argument in named(error) {
                eprintln!("paydesk: {} is not set", setting(&argument));
            }
            ExitCode::from(2)
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let reason =
                std::error::Error::source(error).map(|reason| format!(": {reason}")).unwrap_or_default();
            for argument in named(error) {
                eprintln!("paydesk: {} has a value that cannot be used{reason}", setting(&argument));
            }
            ExitCode::from(2)
        }
        _ => {
            eprint!("{}", error.render());
            ExitCode::from(2)
        }
    }
}

/// The arguments that an error is about, such as `--database-url <DATABASE_URL>`.
fn named(error: &clap::Error) -> Vec<String> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(arguments)) => arguments.clone(),
        Some(ContextValue::String(argument)) => vec![argument.clone()],
        _ => Vec::new(),
    }
}

/// How a setting is called by who sets it: its variable, and its flag.
fn setting(argument: &str) -> String {
    let flag = argument.split_whitespace().next().unwrap_or(argument);
    let long = flag.trim_start_matches('-');
    let command = super::Cli::command();
    let variable = command
        .get_subcommands()
        .flat_map(clap::Command::get_arguments)
        .find(|known| known.get_long() == Some(long))
        .and_then(|known| known.get_env())
        .map(|variable| variable.to_string_lossy().into_owned());
    match variable {
        Some(variable) => format!("{variable} (or {flag})"),
        None => flag.to_owned(),
    }
}
