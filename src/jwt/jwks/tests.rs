use std::sync::{
    Mutex as StdMutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Json, Router, extract::State, http::StatusCode, routing::get};
use jsonwebtoken::Algorithm;
use serde_json::json;
use tokio::net::TcpListener;

use super::*;
use crate::jwt::{
    Checker, Keys,
    fixtures::{ED25519, P256, P384, RSA, RSA_PUBLIC, published, rules, token},
};

/// An identity provider whose key set can be changed, withheld and slowed down.
#[derive(Default)]
struct Provider {
    keys: StdMutex<Value>,
    away: StdMutex<bool>,
    delay: StdMutex<Duration>,
    fetches: AtomicUsize,
}

impl Provider {
    fn publish(&self, keys: Vec<Jwk>) {
        *self.keys.lock().unwrap() = json!({ "keys": keys });
    }

    fn set_away(&self, away: bool) {
        *self.away.lock().unwrap() = away;
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }

    async fn answer(State(provider): State<Arc<Self>>) -> (StatusCode, Json<Value>) {
        provider.fetches.fetch_add(1, Ordering::SeqCst);
        let delay = *provider.delay.lock().unwrap();
        tokio::time::sleep(delay).await;
        let status = if *provider.away.lock().unwrap() { StatusCode::BAD_GATEWAY } else { StatusCode::OK };
        (status, Json(provider.keys.lock().unwrap().clone()))
    }

    #[expect(clippy::disallowed_methods, reason = "the provider lives as long as the test's runtime")]
    fn serve(self: &Arc<Self>, listener: TcpListener) {
        let app = Router::new().route("/keys", get(Self::answer)).with_state(Arc::clone(self));
        tokio::spawn(async move { axum::serve(listener, app).await });
    }

    async fn start() -> (Arc<Self>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        let provider = Arc::new(Self::default());
        provider.serve(listener);
        (provider, url)
    }
}

const HOUR: Duration = Duration::from_secs(3600);

fn policy(pause: Duration, max_age: Duration) -> RefreshPolicy {
    RefreshPolicy { pause: Backoff { base: pause, cap: pause }, max_age }
}

fn checker(url: &str, policy: RefreshPolicy) -> Checker {
    let http = HttpClient::new(Duration::from_secs(5), None).unwrap();
    Checker { keys: Keys::Remote(Jwks::new(url, http, policy).unwrap()), rules: rules() }
}

fn rsa_key() -> Jwk {
    let mut jwk = published(Algorithm::RS256, RSA, Some("rsa"));
    jwk.common.key_algorithm = None;
    jwk
}

fn ec_key() -> Jwk {
    published(Algorithm::ES256, P256, Some("ec"))
}

/// Asks until `token` is judged as `wanted`: recovery takes a pause or two, never for ever.
async fn becomes(checker: &Checker, token: &str, wanted: Result<(), TokenError>) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let judged = checker.check(token).await.map(|_claims| ());
        if judged == wanted {
            return;
        }
        assert!(Instant::now() < deadline, "still {judged:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn keys_are_fetched_once_and_found_by_id() {
    let (provider, url) = Provider::start().await;
    provider.publish(vec![rsa_key(), ec_key(), published(Algorithm::EdDSA, ED25519, Some("ed"))]);
    let checker = checker(&url, policy(HOUR, HOUR));
    for good in [
        token(Algorithm::RS256, RSA, Some("rsa")),
        token(Algorithm::PS512, RSA, Some("rsa")),
        token(Algorithm::ES256, P256, Some("ec")),
        token(Algorithm::EdDSA, ED25519, Some("ed")),
    ] {
        checker.check(&good).await.unwrap();
    }
    assert_eq!(provider.fetches(), 1);
}

