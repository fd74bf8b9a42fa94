//! How single settings are read.

use std::{convert::Infallible, fmt::Display, ops::RangeInclusive, path::Path, str::FromStr, time::Duration};

use clap::Command;
use secrecy::SecretString;
use url::Url;

use super::SettingError;

/// A longer one is a slip of the pen, and times that far ahead cannot be written down.
const MAX_DURATION: Duration = Duration::from_secs(36_500 * 24 * 60 * 60);

/// The command as if every variable that is set to nothing were not set: deployments empty a variable to switch a
/// setting off.
pub fn without_empty_variables(command: Command) -> Command {
    let is_empty =
        |arg: &clap::Arg| arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    command.mut_subcommands(|subcommand| {
        subcommand.mut_args(|arg| if is_empty(&arg) { arg.env(None::<&str>) } else { arg })
    })
}

/// A whole number within these bounds.
pub fn whole<T>(bounds: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync
where
    T: FromStr + Display + PartialOrd + Clone + Send + Sync + 'static,
{
    move |text| {
        let within = text.parse().ok().filter(|number| bounds.contains(number));
        within.ok_or_else(|| format!("write a whole number from {} to {}", bounds.start(), bounds.end()))
    }
}

/// Durations such as `10s`, `5m`, `30d`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(duration) if duration > MAX_DURATION => Err("it must be at most 36500d".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(format!("{error}; write a duration such as 500ms, 10s, 5m or 30d")),
    }
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

/// The address of a service that is asked over HTTP, without the slash at its end.
pub(super) fn http_url(text: &str) -> Result<String, String> {
    let hint = "write an address that starts with http:// or https://";
    let url = Url::parse(text).map_err(|error| format!("{error}; {hint}"))?;
    let is_address = matches!(url.scheme(), "http" | "https")
        // The parser would mend these.
        && text.split_once("://").is_some_and(|(_, rest)| !rest.starts_with('/'))
        && !text.contains(char::is_whitespace);
    if !is_address {
        return Err(hint.to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("{hint}, without ? and #"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// The certificates of a PEM file; one without any would silently trust nobody more.
pub(super) fn certificates(variable: &'static str, path: &Path) -> Result<String, SettingError> {
    let wrong = |problem: &str| SettingError::new(variable, format!("{} {problem}", path.display()));
    let pem = std::fs::read_to_string(path).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    if !pem.contains("-----BEGIN CERTIFICATE-----") {
        return Err(wrong("holds no certificate (PEM)"));
    }
    Ok(pem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit_and_an_end() {
        assert_eq!(duration("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        for wrong in ["", "10", "soon", "-1s", "1000000000d", "99999999999999999999s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        assert!(positive_duration("0ms").is_err());
    }

    #[test]
    fn a_number_is_whole_and_within_its_bounds() {
        let percent = whole::<i32>(0..=1000);
        assert_eq!(percent("15"), Ok(15));
        for wrong in ["", "abc", "1.5", "-1", "1001", "99999999999"] {
            assert_eq!(percent(wrong), Err("write a whole number from 0 to 1000".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn an_address_is_one_of_http() {
        assert_eq!(http_url("https://api.tosspayments.com/"), Ok("https://api.tosspayments.com".to_owned()));
        assert_eq!(http_url("http://127.0.0.1:9090/toss"), Ok("http://127.0.0.1:9090/toss".to_owned()));
        for wrong in [
            "",
            "ftp://x",
            "api.tosspayments.com",
            "http://",
            "https:///v1",
            "http://a b",
            "http://:80",
            "http://127.0.0.1:99999",
            "http://[::1",
            "http://x?y=1",
        ] {
            assert!(http_url(wrong).is_err(), "{wrong}");
        }
    }
}
