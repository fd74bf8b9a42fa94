//! Apple, simulated (gateways.md §5): a root of its own, and transactions signed under it, honestly or not.

use std::fmt;

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType, IsCa, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, date_time_ymd,
};
use serde_json::{Value, json};

use super::{
    sales::{Sale, Standing},
    setup::SimulatorSetup,
};
use crate::types::clock;

/// The gateway's name in `/_control/…`. Nobody calls it, so it has no operations.
pub(super) const GATEWAY: &str = "apple";

const LEAF_MARKER: &[u64] = &[1, 2, 840, 113_635, 100, 6, 11, 1];
const INTERMEDIATE_MARKER: &[u64] = &[1, 2, 840, 113_635, 100, 6, 2, 1];
/// The value of a marker extension: ASN.1 NULL.
const NULL: [u8; 2] = [5, 0];

/// Everything that `forge` can ask of a signed transaction.
pub(super) const FORGERIES: [&str; 12] = [
    "root",
    "swapped-root",
    "no-intermediate",
    "leaf-marker",
    "intermediate-marker",
    "expired",
    "algorithm",
    "none",
    "short-chain",
    "long-chain",
    "payload",
    "signature",
];

/// The root that signs everything honest.
pub(super) struct Root(CertifiedIssuer<'static, KeyPair>);

/// Certificates, leaf first, and the leaf's key.
struct Chain {
    certificates: Vec<Vec<u8>>,
    key: KeyPair,
}

impl Root {
    pub(super) fn generate() -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384)?;
        CertifiedIssuer::self_signed(authority("Simulated Root CA - G3", None), key).map(Self)
    }

    /// For the setting that names the trusted root.
    pub(super) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A signed transaction, forged as the purchase says.
    pub(super) fn sign(&self, setup: &SimulatorSetup, sale: &Sale) -> Result<String, rcgen::Error> {
        let chain = self.chain(sale)?;
        let algorithm = match sale.forge.as_deref() {
            Some("algorithm") => "ES384",
            Some("none") => "none",
            _ => "ES256",
        };
        let x5c: Vec<String> = chain.certificates.iter().map(|der| STANDARD.encode(der)).collect();
        let payload = payload(setup, sale);
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = encode(&json!({ "alg": algorithm, "x5c": x5c }));
        let message = format!("{header}.{}", encode(&payload));
        let mut signature = sign(&chain.key, message.as_bytes()).ok_or(rcgen::Error::RemoteKeyError)?;
        match sale.forge.as_deref() {
            Some("none") => Ok(format!("{message}.")),
            Some("payload") => {
                let mut changed = payload;
                changed["productId"] = json!("coin_100000");
                Ok(format!("{header}.{}.{}", encode(&changed), URL_SAFE_NO_PAD.encode(signature)))
            }
            Some("signature") => {
                signature.reverse();
                Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
            }
            _ => Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))),
        }
    }

    fn chain(&self, sale: &Sale) -> Result<Chain, rcgen::Error> {
        let forged = |what: &str| sale.is_forged(what);
        let foreign = if forged("root") || forged("swapped-root") { Some(Self::generate()?) } else { None };
        let root = &foreign.as_ref().unwrap_or(self).0;
        let marker = (!forged("intermediate-marker")).then_some(INTERMEDIATE_MARKER);
        let intermediate = CertifiedIssuer::signed_by(
            authority("Simulated Developer Relations CA", marker),
            KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384)?,
            root,
        )?;
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let params = leaf(!forged("leaf-marker"), forged("expired"));
        let leaf = if forged("no-intermediate") {
            params.signed_by(&key, root)?
        } else {
            params.signed_by(&key, &intermediate)?
        };
        let shown_root = if forged("swapped-root") { &self.0 } else { root };
        let mut certificates =
            vec![leaf.der().to_vec(), intermediate.der().to_vec(), shown_root.der().to_vec()];
        if forged("short-chain") {
            certificates.pop();
        }
        if forged("long-chain") {
            certificates.push(shown_root.der().to_vec());
        }
        Ok(Chain { certificates, key })
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Root")
    }
}

fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.use_authority_key_identifier_extension = true;
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2050, 1, 1);
    params
}

fn authority(name: &str, marker: Option<&[u64]>) -> CertificateParams {
    let mut params = params(name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.custom_extensions.extend(marker.map(mark));
    params
}

fn leaf(marked: bool, expired: bool) -> CertificateParams {
    let mut params = params("Simulated Receipt Signing");
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    if marked {
        params.custom_extensions.push(mark(LEAF_MARKER));
    }
    if expired {
        params.not_after = date_time_ymd(2021, 1, 1);
    }
    params
}

fn mark(oid: &[u64]) -> CustomExtension {
    CustomExtension::from_oid_content(oid, NULL.to_vec())
}

/// Raw `r || s`, as a JWS wants it.
fn sign(key: &KeyPair, message: &[u8]) -> Option<Vec<u8>> {
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.serialized_der()).ok()?;
    pair.sign(&SystemRandom::new(), message).ok().map(|signature| signature.as_ref().to_vec())
}

fn payload(setup: &SimulatorSetup, sale: &Sale) -> Value {
    let now = clock::now().timestamp_millis();
    let environment = if sale.sandbox { "Sandbox" } else { "Production" };
    let mut payload = json!({
        "transactionId": sale.transaction_id,
        "originalTransactionId": sale.store_order_id.as_ref().unwrap_or(&sale.transaction_id),
        "bundleId": sale.app.as_deref().unwrap_or(&setup.apple_bundle_id),
        "productId": sale.sku,
        "purchaseDate": now - 5_000,
        "originalPurchaseDate": now - 5_000,
        "quantity": sale.quantity.unwrap_or(1),
        "type": sale.kind.as_deref().unwrap_or("Consumable"),
        "inAppOwnershipType": sale.ownership.as_deref().unwrap_or("PURCHASED"),
        "signedDate": now,
        "environment": sale.environment.as_deref().unwrap_or(environment),
        "transactionReason": "PURCHASE",
        "storefront": "KOR",
        "storefrontId": "143466",
        "price": sale.won().saturating_mul(1_000),
        "currency": sale.currency(),
    });
    let revoked = (sale.status == Standing::Cancelled).then(|| json!(now));
    let optional = [
        ("appAccountToken", sale.account_token.as_ref().map(|token| json!(token))),
        ("revocationDate", revoked),
    ];
    if let Some(payload) = payload.as_object_mut() {
        payload.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
    payload
}
