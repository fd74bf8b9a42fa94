//! One configured HTTP client: timeouts, TLS, a bound on answers. The only room that knows reqwest.

use std::{error::Error as _, time::Duration};

use bytes::{Bytes, BytesMut};
use thiserror::Error;

/// Largest answer that is read; a longer one is an error.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// Longest time that connecting may take (domain.md §2).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// A client with connection reuse, no redirects and a total timeout for each call.
#[derive(Debug, Clone)]
pub struct HttpClient(reqwest::Client);

/// An answer, whatever its status.
#[derive(Debug, Clone)]
pub struct HttpAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The whole body.
    pub body: Bytes,
}

/// Why there is no answer. The text names no header and no body.
#[derive(Debug, Error)]
pub enum HttpError {
    /// The call took longer than its timeout; it may have been carried out.
    #[error("no answer within the timeout")]
    TimedOut,
    /// No connection was made, so nothing was carried out.
    #[error("cannot connect: {0}")]
    NotConnected(String),
    /// The connection broke, or the answer was unreadable; the call may have been carried out.
    #[error("the connection broke: {0}")]
    Broken(String),
}

impl HttpClient {
    /// Builds the client; `timeout` bounds each call as a whole, `extra_roots` are PEM certificates to trust as well.
    pub fn new(timeout: Duration, extra_roots: Option<&[u8]>) -> Result<Self, HttpError> {
        let mut builder = reqwest::Client::builder()
            .timeout(timeout)
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("paydesk/", env!("CARGO_PKG_VERSION")));
        if let Some(pem) = extra_roots {
            for certificate in reqwest::Certificate::from_pem_bundle(pem).map_err(|error| classify(&error))? {
                builder = builder.add_root_certificate(certificate);
            }
        }
        builder.build().map(Self).map_err(|error| classify(&error))
    }

    /// `GET url`.
    pub async fn get(&self, url: &str, headers: &[(&'static str, &str)]) -> Result<HttpAnswer, HttpError> {
        self.send(self.0.get(url), headers).await
    }

    /// `POST url` with a JSON body. A body that must not stay in memory comes as [`Bytes`] whose owner wipes it.
    pub async fn post_json(
        &self,
        url: &str,
        headers: &[(&'static str, &str)],
        body: impl Into<Bytes>,
    ) -> Result<HttpAnswer, HttpError> {
        self.send(self.0.post(url).header("content-type", "application/json").body(body.into()), headers)
            .await
    }

    /// `POST url` with a form.
    pub async fn post_form(
        &self,
        url: &str,
        headers: &[(&'static str, &str)],
        fields: &[(&str, &str)],
    ) -> Result<HttpAnswer, HttpError> {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.0.post(url).header("content-type", "application/x-www-form-urlencoded");
        self.send(request.body(body), headers).await
    }

    async fn send(
        &self,
        mut request: reqwest::RequestBuilder,
        headers: &[(&'static str, &str)],
    ) -> Result<HttpAnswer, HttpError> {
        for (name, value) in headers {
            let mut value = reqwest::header::HeaderValue::from_str(value).map_err(|_refused| {
                HttpError::NotConnected(format!("the header {name} has an unusable value"))
            })?;
            value.set_sensitive(true);
            request = request.header(*name, value);
        }
        let mut response = request.send().await.map_err(|error| classify(&error))?;
        let status = response.status().as_u16();
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| classify(&error))? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(HttpError::Broken(format!("the answer is larger than {MAX_ANSWER_BYTES} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(HttpAnswer { status, body: body.freeze() })
    }
}

/// Tells a call that never left from one that may have been carried out.
fn classify(error: &reqwest::Error) -> HttpError {
    // reqwest's own text holds the URL, which may carry secrets: only the innermost cause is told.
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text =
        if error.source().is_some() { cause.to_string() } else { "unusable request or answer".to_owned() };
    if error.is_connect() || error.is_builder() {
        HttpError::NotConnected(text)
    } else if error.is_timeout() {
        HttpError::TimedOut
    } else {
        HttpError::Broken(text)
    }
}
