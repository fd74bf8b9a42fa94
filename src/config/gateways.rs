use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use secrecy::{ExposeSecret, SecretString};

use super::{
    SettingError,
    value::{http_url, positive_duration, secret},
};

/// Toss Payments. Without its URL and key the gateway is off and its mutations answer `GATEWAY_UNAVAILABLE`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Gateways")]
pub struct TossConfig {
    /// Toss Payments' base URL, such as https://api.tosspayments.com
    #[arg(long, env = "PAYDESK_TOSS_URL", value_parser = http_url)]
    pub toss_url: Option<String>,

    /// Toss Payments' secret key (`live_sk_…` or `test_sk_…`)
    #[arg(long, env = "PAYDESK_TOSS_SECRET_KEY", hide_env_values = true, value_parser = secret)]
    pub toss_secret_key: Option<SecretString>,

    /// The card that registrations are paid with, as number:YY:MM:password:identity (the last two may be empty);
    /// without it the queue of registrations is not consumed
    #[arg(long, env = "PAYDESK_TOSS_TEST_CARD", hide_env_values = true, value_parser = secret)]
    pub toss_test_card: Option<SecretString>,

    /// How long one call to a payment provider may take in all (connecting: at most 3 s of it)
    #[arg(long, env = "PAYDESK_PROVIDER_TIMEOUT", default_value = "30s", value_parser = positive_duration)]
    pub provider_timeout: Duration,
}

/// The gateways that coins are bought at. Each is on when all its settings without a default are there.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Gateways")]
pub struct PurchaseConfig {
    /// Payverse's base URL, such as https://pay.payverseglobal.com
    #[arg(long, env = "PAYDESK_PAYVERSE_URL", value_parser = http_url)]
    pub payverse_url: Option<String>,

    /// Our merchant id at Payverse (`mid`)
    #[arg(long, env = "PAYDESK_PAYVERSE_MID")]
    pub payverse_mid: Option<String>,

    /// Our client key at Payverse, which its window is opened with
    #[arg(long, env = "PAYDESK_PAYVERSE_CLIENT_KEY")]
    pub payverse_client_key: Option<String>,

    /// The key that Payverse's signatures are made with
    #[arg(long, env = "PAYDESK_PAYVERSE_SECRET_KEY", hide_env_values = true, value_parser = secret)]
    pub payverse_secret_key: Option<SecretString>,

    /// Where Payverse is asked about a payment; `none` when it cannot be asked: then its signed notices are believed by
    /// themselves, and must be restricted to its addresses
    #[arg(long, env = "PAYDESK_PAYVERSE_LOOKUP_PATH", default_value = "/payment/inquiry")]
    pub payverse_lookup_path: String,

