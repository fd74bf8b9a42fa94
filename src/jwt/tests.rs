use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::Algorithm;
use secrecy::SecretString;
use serde_json::{Map, Value, json};

use super::{
    fixtures::{
        ED25519, ED25519_PUBLIC, P256, P256_PUBLIC, P384, P384_PUBLIC, RSA, RSA_1024_PUBLIC, RSA_PUBLIC,
        claims, rules, secret, token,
    },
    *,
};
use crate::types::clock;

/// What the HS256 checker says of claims changed by `change`.
async fn hs256(change: impl FnOnce(&mut Map<String, Value>)) -> Result<Claims, TokenError> {
    let checker = Checker::shared_secret(&secret(), rules()).unwrap();
    checker.check(&sign(&secret(), &claims(change)).unwrap()).await
}

fn set(name: &str, value: Value) -> impl FnOnce(&mut Map<String, Value>) {
    let name = name.to_owned();
    move |claims| drop(claims.insert(name, value))
}

fn without(name: &str) -> impl FnOnce(&mut Map<String, Value>) {
    let name = name.to_owned();
    move |claims| drop(claims.remove(&name))
}

fn encoded(part: &Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

#[tokio::test]
async fn a_valid_token_gives_its_claims_and_its_end() {
    let checked = hs256(|_| {}).await.unwrap();
    assert_eq!(checked.all["sub"], "alice");
    assert_eq!(json!(checked.expires_at.timestamp()), checked.all["exp"]);
}

#[tokio::test]
async fn the_audience_must_be_there_and_ours() {
    assert_eq!(hs256(without("aud")).await.unwrap_err(), TokenError::Claim("aud"));
    for foreign in [json!("other"), json!(["other", "another"]), json!([]), json!("paydesk ")] {
        assert_eq!(hs256(set("aud", foreign)).await.unwrap_err(), TokenError::Audience);
    }
    for unusable in [json!(null), json!(7), json!([7, "paydesk"]), json!({ "paydesk": true })] {
        assert_eq!(hs256(set("aud", unusable)).await.unwrap_err(), TokenError::Claim("aud"));
    }
    for ours in [json!("paydesk"), json!(["other", "paydesk"])] {
        assert!(hs256(set("aud", ours)).await.is_ok());
    }
}

#[tokio::test]
async fn the_issuer_must_be_there_and_ours() {
    for absent in [hs256(without("iss")).await, hs256(set("iss", json!(null))).await] {
        assert_eq!(absent.unwrap_err(), TokenError::Claim("iss"));
    }
    for foreign in [json!("https://evil.example.com"), json!(""), json!(["https://id.example.com"])] {
        assert_eq!(hs256(set("iss", foreign)).await.unwrap_err(), TokenError::Issuer);
    }
}

#[tokio::test]
async fn an_expiry_that_is_no_time_is_refused() {
    assert_eq!(hs256(without("exp")).await.unwrap_err(), TokenError::Claim("exp"));
    for unusable in
        [json!("never"), json!(1e30), json!(-1), json!(null), json!(true), json!(u64::MAX), json!([])]
    {
        let refused = hs256(set("exp", unusable.clone())).await;
        assert_eq!(refused.unwrap_err(), TokenError::Claim("exp"), "{unusable}");
    }
}

#[tokio::test]
async fn an_expired_token_is_refused_beyond_the_leeway() {
    let now = clock::now().timestamp();
    assert_eq!(hs256(set("exp", json!(now - 30))).await.unwrap_err(), TokenError::Expired);
    assert!(hs256(set("exp", json!(now - 1))).await.is_ok());
}

#[tokio::test]
async fn a_token_for_later_is_refused_beyond_the_leeway() {
    let now = clock::now().timestamp();
    assert_eq!(hs256(set("nbf", json!(now + 86_400))).await.unwrap_err(), TokenError::NotYetValid);
    assert!(hs256(set("nbf", json!(now + 2))).await.is_ok());
    for unusable in [json!("tomorrow"), json!(null), json!(-1), json!(1e30)] {
        assert_eq!(hs256(set("nbf", unusable)).await.unwrap_err(), TokenError::Claim("nbf"));
    }
}

#[tokio::test]
async fn an_unsigned_token_is_refused() {
    let checker = Checker::shared_secret(&secret(), rules()).unwrap();
    let payload = encoded(&Value::Object(claims(|_| {})));
    for algorithm in ["none", "None", "NONE", "", "HS1"] {
        let header = encoded(&json!({ "alg": algorithm, "typ": "JWT" }));
        for token in [format!("{header}.{payload}."), format!("{header}.{payload}")] {
            assert_eq!(checker.check(&token).await.unwrap_err(), TokenError::Malformed, "{algorithm}");
        }
    }
    let header = encoded(&json!({ "alg": "HS256", "typ": "JWT" }));
    assert_eq!(checker.check(&format!("{header}.{payload}.")).await.unwrap_err(), TokenError::Signature);
}

#[tokio::test]
async fn another_secret_or_a_changed_claim_breaks_the_signature() {
    let checker = Checker::shared_secret(&secret(), rules()).unwrap();
    let other = SecretString::from("another secret of more than 32 bytes");
    let forged = sign(&other, &claims(|_| {})).unwrap();
    assert_eq!(checker.check(&forged).await.unwrap_err(), TokenError::Signature);

    let honest = sign(&secret(), &claims(|_| {})).unwrap();
    let parts: Vec<&str> = honest.split('.').collect();
    let changed = encoded(&Value::Object(claims(set("sub", json!("mallory")))));
    let forged = format!("{}.{changed}.{}", parts[0], parts[2]);
    assert_eq!(checker.check(&forged).await.unwrap_err(), TokenError::Signature);
}

#[tokio::test]
async fn the_public_key_as_an_hmac_secret_is_refused() {
    let checker = Checker::public_key(RSA_PUBLIC, rules()).unwrap();
    for algorithm in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
        let forged = token(algorithm, RSA_PUBLIC, None);
        assert_eq!(checker.check(&forged).await.unwrap_err(), TokenError::Algorithm);
    }
}

