//! Wrong usage, told in one line that names the setting.

use std::{
    ffi::OsStr,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{
    CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// Prints help and version as they are, and what is wrong in one line; tells the exit code.
pub(super) fn explain(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match print(&error.render().to_string()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        ErrorKind::MissingRequiredArgument => {
            for argument in named(error) {
                eprintln!("paydesk: {} is not set", setting(&argument));
            }
            ExitCode::from(2)
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let reason =
                std::error::Error::source(error).map(|reason| format!(": {reason}")).unwrap_or_default();
            let allowed = allowed(error);
            for argument in named(error) {
                let (setting, default) = (setting(&argument), default(&argument));
                eprintln!("paydesk: {setting} has a value that cannot be used{reason}{allowed}{default}");
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

/// The values that an enumeration or a switch takes.
fn allowed(error: &clap::Error) -> String {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => {
            format!("; write one of {}", values.join(", "))
        }
        _ => String::new(),
    }
}

/// Writes to standard output. A reader that has seen enough, such as `head`, is no failure.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// How a setting is called by who sets it: its variable, and its flag.
fn setting(argument: &str) -> String {
    let flag = flag(argument);
    let variable = known(argument).and_then(|known| Some(known.get_env()?.to_string_lossy().into_owned()));
    match variable {
        Some(variable) => format!("{variable} (or {flag})"),
        None => flag.to_owned(),
    }
}

/// What a setting is when nobody sets it: an example that works.
fn default(argument: &str) -> String {
    let values = known(argument).map(|known| known.get_default_values().join(OsStr::new(",")));
    values
        .filter(|text| !text.is_empty())
        .map(|text| format!("; its default is {}", text.to_string_lossy()))
        .unwrap_or_default()
}

fn flag(argument: &str) -> &str {
    argument.split_whitespace().next().unwrap_or(argument)
}

/// The argument of any command that has this flag.
fn known(argument: &str) -> Option<clap::Arg> {
    let long = flag(argument).trim_start_matches('-');
    let command = super::Cli::command();
    let mut arguments = command.get_subcommands().flat_map(clap::Command::get_arguments);
    arguments.find(|known| known.get_long() == Some(long)).cloned()
}