    /// Payverse's script that opens its window
    #[arg(
        long,
        env = "PAYDESK_PAYVERSE_WINDOW_URL",
        default_value = "https://ui.payverseglobal.com/js/payments.js"
    )]
    pub payverse_window_url: String,

    /// Bootpay's base URL, such as https://api.bootpay.co.kr/v2: the gateway behind `verify`
    #[arg(long, env = "PAYDESK_BOOTPAY_URL", value_parser = http_url)]
    pub bootpay_url: Option<String>,

    /// Our application id at Bootpay
    #[arg(long, env = "PAYDESK_BOOTPAY_APPLICATION_ID")]
    pub bootpay_application_id: Option<String>,

    /// Our private key at Bootpay
    #[arg(long, env = "PAYDESK_BOOTPAY_PRIVATE_KEY", hide_env_values = true, value_parser = secret)]
    pub bootpay_private_key: Option<SecretString>,

    /// Hecto's API base URL, such as https://gw.settlebank.co.kr
    #[arg(long, env = "PAYDESK_HECTO_URL", value_parser = http_url)]
    pub hecto_url: Option<String>,

    /// Our merchant id at Hecto (`mchtId`)
    #[arg(long, env = "PAYDESK_HECTO_MERCHANT_ID")]
    pub hecto_merchant_id: Option<String>,

    /// The key that Hecto's hashes are made with
    #[arg(long, env = "PAYDESK_HECTO_LICENSE_KEY", hide_env_values = true, value_parser = secret)]
    pub hecto_license_key: Option<SecretString>,

    /// The key of 32 bytes that Hecto's fields are encrypted with
    #[arg(long, env = "PAYDESK_HECTO_AES_KEY", hide_env_values = true, value_parser = secret)]
    pub hecto_aes_key: Option<SecretString>,

    /// Where Hecto is asked about a payment (the other name that it documents: /spay/APITrdcheck.do)
    #[arg(long, env = "PAYDESK_HECTO_LOOKUP_PATH", default_value = "/spay/APITrdStatInq.do")]
    pub hecto_lookup_path: String,

    /// The version that Hecto's lookup is called with
    #[arg(long, env = "PAYDESK_HECTO_LOOKUP_VERSION", default_value = "0A1M")]
    pub hecto_lookup_version: String,

    /// The order of the fields in the hash of Hecto's lookup; its documents disagree on whether `method` stands before
    /// `trdAmt`
    #[arg(
        long,
        env = "PAYDESK_HECTO_LOOKUP_HASH",
        default_value = "trdDt,trdTm,mchtId,mchtTrdNo,trdAmt",
        value_delimiter = ',',
        value_enum
    )]
    pub hecto_lookup_hash: Vec<HectoField>,

    /// The payment method that Hecto's window offers
    #[arg(long, env = "PAYDESK_HECTO_METHOD", default_value = "card")]
    pub hecto_method: String,

    /// Hecto's payment window
    #[arg(long, env = "PAYDESK_HECTO_WINDOW_URL", default_value = "https://npg.settlebank.co.kr")]
    pub hecto_window_url: String,

    /// A file with the root certificate (PEM or DER) that Apple's signed transactions must lead to: Apple Root CA - G3
    #[arg(long, env = "PAYDESK_APPLE_ROOT_CERT_FILE")]
    pub apple_root_cert_file: Option<PathBuf>,

    /// Our app's bundle id
    #[arg(long, env = "PAYDESK_APPLE_BUNDLE_ID")]
    pub apple_bundle_id: Option<String>,

    /// The environments whose purchases are accepted, separated by commas; App Review buys in the sandbox
    #[arg(
        long,
        env = "PAYDESK_APPLE_ENVIRONMENTS",
        default_value = "Production",
        value_delimiter = ',',
        value_enum
    )]
    pub apple_environments: Vec<AppleEnvironment>,

    /// Google Play's base URL: https://androidpublisher.googleapis.com
    #[arg(long, env = "PAYDESK_GOOGLE_URL", value_parser = http_url)]
    pub google_url: Option<String>,

    /// Where access tokens for Google Play are fetched; without it, as the service account says
    #[arg(long, env = "PAYDESK_GOOGLE_TOKEN_URL", value_parser = http_url)]
    pub google_token_url: Option<String>,

    /// The JSON file of the service account that may read and consume purchases
    #[arg(long, env = "PAYDESK_GOOGLE_SERVICE_ACCOUNT_FILE")]
    pub google_service_account_file: Option<PathBuf>,

    /// Our app's package name
    #[arg(long, env = "PAYDESK_GOOGLE_PACKAGE_NAME")]
    pub google_package_name: Option<String>,

    /// Accepts Bootpay's sandbox payments and Google's test purchases, for which no money moves: development only
    #[arg(long, env = "PAYDESK_ACCEPT_TEST_PURCHASES", default_value_t = false, action = clap::ArgAction::Set)]
    pub accept_test_purchases: bool,

    /// Where this server is reached from outside, such as https://pay.example.com: Payverse and Hecto are told to send
    /// their notices there; without it, to the address that is set at them
    #[arg(long, env = "PAYDESK_PUBLIC_URL", value_parser = http_url)]
    pub public_url: Option<String>,
}

/// A field that goes into a hash of Hecto's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "camelCase")]
pub enum HectoField {
    /// Date of the request
    TrdDt,
    /// Time of the request
    TrdTm,
    /// Our merchant id
    MchtId,
    /// Our order id
    MchtTrdNo,
    /// The method
    Method,
    /// The amount
    TrdAmt,
}