#[tokio::test]
async fn the_key_limits_the_algorithm() {
    let (provider, url) = Provider::start().await;
    let named = published(Algorithm::RS256, RSA, Some("named"));
    provider.publish(vec![rsa_key(), ec_key(), named]);
    let checker = checker(&url, policy(HOUR, HOUR));
    for (forged, refusal) in [
        (token(Algorithm::HS256, RSA_PUBLIC, Some("rsa")), TokenError::Algorithm),
        (token(Algorithm::ES256, P256, Some("rsa")), TokenError::Algorithm),
        (token(Algorithm::RS256, RSA, Some("ec")), TokenError::Algorithm),
        (token(Algorithm::PS256, RSA, Some("named")), TokenError::Algorithm),
        (token(Algorithm::ES384, P384, Some("ec")), TokenError::Algorithm),
    ] {
        assert_eq!(checker.check(&forged).await.unwrap_err(), refusal);
    }
}

#[tokio::test]
async fn keys_that_are_not_for_signatures_are_left_out() {
    let (provider, url) = Provider::start().await;
    let mut encryption = rsa_key();
    encryption.common.public_key_use = Some(jsonwebtoken::jwk::PublicKeyUse::Encryption);
    let symmetric = published(Algorithm::HS256, RSA_PUBLIC, Some("shared"));
    let mut misnamed = published(Algorithm::ES256, P256, Some("misnamed"));
    misnamed.common.key_algorithm = Some(Algorithm::RS256.into());
    *provider.keys.lock().unwrap() = json!({ "keys": [
        encryption, symmetric, misnamed, ec_key(), 7,
        { "kty": "EC", "crv": "secp256k1", "kid": "odd", "x": "", "y": "" },
    ]});
    let checker = checker(&url, policy(HOUR, HOUR));
    checker.check(&token(Algorithm::ES256, P256, Some("ec"))).await.unwrap();
    for unusable in [
        token(Algorithm::RS256, RSA, Some("rsa")),
        token(Algorithm::HS256, RSA_PUBLIC, Some("shared")),
        token(Algorithm::ES256, P256, Some("misnamed")),
    ] {
        assert_eq!(checker.check(&unusable).await.unwrap_err(), TokenError::UnknownKey);
    }
}

#[tokio::test]
async fn a_token_without_key_id_needs_a_set_of_one() {
    let (provider, url) = Provider::start().await;
    provider.publish(vec![rsa_key()]);
    let anonymous = token(Algorithm::RS256, RSA, None);
    checker(&url, policy(HOUR, HOUR)).check(&anonymous).await.unwrap();

    provider.publish(vec![rsa_key(), ec_key()]);
    let refused = checker(&url, policy(HOUR, HOUR)).check(&anonymous).await;
    assert_eq!(refused.unwrap_err(), TokenError::NoKeyId);
}

#[tokio::test]
async fn a_rotation_is_noticed_and_the_old_key_is_refused() {
    let (provider, url) = Provider::start().await;
    provider.publish(vec![rsa_key()]);
    let checker = checker(&url, policy(Duration::ZERO, HOUR));
    let (old, new) = (token(Algorithm::RS256, RSA, Some("rsa")), token(Algorithm::ES256, P256, Some("ec")));
    checker.check(&old).await.unwrap();
    provider.publish(vec![ec_key()]);
    checker.check(&new).await.unwrap();
    assert_eq!(checker.check(&old).await.unwrap_err(), TokenError::UnknownKey);
}

#[tokio::test]
async fn a_key_taken_back_stops_working_once_the_set_is_old() {
    let (provider, url) = Provider::start().await;
    provider.publish(vec![rsa_key(), ec_key()]);
    let checker = checker(&url, policy(Duration::ZERO, Duration::from_millis(50)));
    let stolen = token(Algorithm::RS256, RSA, Some("rsa"));
    checker.check(&stolen).await.unwrap();
    provider.publish(vec![ec_key()]);
    becomes(&checker, &stolen, Err(TokenError::UnknownKey)).await;
}

