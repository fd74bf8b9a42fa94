//! How single settings are read.

use std::{convert::Infallible, time::Duration};

use secrecy::SecretString;

/// Durations such as `10s`, `5m`, `30d`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("{error}; write a duration such as 500ms, 10s, 5m or 30d"))
}

/// A duration that is not zero: intervals and timeouts.
pub(super) fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("it must be longer than 0s".to_owned()),
        duration => Ok(duration),
    }
}

/// A value that is never shown again.
#[expect(clippy::unnecessary_wraps, reason = "the signature that clap asks of a parser")]
pub(super) fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(SecretString::from(text.to_owned()))
}
