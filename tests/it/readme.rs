//! The README tells the truth about the settings and metrics.

use std::{collections::BTreeSet, process::Command};

const README: &str = include_str!("../../README.md");

/// Words in `text` that look like environment variables of ours.
fn variables(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
    let ours = |word: &&str| {
        word.starts_with("PAYDESK_")
            || word.starts_with("OTEL_")
            || ["DATABASE_URL", "AMQP_URL"].contains(word)
    };
    words.filter(ours).map(str::to_owned).collect()
}

fn help(command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_paydesk")).args([command, "--help"]).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// The README's table of settings: variable and default.
fn table() -> Vec<(String, String)> {
    let cells = |line: &str| {
        let mut cells =
            line.strip_prefix("| `")?.splitn(4, '|').map(|cell| cell.trim().trim_matches('`').to_owned());
        let (variable, default) = (cells.next()?, cells.next()?);
        variables(&variable).contains(&variable).then_some((variable, default))
    };
    README.lines().filter_map(cells).collect()
}

#[test]
fn every_setting_of_serve_is_in_the_readme_and_no_other() {
    let told: BTreeSet<_> = help("serve")
        .lines()
        .filter_map(|line| line.trim().strip_prefix("[env: "))
        .flat_map(variables)
        .collect();
    assert!(told.len() > 30, "{told:?}");
    assert_eq!(table().into_iter().map(|(variable, _)| variable).collect::<BTreeSet<_>>(), told);
    let mentioned = variables(README);
    assert_eq!(
        mentioned.difference(&told).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "the README names settings that are none"
    );
}

#[test]
fn the_readmes_defaults_are_the_real_ones() {
    let help = help("serve");
    let mut wrong = Vec::new();
    for (variable, default) in table() {
        let after = help.split_once(&format!("[env: {variable}")).unwrap().1;
        // Up to the next setting.
        let own = after.split("\n      --").next().unwrap();
        let real =
            own.split_once("[default: ").and_then(|(_, rest)| rest.split_once(']')).map(|(value, _)| value);
        if real.is_some_and(|real| real != default && !(real == "\"\"" && default == "–")) {
            wrong.push(format!("{variable}: {default} in the README, {} in fact", real.unwrap_or_default()));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_metric_is_in_the_readme_and_no_other() {
    let names = |text: &str| {
        let words = text.split(|c: char| !(c.is_ascii_lowercase() || c == '_'));
        words.filter(|word| word.starts_with("paydesk_")).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert_eq!(names(README), names(include_str!("../../src/telemetry/names.rs")));
}
