//! The certificates that come with a signature, and the root that they must lead to.

use std::{fmt, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls::pki_types::{
    CertificateDer, SignatureVerificationAlgorithm, TrustAnchor, UnixTime, pem::PemObject,
};
use webpki::{EndEntityCert, ExtendedKeyUsageValidator, KeyPurposeIdIter, aws_lc_rs as algorithms};
use x509_parser::{
    oid_registry::Oid,
    prelude::{FromDer, X509Certificate},
};

/// Marks the certificates that sign receipts and transactions.
const LEAF_MARKER: [u64; 8] = [1, 2, 840, 113_635, 100, 6, 11, 1];
/// Marks the intermediate that issues them (Apple Worldwide Developer Relations).
const INTERMEDIATE_MARKER: [u64; 8] = [1, 2, 840, 113_635, 100, 6, 2, 1];

/// What certificates may be signed with. Apple's are on P-384 with SHA-384.
const ALGORITHMS: &[&dyn SignatureVerificationAlgorithm] =
    &[algorithms::ECDSA_P384_SHA384, algorithms::ECDSA_P256_SHA256];

/// The trusted roots.
#[derive(Clone)]
pub(super) struct Roots(Arc<[TrustAnchor<'static>]>);

/// Apple's certificates name no extended key usage; the markers say what they are for.
struct AnyUsage;

impl ExtendedKeyUsageValidator for AnyUsage {
    fn validate(&self, _usages: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
        Ok(())
    }
}

impl Roots {
    /// The certificates in a file, PEM or DER; none if it holds none, or one that is unreadable.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let pem: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(bytes).collect::<Result<_, _>>().ok()?;
        let certificates = if pem.is_empty() { vec![CertificateDer::from(bytes.to_vec())] } else { pem };
        let anchor = |certificate: &CertificateDer<'static>| {
            webpki::anchor_from_trusted_cert(certificate).ok().map(|anchor| anchor.to_owned())
        };
        let anchors: Option<Vec<_>> = certificates.iter().map(anchor).collect();
        anchors.map(|anchors| Self(anchors.into()))
    }

    /// The leaf's public key, if leaf and intermediate are Apple's kind and lead to a root of ours, at the time of
    /// signing (in milliseconds). The third certificate, which is the sender's root, is not even looked at.
    pub(super) fn leaf_key(&self, x5c: &[String], signed_at: i64) -> Result<Vec<u8>, &'static str> {
        let [leaf, intermediate, _their_root] = x5c else {
            return Err("it does not come with exactly three certificates");
        };
        let decode = |text: &String| {
            STANDARD.decode(text).map(CertificateDer::from).map_err(|_odd| "its certificates cannot be read")
        };
        let (leaf, intermediate) = (decode(leaf)?, decode(intermediate)?);
        self.check_path(&leaf, &intermediate, signed_at)?;
        let (_, leaf) = X509Certificate::from_der(&leaf).map_err(|_odd| "its leaf cannot be read")?;
        let (_, intermediate) =
            X509Certificate::from_der(&intermediate).map_err(|_odd| "its intermediate cannot be read")?;
        if !is_marked(&leaf, &LEAF_MARKER) {
            return Err("its leaf is not marked as one that signs transactions");
        }
        if !is_marked(&intermediate, &INTERMEDIATE_MARKER) {
            return Err("its intermediate is not marked as Apple's");
        }
        Ok(leaf.public_key().subject_public_key.data.to_vec())
    }

    /// Signatures, issuers, validity, basic constraints: leaf, that intermediate, our root.
    fn check_path(
        &self,
        leaf: &CertificateDer<'_>,
        intermediate: &CertificateDer<'_>,
        signed_at: i64,
    ) -> Result<(), &'static str> {
        let at = u64::try_from(signed_at).map_err(|_negative| "it was signed at no time")?;
        let at = UnixTime::since_unix_epoch(Duration::from_millis(at));
        let leaf = EndEntityCert::try_from(leaf).map_err(|_odd| "its leaf cannot be read")?;
        let intermediates = [intermediate.clone()];
        let path = leaf
            .verify_for_usage(ALGORITHMS, &self.0, &intermediates, at, AnyUsage, None, None)
            .map_err(|error| match error {
                webpki::Error::CertExpired { .. } | webpki::Error::CertNotValidYet { .. } => {
                    "its certificates were not valid when it was signed"
                }
                _ => "its certificates do not lead to the trusted root",
            })?;
        // A leaf that the root itself has issued would leave the intermediate, and its marker, unproven.
        if path.intermediate_certificates().count() == 1 {
            Ok(())
        } else {
            Err("its leaf was not issued by its intermediate")
        }
    }
}

fn is_marked(certificate: &X509Certificate<'_>, marker: &[u64]) -> bool {
    let Ok(marker) = Oid::from(marker) else { return false };
    certificate.extensions().iter().any(|extension| extension.oid == marker)
}

impl fmt::Debug for Roots {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Roots({})", self.0.len())
    }
}