#[tokio::test]
async fn the_keys_survive_an_outage_of_the_provider() {
    let (provider, url) = Provider::start().await;
    provider.publish(vec![rsa_key()]);
    let checker = checker(&url, policy(Duration::from_millis(20), Duration::ZERO));
    let good = token(Algorithm::RS256, RSA, Some("rsa"));
    checker.check(&good).await.unwrap();
    for outage in [json!({ "keys": [] }), json!("not a key set"), json!(null)] {
        *provider.keys.lock().unwrap() = outage;
        let (before, deadline) = (provider.fetches(), Instant::now() + Duration::from_secs(10));
        while provider.fetches() == before {
            checker.check(&good).await.unwrap();
            assert!(Instant::now() < deadline, "the old set is not fetched again");
        }
        checker.check(&good).await.unwrap();
    }
    provider.set_away(true);
    let unknown = token(Algorithm::ES256, P256, Some("ec"));
    assert_eq!(checker.check(&unknown).await.unwrap_err(), TokenError::UnknownKey);
    checker.check(&good).await.unwrap();

    provider.publish(vec![rsa_key(), ec_key()]);
    provider.set_away(false);
    becomes(&checker, &unknown, Ok(())).await;
}

#[tokio::test]
async fn starts_while_the_provider_is_down_and_recovers() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let checker = checker(&format!("http://{address}/keys"), policy(Duration::from_millis(20), HOUR));
    let good = token(Algorithm::RS256, RSA, Some("rsa"));
    for text in [&good, &token(Algorithm::RS256, RSA, None)] {
        assert_eq!(checker.check(text).await.unwrap_err(), TokenError::KeysUnavailable);
    }
    let provider = Arc::new(Provider::default());
    provider.publish(vec![rsa_key()]);
    provider.serve(TcpListener::bind(address).await.unwrap());
    becomes(&checker, &good, Ok(())).await;
}

#[tokio::test]
async fn a_flood_of_unknown_key_ids_reaches_the_provider_once_a_pause() {
    let (provider, url) = Provider::start().await;
    provider.publish(vec![rsa_key()]);
    let checker = checker(&url, policy(HOUR, HOUR));
    for number in 0..200 {
        let unknown = token(Algorithm::ES256, P256, Some(&format!("made-up-{number}")));
        assert_eq!(checker.check(&unknown).await.unwrap_err(), TokenError::UnknownKey);
    }
    checker.check(&token(Algorithm::RS256, RSA, Some("rsa"))).await.unwrap();
    assert_eq!(provider.fetches(), 1);
}

#[tokio::test]
async fn many_at_once_wait_for_one_fetch() {
    let (provider, url) = Provider::start().await;
    provider.publish(vec![rsa_key()]);
    *provider.delay.lock().unwrap() = Duration::from_millis(100);
    let checker = checker(&url, policy(Duration::ZERO, HOUR));
    let good = token(Algorithm::RS256, RSA, Some("rsa"));
    let judged = futures_util::future::join_all((0..100).map(|_| checker.check(&good))).await;
    assert!(judged.iter().all(Result::is_ok));
    assert_eq!(provider.fetches(), 1);
}

#[tokio::test]
async fn callers_who_go_away_do_not_lift_the_limit() {
    let (provider, url) = Provider::start().await;
    provider.publish(vec![rsa_key()]);
    *provider.delay.lock().unwrap() = Duration::from_millis(200);
    let checker = checker(&url, policy(HOUR, HOUR));
    let good = token(Algorithm::RS256, RSA, Some("rsa"));
    for _ in 0..5 {
        drop(timeout(Duration::from_millis(50), checker.check(&good)).await);
    }
    assert_eq!(checker.check(&good).await.unwrap_err(), TokenError::KeysUnavailable);
    assert_eq!(provider.fetches(), 1);
}

#[test]
fn the_pause_between_fruitless_fetches_grows_to_half_a_minute() {
    let pause = RefreshPolicy::DEFAULT.pause;
    let seconds: Vec<u64> = (1..=7).map(|fruitless| pause.delay(fruitless).as_secs()).collect();
    assert_eq!(seconds, [1, 2, 4, 8, 16, 30, 30]);
}
