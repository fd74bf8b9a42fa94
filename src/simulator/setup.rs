use std::{path::PathBuf, time::Duration};

/// Whom the simulated gateways take for their merchant, and with which keys. The defaults are the invented ones of
/// gateways.md; nothing of it is a secret.
#[derive(Debug, Clone)]
pub struct SimulatorSetup {
    /// Payverse's `mid`.
    pub payverse_mid: String,
    /// Payverse's client key.
    pub payverse_client_key: String,
    /// The key of Payverse's signatures.
    pub payverse_secret_key: String,
    /// Bootpay's application id.
    pub bootpay_application_id: String,
    /// Bootpay's private key.
    pub bootpay_private_key: String,
    /// Hecto's `mchtId`.
    pub hecto_merchant_id: String,
    /// The key of Hecto's hashes.
    pub hecto_license_key: String,
    /// The key of Hecto's encryption, of 32 bytes.
    pub hecto_aes_key: String,
    /// The app at Apple.
    pub apple_bundle_id: String,
    /// The app at Google.
    pub google_package_name: String,
    /// A file to write Apple's root certificate to, before anything is answered (PEM).
    pub apple_root: Option<PathBuf>,
    /// A file to write the key file of Google's service account to, before anything is answered (JSON).
    pub google_service_account: Option<PathBuf>,
    /// Where webhooks go: this and `/payverse` or `/hecto`. A purchase may name another address.
    pub webhook_url: Option<String>,
    /// How long a webhook that was not received well waits for its second try; doubles with each.
    pub webhook_retry: Duration,
}

impl Default for SimulatorSetup {
    fn default() -> Self {
        Self {
            payverse_mid: "SIM_KRW_01".to_owned(),
            payverse_client_key: "sim_client_key01".to_owned(),
            payverse_secret_key: "sim_secret_key01".to_owned(),
            bootpay_application_id: "sim_application_01".to_owned(),
            bootpay_private_key: "sim_private_key01".to_owned(),
            hecto_merchant_id: "sim_card_il".to_owned(),
            hecto_license_key: "SIMLICENSEKEY0001".to_owned(),
            hecto_aes_key: "simAes256KeySimAes256KeySimAes25".to_owned(),
            apple_bundle_id: "kr.sim.coin".to_owned(),
            google_package_name: "kr.sim.coin".to_owned(),
            apple_root: None,
            google_service_account: None,
            webhook_url: None,
            webhook_retry: Duration::from_secs(1),
        }
    }
}
