//! What the tests of the purchase gateways share: the clients against the simulator over real HTTP, and against a
//! server that answers whatever it is told to.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use uuid::Uuid;

use super::{Asked, PaymentGateway, Purchase, PurchaseGateways, PurchaseOrder, PurchaseOutcome};
use crate::{
    config::{AppleEnvironment, HectoField, PurchaseConfig},
    httpclient::HttpClient,
    simulator::{RunningSimulator, Simulator, SimulatorSetup},
    types::Won,
};

pub(super) const TOKEN: Uuid = Uuid::from_u128(0x7f0c_2b1e_1111_4222_8333_9a0b_1c2d_3e4f);
pub(super) const ORDER: &str = "CHG-20260105-0001";

/// 11,000 won for `coin_100`, asked for at noon in Seoul.
pub(super) fn order() -> PurchaseOrder<'static> {
    PurchaseOrder {
        order_id: ORDER,
        title: "coin 100",
        amount: Won::new(11_000).unwrap(),
        currency: "KRW",
        sku: "coin_100",
        account_token: TOKEN,
        requested_at: "2026-01-05T03:00:00Z".parse().unwrap(),
    }
}

/// A simulator of one's own and clients of it.
pub(super) struct Bench {
    pub(super) simulator: RunningSimulator,
    pub(super) purchases: PurchaseGateways,
    pub(super) http: HttpClient,
}

/// All gateways' settings, as the simulator at `base_url` wants them.
pub(super) fn config(base_url: &str, files: &Files) -> PurchaseConfig {
    let setup = SimulatorSetup::default();
    let secret = |text: String| Some(SecretString::from(text));
    PurchaseConfig {
        payverse_url: Some(format!("{base_url}/payverse")),
        payverse_mid: Some(setup.payverse_mid),
        payverse_client_key: Some(setup.payverse_client_key),
        payverse_secret_key: secret(setup.payverse_secret_key),
        payverse_lookup_path: "/payment/inquiry".to_owned(),
        payverse_window_url: "https://ui.sim.local/payments.js".to_owned(),
        bootpay_url: Some(format!("{base_url}/bootpay/v2")),
        bootpay_application_id: Some(setup.bootpay_application_id),
        bootpay_private_key: secret(setup.bootpay_private_key),
        hecto_url: Some(format!("{base_url}/hecto")),
        hecto_merchant_id: Some(setup.hecto_merchant_id),
        hecto_license_key: secret(setup.hecto_license_key),
        hecto_aes_key: secret(setup.hecto_aes_key),
        hecto_lookup_path: "/spay/APITrdStatInq.do".to_owned(),
        hecto_lookup_version: "0A1M".to_owned(),
        hecto_lookup_hash: vec![
            HectoField::TrdDt,
            HectoField::TrdTm,
            HectoField::MchtId,
            HectoField::MchtTrdNo,
            HectoField::TrdAmt,
        ],
        hecto_method: "card".to_owned(),
        hecto_window_url: "https://npg.sim.local".to_owned(),
        apple_root_cert_file: Some(files.apple_root.clone()),
        apple_bundle_id: Some(setup.apple_bundle_id),
        apple_environments: vec![AppleEnvironment::Production],
        google_url: Some(format!("{base_url}/google")),
        google_token_url: Some(format!("{base_url}/google/token")),
        google_service_account_file: Some(files.google_account.clone()),
        google_package_name: Some(setup.google_package_name),
        accept_test_purchases: false,
        public_url: Some("https://pay.sim.local".to_owned()),
    }
}

/// The files that settings name; gone with the test.
pub(super) struct Files {
    folder: PathBuf,
    pub(super) apple_root: PathBuf,
    pub(super) google_account: PathBuf,
}

impl Files {
    pub(super) fn of(simulator: &RunningSimulator) -> Self {
        let folder = std::env::temp_dir().join(format!("paydesk-{}", Uuid::new_v4().simple()));
        std::fs::create_dir(&folder).unwrap();
        let (apple_root, google_account) = (folder.join("root.pem"), folder.join("account.json"));
        std::fs::write(&apple_root, simulator.apple_root().unwrap()).unwrap();
        std::fs::write(&google_account, simulator.google_service_account().unwrap()).unwrap();
        Self { folder, apple_root, google_account }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _left_behind = std::fs::remove_dir_all(&self.folder);
    }
}

