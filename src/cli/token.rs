//! `paydesk token`: a signed token for development and scripts.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use clap::Args;
use thiserror::Error;

use crate::{
    auth::{Role, SignError, issue},
    config::{SettingError, SigningConfig},
};

/// What `paydesk token` can be told.
#[derive(Debug, Clone, Args)]
pub struct TokenArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the help of the group")]
    pub signing: SigningConfig,

    /// A role to carry: ADMIN, OPERATOR or SERVICE; may be repeated
    #[arg(long = "role", required = true, value_parser = role, value_name = "ROLE")]
    pub roles: Vec<Role>,

    /// Whom the token is for (`sub`)
    #[arg(long, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub subject: String,

    /// The name to show for the subject
    #[arg(long)]
    pub name: Option<String>,

    /// How long the token is valid
    #[arg(long, default_value = "8h", value_parser = ttl)]
    pub ttl: Duration,
}

/// Why no token was printed.
#[derive(Debug, Error)]
pub enum TokenCommandError {
    /// A setting is missing or wrong.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Signing failed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// Standard output cannot be written to.
    #[error("cannot print the token: {0}")]
    Print(#[from] io::Error),
}

/// Prints a token, and nothing else, on standard output.
pub fn run(args: &TokenArgs) -> Result<(), TokenCommandError> {
    writeln!(io::stdout().lock(), "{}", signed(args)?)?;
    Ok(())
}

fn signed(args: &TokenArgs) -> Result<String, TokenCommandError> {
    args.signing.check()?;
    Ok(issue(&args.signing, &args.subject, args.name.as_deref(), &args.roles, args.ttl)?)
}

fn role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| "a role is ADMIN, OPERATOR or SERVICE".to_owned())
}

fn ttl(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(ttl) if ttl.as_secs() > 0 => Ok(ttl),
        Ok(_) => Err("it must be at least 1s".to_owned()),
        Err(error) => Err(format!("{error}; write a duration such as 30m or 8h")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    use clap::Parser;
    use serde_json::{Value, json};

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        args: TokenArgs,
    }

    const NAMES: [&str; 3] = ["token", "--jwt-issuer=https://id.example.com", "--jwt-audience=paydesk"];
    const SECRET: &str = "--jwt-hs256-secret=0123456789abcdef0123456789abcdef";

    fn parse(more: &[&str]) -> Result<TokenArgs, clap::Error> {
        Command::try_parse_from(NAMES.iter().chain(more)).map(|command| command.args)
    }

    fn claims(token: &str) -> Value {
        let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
        serde_json::from_slice(&payload).unwrap()
    }

    #[test]
    fn the_token_holds_what_was_asked_for() {
        let more = [SECRET, "--role=ADMIN", "--role=SERVICE", "--subject=alice", "--name=Alice", "--ttl=30m"];
        let mut args = parse(&more).unwrap();
        args.signing.jwt_roles_claim = "realm_access.roles".to_owned();
        let claims = claims(&signed(&args).unwrap());
        assert_eq!(claims["sub"], "alice");
        assert_eq!(claims["name"], "Alice");
        assert_eq!(claims["iss"], "https://id.example.com");
        assert_eq!(claims["aud"], "paydesk");
        assert_eq!(claims["realm_access"], json!({ "roles": ["ADMIN", "SERVICE"] }));
        assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 1800);
    }

    #[test]
    fn wrong_usage_is_refused_by_the_parser() {
        for more in [
            [SECRET, "--role=ROOT", "--subject=alice", "--ttl=8h"],
            [SECRET, "--role=ADMIN", "--subject=", "--ttl=8h"],
            [SECRET, "--role=ADMIN", "--subject=alice", "--ttl=0s"],
            [SECRET, "--role=ADMIN", "--subject=alice", "--ttl=soon"],
        ] {
            assert!(parse(&more).is_err(), "{more:?}");
        }
    }

    #[test]
    fn a_short_secret_is_a_wrong_setting_and_is_not_shown() {
        let args = parse(&["--jwt-hs256-secret=short-one", "--role=ADMIN", "--subject=alice"]).unwrap();
        let refused = signed(&args).unwrap_err();
        assert!(
            matches!(&refused, TokenCommandError::Setting(setting) if setting.variable == "PAYDESK_JWT_HS256_SECRET")
        );
        assert!(!refused.to_string().contains("short-one"));
    }
}
