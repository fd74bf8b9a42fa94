use std::{sync::Arc, time::Duration};

use diesel::{ConnectionError, ConnectionResult};
use diesel_async::AsyncPgConnection;
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::{Client, Connection, Socket, config::SslMode, tls::MakeTlsConnect};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::config::SettingError;

type TlsStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// How long connecting to one address may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a server may leave sent data, or a probe, unacknowledged.
const SILENCE: Duration = Duration::from_secs(20);

/// Opens connections as `DATABASE_URL` says, TLS included: one way in for pools, LISTEN and migrations.
#[derive(Clone)]
pub struct Connector {
    config: Arc<tokio_postgres::Config>,
    tls: MakeRustlsConnect,
}

impl Connector {
    /// Reads the URL. `sslmode=require` encrypts without checking the certificate, as libpq does;
    /// `verify-ca` and `verify-full` check it and the host name against the system's authorities and the
    /// given ones (PEM).
    pub fn new(url: &SecretString, authorities: Option<&str>) -> Result<Self, SettingError> {
        let url = url.expose_secret();
        let verify = ["sslmode=verify-full", "sslmode=verify-ca"].iter().any(|mode| url.contains(mode));
        let url = url
            .replace("sslmode=verify-full", "sslmode=require")
            .replace("sslmode=verify-ca", "sslmode=require");
        let mut config: tokio_postgres::Config =
            url.parse().map_err(|error: tokio_postgres::Error| wrong_url(&describe(&error)))?;
        if config.get_hosts().is_empty() {
            return Err(wrong_url("it names no host"));
        }
        config.application_name("paydesk");
        // A server that vanished without a word is noticed, also by a connection that only listens.
        config.connect_timeout(CONNECT_TIMEOUT).tcp_user_timeout(SILENCE).keepalives_idle(SILENCE);
        if config.get_ssl_mode() == SslMode::Prefer && !url.contains("sslmode=") {
            config.ssl_mode(SslMode::Disable);
        }
        let tls = MakeRustlsConnect::new(client_config(verify, authorities)?);
        Ok(Self { config: Arc::new(config), tls })
    }

    /// One new connection.
    pub async fn connect(&self) -> ConnectionResult<AsyncPgConnection> {
        let (client, connection) = self.open().await?;
        AsyncPgConnection::try_from_client_and_connection(client, connection).await
    }

    /// One new connection that is closed once `given_up` resolves, whatever is under way on it.
    #[expect(
        clippy::disallowed_methods,
        reason = "the task ends with its connection, and that with the pool"
    )]
    pub(super) async fn connect_until(
        &self,
        given_up: impl Future<Output = ()> + Send + 'static,
    ) -> ConnectionResult<AsyncPgConnection> {
        let (client, connection) = self.open().await?;
        tokio::spawn(async move {
            tokio::select! {
                // An answer that is there counts, however late it is looked at.
                biased;
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(error = describe(&error), "a connection to the database ended");
                },
                () = given_up => {}
            }
        });
        AsyncPgConnection::try_from(client).await
    }

    async fn open(&self) -> ConnectionResult<(Client, Connection<Socket, TlsStream>)> {
        let opened = self.config.connect(self.tls.clone()).await;
        opened.map_err(|error| ConnectionError::BadConnection(describe(&error)))
    }
}

/// tokio-postgres keeps the reason in the source; without it "error connecting to server" says nothing.
fn describe(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// The text never holds the URL.
fn wrong_url(why: &str) -> SettingError {
    let problem = format!("{why}; write postgres://user:password@host/database");
    SettingError::new("DATABASE_URL", problem)
}

fn client_config(verify: bool, authorities: Option<&str>) -> Result<ClientConfig, SettingError> {
    let unusable =
        |error: &dyn std::fmt::Display| SettingError::new("PAYDESK_TLS_CA_FILE", error.to_string());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?;
    if !verify {
        let verifier = Arc::new(AcceptAnyCertificate(provider));
        return Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth());
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    for certificate in CertificateDer::pem_slice_iter(authorities.unwrap_or_default().as_bytes()) {
        let certificate = certificate.map_err(|error| unusable(&error))?;
        roots.add(certificate).map_err(|error| unusable(&error))?;
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// libpq's `sslmode=require`: encrypted, with whomever answers.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