pub(super) async fn simulator() -> RunningSimulator {
    let setup = SimulatorSetup { webhook_retry: Duration::from_millis(1), ..SimulatorSetup::default() };
    Simulator::start_with("127.0.0.1:0".parse().unwrap(), setup).await.unwrap()
}

impl Bench {
    pub(super) async fn new() -> Self {
        Self::with(|_config| {}).await
    }

    /// With other settings than the usual ones.
    pub(super) async fn with(change: impl FnOnce(&mut PurchaseConfig)) -> Self {
        let simulator = simulator().await;
        let http = HttpClient::new(Duration::from_secs(30), None).unwrap();
        let files = Files::of(&simulator);
        let mut config = config(&simulator.base_url(), &files);
        change(&mut config);
        let purchases = PurchaseGateways::new(&config, &http).unwrap();
        Self { simulator, purchases, http }
    }

    /// What a control request comes to, with its status.
    pub(super) async fn try_control(&self, route: &str, body: Value) -> (u16, Value) {
        let url = format!("{}/_control/{route}", self.simulator.base_url());
        let answer = self.http.post_json(&url, &[], body.to_string()).await.unwrap();
        (answer.status, serde_json::from_slice(&answer.body).unwrap())
    }

    async fn control(&self, route: &str, body: Value) -> Value {
        let (status, answer) = self.try_control(route, body).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// Buys for `ORDER`, as the differences say, and gives what the app would bring back.
    pub(super) async fn buy(&self, gateway: &str, differences: Value) -> Value {
        let mut purchase =
            json!({ "gateway": gateway, "orderId": ORDER, "amount": 11_000, "sku": "coin_100" });
        purchase.as_object_mut().unwrap().extend(differences.as_object().unwrap().clone());
        self.control("purchases", purchase).await
    }

    /// Buys, and gives the transaction id.
    pub(super) async fn bought(&self, gateway: &str, differences: Value) -> String {
        self.buy(gateway, differences).await["transactionId"].as_str().unwrap().to_owned()
    }

    /// The next call of an operation behaves so.
    pub(super) async fn behave(&self, gateway: &str, operation: &str, mut behaviour: Value) {
        behaviour["gateway"] = json!(gateway);
        behaviour["operation"] = json!(operation);
        self.control("behaviours", behaviour).await;
    }

    async fn rows(&self, route: &str) -> Vec<Value> {
        let url = format!("{}/_control/{route}", self.simulator.base_url());
        serde_json::from_slice(&self.http.get(&url, &[]).await.unwrap().body).unwrap()
    }

    /// Operation and outcome of each call that a gateway got.
    pub(super) async fn calls(&self, gateway: &str) -> Vec<(String, String)> {
        let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
        let rows = self.rows(&format!("calls?gateway={gateway}")).await;
        rows.iter().map(|row| (text(row, "operation"), text(row, "outcome"))).collect()
    }

    /// The gateways' books.
    pub(super) async fn books(&self) -> Vec<Value> {
        self.rows("payments").await
    }

    pub(super) async fn ask(&self, gateway: PaymentGateway, reference: Option<&str>) -> Asked {
        self.purchases.ask(gateway, &order(), reference).await.unwrap()
    }

    /// The class and code of what comes of approving a receipt at Bootpay.
    pub(super) async fn approve(&self, receipt: &str) -> (&'static str, String) {
        class(&self.purchases.approve(PaymentGateway::Pg, &order(), receipt).await.unwrap().outcome)
    }

    /// The class and code of what a gateway says.
    pub(super) async fn class(&self, gateway: PaymentGateway, reference: &str) -> (&'static str, String) {
        class(&self.ask(gateway, Some(reference)).await.outcome)
    }
}

/// The class of an outcome, with the reason where there is one.
pub(super) fn class(outcome: &PurchaseOutcome) -> (&'static str, String) {
    match outcome {
        PurchaseOutcome::Paid(_) => ("paid", String::new()),
        PurchaseOutcome::AwaitsApproval(_) => ("awaits approval", String::new()),
        PurchaseOutcome::Pending(refusal) => ("pending", refusal.code.clone()),
        PurchaseOutcome::Cancelled(refusal) => ("cancelled", refusal.code.clone()),
        PurchaseOutcome::NotPaid(refusal) => ("not paid", refusal.code.clone()),
        PurchaseOutcome::NotFound(refusal) => ("not found", refusal.code.clone()),
        PurchaseOutcome::Refused(refusal) => ("refused", refusal.reason.code().to_owned()),
        PurchaseOutcome::Unknown(refusal) => ("unknown", refusal.code.clone()),
        PurchaseOutcome::Misconfigured(refusal) => ("misconfigured", refusal.code.clone()),
    }
}

#[track_caller]
pub(super) fn paid(asked: Asked) -> Purchase {
    match asked.outcome {
        PurchaseOutcome::Paid(purchase) => purchase,
        other => panic!("not paid: {other:?}"),
    }
}

/// What a server does to a request.
#[derive(Debug, Clone)]
pub(super) enum Canned {
    /// Answers with a status and a body.
    Says(u16, String),
    /// Promises more than it sends.
    Truncates(String),
    /// Closes the connection.
    HangsUp,
    /// Never answers.
    IsSilent,
}

/// A server that does as it is told, and keeps what it is sent.
pub(super) struct Server {
    pub(super) url: String,
    pub(super) bodies: Arc<Mutex<Vec<String>>>,
}

/// A server that does each of these in turn, the last one for ever.
pub(super) async fn canned(script: Vec<Canned>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let bodies = Arc::<Mutex<Vec<String>>>::default();
    let kept = Arc::clone(&bodies);
    #[expect(clippy::disallowed_methods, reason = "the server lives as long as the test's runtime")]
    tokio::spawn(async move {
        let mut held = Vec::new();
        for index in 0.. {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            let body = read_request(&mut stream).await;
            kept.lock().unwrap().push(body);
            let text = match script.get(index).or(script.last()).unwrap() {
                Canned::Says(status, body) => format!(
                    "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                ),
                Canned::Truncates(body) => {
                    format!("HTTP/1.1 200 X\r\ncontent-length: {}\r\n\r\n{body}", body.len() + 10)
                }
                Canned::HangsUp => String::new(),
                Canned::IsSilent => {
                    held.push(stream);
                    continue;
                }
            };
            let _gone = stream.write_all(text.as_bytes()).await;
            let _closed = stream.shutdown().await;
        }
    });
    Server { url, bodies }
}

/// Reads head and body, so that the answer does not meet a client that still writes.
async fn read_request(stream: &mut TcpStream) -> String {
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&seen);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            if body.len() >= length.and_then(|length| length.trim().parse().ok()).unwrap_or(0) {
                return body.to_owned();
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return String::new(),
            Ok(count) => seen.extend_from_slice(&buffer[..count]),
        }
    }
}

