//! A setting that is missing or wrong is one line that names it, and exit code 2.

use std::process::{Command, Output};

const GOOD: [(&str, &str); 5] = [
    ("DATABASE_URL", "postgres://paydesk:hunter2@127.0.0.1:1/paydesk"),
    ("AMQP_URL", "amqp://guest:hunter2@127.0.0.1:1"),
    ("PAYDESK_JWT_HS256_SECRET", "hunter2-hunter2-hunter2-hunter2-hunter2"),
    ("PAYDESK_JWT_ISSUER", "paydesk-tests"),
    ("PAYDESK_JWT_AUDIENCE", "paydesk"),
];

/// `paydesk serve` with working settings but these; it does not get as far as listening.
fn serve(settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_paydesk"));
    command.env_clear().arg("serve").envs(GOOD).envs(settings.iter().copied()).output().unwrap()
}

fn refusal(settings: &[(&str, &str)]) -> String {
    let output = serve(settings);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{settings:?}: {told}");
    assert_eq!(told.lines().count(), 1, "{settings:?}: {told}");
    assert!(!told.contains("hunter2"), "{told}");
    told
}

/// A file that a setting may point at.
fn file(content: &str) -> String {
    let path = std::env::temp_dir().join(format!("paydesk-settings-{}", uuid::Uuid::now_v7()));
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_is_required_and_missing_is_named_whether_it_is_unset_or_empty() {
    for (variable, _) in GOOD.into_iter().filter(|(variable, _)| *variable != "PAYDESK_JWT_HS256_SECRET") {
        let told = refusal(&[(variable, "")]);
        assert!(told.contains(variable) && told.contains("is not set"), "{told}");
    }
}

#[test]
fn an_empty_variable_is_an_unset_one() {
    // It goes on to the database, which is not there.
    let output = serve(&[
        ("PAYDESK_JWT_JWKS_URL", ""),
        ("PAYDESK_TLS_CA_FILE", ""),
        ("PAYDESK_TOSS_URL", ""),
        ("PAYDESK_TOSS_SECRET_KEY", ""),
        ("PAYDESK_DB_POOL_SIZE", ""),
        ("PAYDESK_LOG", ""),
        ("PAYDESK_WORKERS", ""),
        ("PAYDESK_OUTBOX_STUCK_AFTER", ""),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", ""),
    ]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("connect"), "{told}");
}

#[test]
fn a_wrong_value_is_told_with_its_variable_and_what_would_do() {
    let no_certificate = file("not a certificate");
    let long = "x".repeat(201);
    for (variable, value, hint) in [
        ("DATABASE_URL", "mysql://paydesk:hunter2@db/paydesk", "postgres://"),
        ("DATABASE_URL", "postgres://paydesk:hunter2@db/paydesk?sslmode=maybe", "sslmode"),
        ("DATABASE_URL", "dbname=hunter2", "names no host"),
        ("AMQP_URL", "http://guest:hunter2@broker", "amqp://"),
        ("PAYDESK_TLS_CA_FILE", "/nowhere.pem", "cannot be read"),
        ("PAYDESK_TLS_CA_FILE", &no_certificate, "no certificate"),
        ("PAYDESK_TOSS_URL", "ftp://toss", "https://"),
        ("PAYDESK_TOSS_URL", "https://toss", "PAYDESK_TOSS_SECRET_KEY"),
        ("PAYDESK_JWT_JWKS_URL", "id.example.com/keys", "https://"),
        ("PAYDESK_JWT_JWKS_URL", "https://id.example.com/keys", "exactly one"),
        ("PAYDESK_JWT_HS256_SECRET", "hunter2", "32 bytes"),
        ("PAYDESK_JWT_LEEWAY", "1h", "at most 5m"),
        ("PAYDESK_AMQP_PREFIX", &long, "200 bytes"),
        ("PAYDESK_AMQP_QUEUE_TYPE", "stream", "quorum, classic"),
        ("PAYDESK_LOG_FORMAT", "xml", "text, json"),
        ("PAYDESK_LOG", "loud", "level"),
        ("PAYDESK_WORKERS", "maybe", "true, false"),
        ("PAYDESK_GRAPHQL_INTROSPECTION", "1", "true, false"),
        ("PAYDESK_LISTEN", "8080", "socket address"),
        ("PAYDESK_DB_POOL_SIZE", "0", "from 1 to 1000; its default is 16"),
        ("PAYDESK_OUTBOX_WINDOW", "abc", "write a whole number from 1 to 65535; its default is 1024"),
        ("PAYDESK_PROVIDER_TIMEOUT", "30", "such as"),
        ("PAYDESK_CHARGE_JOB_BACKOFF", "5m,later", "its default is 5m,10m,15m"),
        ("PAYDESK_OUTBOX_STUCK_AFTER", "1000000000d", "36500d"),
        ("PAYDESK_OUTBOX_CLEANUP_AT", "3 am", "03:00"),
        ("PAYDESK_OUTBOX_CLEANUP_TIMEZONE", "Seoul", "Asia/Seoul"),
        ("PAYDESK_OUTBOX_STUCK_AFTER", "5s", "PAYDESK_OUTBOX_CONFIRM_TIMEOUT"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", "http://"),
    ] {
        let told = refusal(&[(variable, value)]);
        assert!(told.contains(variable) && told.contains(hint), "{variable}={value}: {told}");
        assert_eq!(told.matches(variable).count(), 1, "{told}");
    }
    std::fs::remove_file(no_certificate).unwrap();
}

#[test]
fn half_of_a_gateways_settings_is_told_with_the_one_that_is_missing() {
    let payverse = [
        ("PAYDESK_PAYVERSE_URL", "https://pay"),
        ("PAYDESK_PAYVERSE_MID", "mid"),
        ("PAYDESK_PAYVERSE_CLIENT_KEY", "client"),
        ("PAYDESK_PAYVERSE_SECRET_KEY", "hunter2"),
    ];
    let bootpay = [
        ("PAYDESK_BOOTPAY_URL", "https://pay"),
        ("PAYDESK_BOOTPAY_APPLICATION_ID", "application"),
        ("PAYDESK_BOOTPAY_PRIVATE_KEY", "hunter2"),
    ];
    let hecto = [
        ("PAYDESK_HECTO_URL", "https://pay"),
        ("PAYDESK_HECTO_MERCHANT_ID", "merchant"),
        ("PAYDESK_HECTO_LICENSE_KEY", "hunter2"),
        ("PAYDESK_HECTO_AES_KEY", "hunter2-hunter2-hunter2-hunter2-"),
    ];
    let apple = [("PAYDESK_APPLE_ROOT_CERT_FILE", "/root.pem"), ("PAYDESK_APPLE_BUNDLE_ID", "app")];
    let google = [
        ("PAYDESK_GOOGLE_URL", "https://pay"),
        ("PAYDESK_GOOGLE_SERVICE_ACCOUNT_FILE", "/account.json"),
        ("PAYDESK_GOOGLE_PACKAGE_NAME", "app"),
    ];
    for settings in [&payverse[..], &bootpay, &hecto, &apple, &google] {
        for (missing, _) in settings {
            for nothing in ["", " "] {
                let but_one: Vec<_> = settings
                    .iter()
                    .map(|(variable, value)| (*variable, if variable == missing { nothing } else { *value }))
                    .collect();
                // A blank address or file is a wrong one, which is told otherwise.
                if nothing == " " && (missing.ends_with("_URL") || missing.ends_with("_FILE")) {
                    continue;
                }
                let told = refusal(&but_one);
                assert!(told.contains(&format!("{missing}: ")) && told.contains("missing"), "{told}");
            }
        }
    }
}

#[test]
fn a_gateways_setting_that_cannot_be_worked_with_is_told() {
    let (no_certificate, no_account) = (file("no certificate"), file(r#"{"private_key": "hunter2"}"#));
    let apple = |path: &str| {
        [("PAYDESK_APPLE_ROOT_CERT_FILE", path.to_owned()), ("PAYDESK_APPLE_BUNDLE_ID", "app".into())]
    };
    let google = |path: &str| {
        [
            ("PAYDESK_GOOGLE_URL", "https://pay".to_owned()),
            ("PAYDESK_GOOGLE_SERVICE_ACCOUNT_FILE", path.to_owned()),
            ("PAYDESK_GOOGLE_PACKAGE_NAME", "app".to_owned()),
        ]
    };
    let hecto = [
        ("PAYDESK_HECTO_URL", "https://pay"),
        ("PAYDESK_HECTO_MERCHANT_ID", "merchant"),
        ("PAYDESK_HECTO_LICENSE_KEY", "hunter2"),
        ("PAYDESK_HECTO_AES_KEY", "hunter2"),
    ]
    .map(|(variable, value)| (variable, value.to_owned()));
    let cases = [
        (apple("/nowhere.pem").to_vec(), "PAYDESK_APPLE_ROOT_CERT_FILE", "cannot be read"),
        (apple(&no_certificate).to_vec(), "PAYDESK_APPLE_ROOT_CERT_FILE", "no certificate"),
        (google("/nowhere.json").to_vec(), "PAYDESK_GOOGLE_SERVICE_ACCOUNT_FILE", "cannot be read"),
        (google(&no_account).to_vec(), "PAYDESK_GOOGLE_SERVICE_ACCOUNT_FILE", "client_email"),
        (hecto.to_vec(), "PAYDESK_HECTO_AES_KEY", "32 bytes"),
        (
            vec![("PAYDESK_APPLE_ENVIRONMENTS", "Xcode".to_owned())],
            "PAYDESK_APPLE_ENVIRONMENTS",
            "Production",
        ),
        (
            vec![("PAYDESK_HECTO_LOOKUP_HASH", "trdDt,amount".to_owned())],
            "PAYDESK_HECTO_LOOKUP_HASH",
            "trdAmt",
        ),
    ];
    for (settings, variable, hint) in cases {
        let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let told = refusal(&settings);
        assert!(told.contains(variable) && told.contains(hint), "{told}");
    }
    for path in [no_certificate, no_account] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    for arguments in ["--help", "serve --help", "schema"] {
        let program = format!("'{}' {arguments} | head -1", env!("CARGO_BIN_EXE_paydesk"));
        let output = Command::new("bash").args(["-o", "pipefail", "-c", &program]).output().unwrap();
        assert!(output.status.success(), "{arguments}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments}");
    }
}