/// Where a purchase at Apple was made. Purchases of Xcode and of local tests are signed by nobody, and never accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum AppleEnvironment {
    /// Real money
    Production,
    /// Apple's sandbox
    Sandbox,
}

impl TossConfig {
    /// URL and key, or neither.
    pub fn check(&self) -> Result<(), SettingError> {
        whole(
            "Toss Payments",
            &[
                ("PAYDESK_TOSS_URL", is_text(self.toss_url.as_ref())),
                ("PAYDESK_TOSS_SECRET_KEY", is_secret(self.toss_secret_key.as_ref())),
            ],
        )
    }
}

impl PurchaseConfig {
    /// Each gateway's settings are there as a whole, or not at all.
    pub fn check(&self) -> Result<(), SettingError> {
        whole(
            "Payverse",
            &[
                ("PAYDESK_PAYVERSE_URL", is_text(self.payverse_url.as_ref())),
                ("PAYDESK_PAYVERSE_MID", is_text(self.payverse_mid.as_ref())),
                ("PAYDESK_PAYVERSE_CLIENT_KEY", is_text(self.payverse_client_key.as_ref())),
                ("PAYDESK_PAYVERSE_SECRET_KEY", is_secret(self.payverse_secret_key.as_ref())),
            ],
        )?;
        whole(
            "Bootpay",
            &[
                ("PAYDESK_BOOTPAY_URL", is_text(self.bootpay_url.as_ref())),
                ("PAYDESK_BOOTPAY_APPLICATION_ID", is_text(self.bootpay_application_id.as_ref())),
                ("PAYDESK_BOOTPAY_PRIVATE_KEY", is_secret(self.bootpay_private_key.as_ref())),
            ],
        )?;
        whole(
            "Hecto",
            &[
                ("PAYDESK_HECTO_URL", is_text(self.hecto_url.as_ref())),
                ("PAYDESK_HECTO_MERCHANT_ID", is_text(self.hecto_merchant_id.as_ref())),
                ("PAYDESK_HECTO_LICENSE_KEY", is_secret(self.hecto_license_key.as_ref())),
                ("PAYDESK_HECTO_AES_KEY", is_secret(self.hecto_aes_key.as_ref())),
            ],
        )?;
        whole(
            "Apple",
            &[
                ("PAYDESK_APPLE_ROOT_CERT_FILE", is_path(self.apple_root_cert_file.as_ref())),
                ("PAYDESK_APPLE_BUNDLE_ID", is_text(self.apple_bundle_id.as_ref())),
            ],
        )?;
        whole(
            "Google",
            &[
                ("PAYDESK_GOOGLE_URL", is_text(self.google_url.as_ref())),
                ("PAYDESK_GOOGLE_SERVICE_ACCOUNT_FILE", is_path(self.google_service_account_file.as_ref())),
                ("PAYDESK_GOOGLE_PACKAGE_NAME", is_text(self.google_package_name.as_ref())),
            ],
        )
    }
}

/// The value of a setting, unless it is missing or blank.
pub fn given(setting: Option<&String>) -> Option<&str> {
    setting.map(|text| text.trim()).filter(|text| !text.is_empty())
}

fn is_text(setting: Option<&String>) -> bool {
    given(setting).is_some()
}

fn is_secret(setting: Option<&SecretString>) -> bool {
    setting.is_some_and(|secret| !secret.expose_secret().trim().is_empty())
}

fn is_path(setting: Option<&PathBuf>) -> bool {
    setting.is_some_and(|path| !path.as_os_str().is_empty())
}

/// All of a gateway's settings are there, or none: half of them is a mistake, not a wish to have it off.
fn whole(gateway: &str, settings: &[(&'static str, bool)]) -> Result<(), SettingError> {
    let there = settings.iter().find(|(_, is_there)| *is_there);
    let missing = settings.iter().find(|(_, is_there)| !is_there);
    match (there, missing) {
        (Some((there, _)), Some((missing, _))) => Err(SettingError::new(
            missing,
            format!("it is missing, while {there} is set: {gateway} needs all of its settings, or none"),
        )),
        _ => Ok(()),
    }
}