/// What a gateway's client makes of one server after another. `script` is what comes after `before` (a token, say).
pub(super) async fn hostile(
    gateway: PaymentGateway,
    reference: &str,
    before: &[Canned],
    cases: Vec<(Canned, &'static str)>,
) {
    let simulator = simulator().await;
    let files = Files::of(&simulator);
    for (answer, expected) in cases {
        let script = [before, std::slice::from_ref(&answer)].concat();
        let server = canned(script).await;
        let timeout = if matches!(answer, Canned::IsSilent) {
            Duration::from_millis(200)
        } else {
            Duration::from_secs(20)
        };
        let http = HttpClient::new(timeout, None).unwrap();
        let purchases = PurchaseGateways::new(&config(&server.url, &files), &http).unwrap();
        let asked = purchases.ask(gateway, &order(), Some(reference)).await.unwrap();
        assert_eq!(class(&asked.outcome).0, expected, "{answer:?}: {:?}", asked.outcome);
        assert!(!asked.calls.is_empty());
    }
}

/// Answers that say nothing, whatever was asked.
pub(super) fn silences() -> Vec<(Canned, &'static str)> {
    let html = "<html><body>502 Bad Gateway</body></html>";
    let bodies = ["", "null", "[]", "{}", "{\"status\":", "\u{FEFF}{}", "true", html];
    let mut cases: Vec<_> =
        bodies.into_iter().map(|body| (Canned::Says(200, body.to_owned()), "unknown")).collect();
    for status in [302, 404, 418, 429, 500, 502, 503, 504] {
        cases.push((Canned::Says(status, html.to_owned()), "unknown"));
        cases.push((Canned::Says(status, String::new()), "unknown"));
    }
    cases.push((Canned::Says(200, "[".repeat(100_000)), "unknown"));
    cases.push((Canned::Says(200, "x".repeat(2 * 1024 * 1024)), "unknown"));
    cases.push((Canned::Truncates("{\"status\":1}".to_owned()), "unknown"));
    cases.push((Canned::HangsUp, "unknown"));
    cases.push((Canned::IsSilent, "unknown"));
    cases
}
