//! A caller of the API.

use std::time::Duration;

use paydesk::{
    auth::{Role, issue},
    config::SigningConfig,
    httpclient::HttpClient,
};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::setup::{AUDIENCE, ISSUER, SECRET};

/// Somebody with every role.
#[derive(Clone)]
pub struct Api {
    client: HttpClient,
    url: String,
    authorization: String,
}

/// A token of every role.
pub fn token() -> String {
    let signing = SigningConfig {
        jwt_hs256_secret: SecretString::from(SECRET),
        jwt_issuer: ISSUER.to_owned(),
        jwt_audience: AUDIENCE.to_owned(),
        jwt_roles_claim: "roles".to_owned(),
    };
    issue(&signing, "bench", None, &[Role::Service, Role::Operator], Duration::from_secs(3600)).unwrap()
}

impl Api {
    pub fn new(client: HttpClient, addr: &str) -> Self {
        Self { client, url: format!("http://{addr}/graphql"), authorization: format!("Bearer {}", token()) }
    }

    /// The data of the answer; an error ends the benchmark.
    pub async fn query(&self, query: &str, variables: Value) -> Value {
        let body = json!({ "query": query, "variables": variables }).to_string().into_bytes();
        let headers = [("authorization", self.authorization.as_str())];
        let answer = self.client.post_json(&self.url, &headers, body).await.unwrap();
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        assert!(answer["errors"].is_null(), "{answer}");
        answer["data"].clone()
    }
}
