use std::{path::PathBuf, time::Duration};

use secrecy::SecretString;
use serde_json::json;

use super::*;
use crate::{
    auth::{Role, issue},
    config::SigningConfig,
    jwt,
    types::clock,
};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const HOUR: Duration = Duration::from_secs(3600);

fn settings() -> TokenConfig {
    TokenConfig {
        jwt_hs256_secret: Some(SecretString::from(SECRET)),
        jwt_public_key_file: None,
        jwt_jwks_url: None,
        jwt_issuer: "https://id.example.com".to_owned(),
        jwt_audience: "paydesk".to_owned(),
        jwt_roles_claim: "realm_access.roles".to_owned(),
        jwt_leeway: Duration::from_secs(5),
    }
}

fn signing() -> SigningConfig {
    SigningConfig {
        jwt_hs256_secret: SecretString::from(SECRET),
        jwt_issuer: "https://id.example.com".to_owned(),
        jwt_audience: "paydesk".to_owned(),
        jwt_roles_claim: "realm_access.roles".to_owned(),
    }
}

fn verifier(config: &TokenConfig) -> Result<TokenVerifier, SettingError> {
    TokenVerifier::new(config, HttpClient::new(Duration::from_secs(1), None).unwrap())
}

/// What is said of a token whose claims beside the required ones are `claims`.
async fn verified(claims: Value) -> Result<Principal, TokenError> {
    let exp = clock::now().timestamp() + 60;
    let mut all = json!({ "iss": "https://id.example.com", "aud": "paydesk", "exp": exp });
    all.as_object_mut().unwrap().extend(claims.as_object().cloned().unwrap());
    let token = jwt::sign(&SecretString::from(SECRET), all.as_object().unwrap()).unwrap();
    verifier(&settings()).unwrap().verify(&token).await
}

#[tokio::test]
async fn an_issued_token_is_verified_with_subject_name_roles_and_end() {
    let token = issue(&signing(), "alice", Some("Alice"), &[Role::Admin, Role::Service], HOUR).unwrap();
    let principal = verifier(&settings()).unwrap().verify(&token).await.unwrap();
    assert_eq!((principal.subject(), principal.name()), ("alice", Some("Alice")));
    assert_eq!(principal.roles(), [Role::Admin, Role::Service]);
    let left = principal.expires_at() - clock::now();
    assert!((3590..=3600).contains(&left.num_seconds()), "{left}");
}

#[tokio::test]
async fn the_proofs_follow_the_roles() {
    for (role, proofs) in [
        (json!("ADMIN"), [true, true, true]),
        (json!("OPERATOR"), [false, false, true]),
        (json!("SERVICE"), [false, true, false]),
        (json!("VISITOR"), [false, false, false]),
    ] {
        let principal = verified(json!({ "sub": "a", "realm_access": { "roles": role } })).await.unwrap();
        let given =
            [principal.admin().is_some(), principal.service().is_some(), principal.reader().is_some()];
        assert_eq!(given, proofs);
    }
}

#[tokio::test]
async fn the_subject_must_be_there_and_storable() {
    for unusable in [
        json!({}),
        json!({ "sub": null }),
        json!({ "sub": 7 }),
        json!({ "sub": "" }),
        json!({ "sub": "  " }),
        json!({ "sub": "a\u{0}b" }),
        json!({ "sub": "line\nbreak" }),
        json!({ "sub": "가".repeat(256) }),
    ] {
        assert_eq!(verified(unusable).await.unwrap_err(), TokenError::Claim("sub"));
    }
    assert!(verified(json!({ "sub": "가".repeat(255) })).await.is_ok());
}

#[tokio::test]
async fn a_strange_name_is_left_out_or_cut() {
    for nameless in
        [json!({ "sub": "a" }), json!({ "sub": "a", "name": 7 }), json!({ "sub": "a", "name": " " })]
    {
        assert_eq!(verified(nameless).await.unwrap().name(), None);
    }
    let long = verified(json!({ "sub": "a", "name": "나".repeat(300) })).await.unwrap();
    assert_eq!(long.name(), Some("나".repeat(85).as_str()));
}

#[test]
fn a_wrong_key_setting_is_told_by_its_variable() {
    let variable = |change: fn(&mut TokenConfig)| {
        let mut config = settings();
        change(&mut config);
        verifier(&config).map(|_| ()).unwrap_err().variable
    };
    assert_eq!(variable(|c| c.jwt_hs256_secret = None), "PAYDESK_JWT_HS256_SECRET");
    assert_eq!(variable(|c| c.jwt_hs256_secret = Some("short".into())), "PAYDESK_JWT_HS256_SECRET");
    assert_eq!(variable(|c| c.jwt_jwks_url = Some("https://a".into())), "PAYDESK_JWT_HS256_SECRET");
    assert_eq!(variable(|c| c.jwt_issuer.clear()), "PAYDESK_JWT_ISSUER");
    assert_eq!(variable(|c| c.jwt_audience.clear()), "PAYDESK_JWT_AUDIENCE");
    assert_eq!(variable(|c| c.jwt_leeway = HOUR), "PAYDESK_JWT_LEEWAY");
    for path in ["", "a..b", "sub", "aud.roles"] {
        let config = TokenConfig { jwt_roles_claim: path.to_owned(), ..settings() };
        assert_eq!(verifier(&config).map(|_| ()).unwrap_err().variable, "PAYDESK_JWT_ROLES_CLAIM");
    }
}

#[tokio::test]
async fn a_key_file_is_read_and_a_wrong_one_is_told() {
    let with_file = |path: &str| {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/keys").join(path);
        verifier(&TokenConfig { jwt_hs256_secret: None, jwt_public_key_file: Some(file), ..settings() })
    };
    let verifier = with_file("rsa.pub.pem").unwrap();
    let shared = issue(&signing(), "alice", None, &[Role::Admin], HOUR).unwrap();
    assert_eq!(verifier.verify(&shared).await.unwrap_err(), TokenError::Algorithm);
    for wrong in ["rsa.pem", "p384.pub.pem", "missing.pem"] {
        assert_eq!(with_file(wrong).map(|_| ()).unwrap_err().variable, "PAYDESK_JWT_PUBLIC_KEY_FILE");
    }
}

#[test]
fn a_jwks_address_must_be_http() {
    let with_url = |url: &str| {
        verifier(&TokenConfig { jwt_hs256_secret: None, jwt_jwks_url: Some(url.to_owned()), ..settings() })
    };
    assert!(with_url("https://id.example.com/keys").is_ok());
    for wrong in ["", "ftp://id.example.com", "id.example.com/keys"] {
        assert_eq!(with_url(wrong).map(|_| ()).unwrap_err().variable, "PAYDESK_JWT_JWKS_URL");
    }
}

#[test]
fn the_scheme_is_read_in_any_case_and_only_one_token_is_taken() {
    for header in ["Bearer a.b.c", "bearer a.b.c", "BEARER   a.b.c ", " Bearer a.b.c"] {
        assert_eq!(bearer(header), Some("a.b.c"), "{header:?}");
    }
    for header in ["", "Bearer", "Bearer ", "Basic a.b.c", "Bearer a.b.c d", "a.b.c", "Bearera.b.c"] {
        assert_eq!(bearer(header), None, "{header:?}");
    }
}
