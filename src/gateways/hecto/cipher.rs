use std::{fmt, sync::Arc};

use aws_lc_rs::cipher::{
    AES_256, DecryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey, UnboundCipherKey,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use secrecy::{ExposeSecret, SecretString};

/// AES-256/ECB/PKCS#5 in Base64, as Hecto demands it. It hides amounts from a glance, no more: equal texts stay equal.
#[derive(Clone)]
pub(super) struct Cipher(Arc<Keys>);

struct Keys {
    encrypting: PaddedBlockEncryptingKey,
    decrypting: PaddedBlockDecryptingKey,
}

impl Cipher {
    /// None unless the key has 32 bytes.
    pub(super) fn new(key: &SecretString) -> Option<Self> {
        let key = || UnboundCipherKey::new(&AES_256, key.expose_secret().trim().as_bytes()).ok();
        let encrypting = PaddedBlockEncryptingKey::ecb_pkcs7(key()?).ok()?;
        let decrypting = PaddedBlockDecryptingKey::ecb_pkcs7(key()?).ok()?;
        Some(Self(Arc::new(Keys { encrypting, decrypting })))
    }

    pub(super) fn encrypt(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        // With a key of the right length it cannot fail; the hash would not fit an empty field.
        match self.0.encrypting.encrypt(&mut bytes) {
            Ok(_context) => STANDARD.encode(bytes),
            Err(_never) => String::new(),
        }
    }

    /// None for what was not encrypted with this key.
    pub(super) fn decrypt(&self, text: &str) -> Option<String> {
        let mut bytes = STANDARD.decode(text.trim()).ok().filter(|bytes| !bytes.is_empty())?;
        let plain = self.0.decrypting.decrypt(&mut bytes, DecryptionContext::None).ok()?;
        String::from_utf8(plain.to_vec()).ok()
    }
}

impl fmt::Debug for Cipher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Cipher")
    }
}