#[tokio::test]
async fn a_public_key_fixes_the_algorithm() {
    let keys = [
        (Algorithm::RS256, RSA, RSA_PUBLIC),
        (Algorithm::ES256, P256, P256_PUBLIC),
        (Algorithm::EdDSA, ED25519, ED25519_PUBLIC),
    ];
    for (algorithm, _, public) in keys {
        let checker = Checker::public_key(public, rules()).unwrap();
        for (used, private, _) in keys {
            let checked = checker.check(&token(used, private, Some("ignored"))).await;
            assert_eq!(checked.err(), (used != algorithm).then_some(TokenError::Algorithm));
        }
        for other in [token(Algorithm::PS256, RSA, None), token(Algorithm::ES384, P384, None)] {
            assert_eq!(checker.check(&other).await.unwrap_err(), TokenError::Algorithm);
        }
    }
}

#[test]
fn only_a_strong_public_key_is_taken() {
    let refused = |pem| Checker::public_key(pem, rules()).unwrap_err();
    for private in [RSA, P256, ED25519] {
        assert_eq!(refused(private), KeyError::NotPublicPem);
    }
    assert_eq!(refused(b""), KeyError::NotPublicPem);
    assert_eq!(
        refused(b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"),
        KeyError::UnsupportedKey
    );
    assert_eq!(refused(P384_PUBLIC), KeyError::UnsupportedKey);
    assert_eq!(refused(RSA_1024_PUBLIC), KeyError::ShortRsaKey);
}

#[tokio::test]
async fn what_is_no_token_is_refused_without_a_word_of_it() {
    let checker = Checker::shared_secret(&secret(), rules()).unwrap();
    let nested = URL_SAFE_NO_PAD.encode("[".repeat(8_000));
    let header = encoded(&json!({ "alg": "HS256" }));
    let many_parts = "a.".repeat(5_000);
    let too_long = format!("{}x", sign(&secret(), &claims(set("pad", json!("x".repeat(20_000))))).unwrap());
    let hostile = [
        "",
        ".",
        "..",
        "...",
        "secret-text",
        "a.b.c",
        "한글.한글.한글",
        &many_parts,
        &format!("{header}.{nested}.AAAA"),
        &too_long,
    ];
    for text in hostile {
        let refused = checker.check(text).await.unwrap_err();
        assert!(matches!(refused, TokenError::Malformed | TokenError::Signature), "{refused}");
        assert!(!refused.to_string().contains("secret-text"));
    }
}
