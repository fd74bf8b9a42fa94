//! The simulated gateways as a whole: webhooks, control, and that no secret is told.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tracing::Level;

use super::{
    Notice, PaymentGateway, RefusalReason,
    testing::{Bench, Canned, ORDER, Server, canned, order, paid},
};

/// Waits for the bodies that a server is to get.
async fn bodies(server: &Server, count: usize) -> Vec<String> {
    let all = async {
        loop {
            let bodies = server.bodies.lock().unwrap().clone();
            if bodies.len() >= count {
                return bodies;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all).await.unwrap()
}

/// Waits until a gateway's last webhook has ended so.
async fn outcomes(bench: &Bench, gateway: &str, last: &str) -> Vec<String> {
    let all = async {
        loop {
            let calls = bench.calls(gateway).await;
            if calls.last().is_some_and(|(_, outcome)| outcome == last) {
                return calls.into_iter().map(|(_, outcome)| outcome).collect();
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all).await.unwrap()
}

fn says(status: u16, body: &str) -> Canned {
    Canned::Says(status, body.to_owned())
}

#[tokio::test]
async fn a_webhook_is_sent_again_until_it_is_received_well() {
    let bench = Bench::new().await;
    let hecto = canned(vec![says(500, "OK"), says(200, "FAIL"), Canned::HangsUp, says(200, "OK")]).await;
    bench.buy("hecto", json!({ "webhook": true, "webhookUrl": hecto.url })).await;
    let sent = bodies(&hecto, 4).await;
    assert!(sent.iter().all(|body| body == &sent[0]), "the same notice each time");
    assert_eq!(
        outcomes(&bench, "hecto", "RECEIVED").await,
        ["HTTP_500", "HTTP_200", "NO_ANSWER", "RECEIVED"]
    );

    let payverse = canned(vec![says(200, "{}"), says(200, r#"{"receiveResult":"SUCCESS"}"#)]).await;
    bench.buy("payverse", json!({ "webhook": true, "webhookUrl": payverse.url })).await;
    assert_eq!(outcomes(&bench, "payverse", "RECEIVED").await, ["HTTP_200", "RECEIVED"]);
}

#[tokio::test]
async fn the_simulators_webhooks_are_read_as_what_they_are() {
    let bench = Bench::new().await;
    let accepts = r#"{"receiveResult":"SUCCESS"}"#;
    let server = canned(vec![says(200, accepts)]).await;
    let payverse = async |count: usize, change: Value| {
        let mut purchase = json!({ "webhook": true, "webhookUrl": server.url });
        purchase.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let tid = bench.bought("payverse", purchase).await;
        let body = bodies(&server, count).await.pop().unwrap();
        (tid, bench.purchases.read_payverse(body.as_bytes()).unwrap())
    };
    let (tid, notice) = payverse(1, json!({})).await;
    let Notice::Paid(told) = notice else { panic!("{notice:?}") };
    let asked = bench.ask(PaymentGateway::Payverse, Some(&told.transaction_id)).await;
    assert_eq!(paid(asked).check(&order()), Ok(()));
    let (_, notice) = payverse(2, json!({ "transactionId": tid, "status": "cancelled" })).await;
    assert!(
        matches!(notice, Notice::Reversed(reversal) if reversal.transaction_id == tid && reversal.order_id == ORDER)
    );
    let (_, notice) = payverse(3, json!({ "status": "declined" })).await;
    assert!(matches!(notice, Notice::Nothing { .. }));
    let (_, notice) = payverse(4, json!({ "forge": "signature" })).await;
    assert!(matches!(notice, Notice::Refused(refusal) if refusal.reason == RefusalReason::Signature));
    let (_, notice) = payverse(5, json!({ "merchant": "SIM_KRW_02" })).await;
    assert!(matches!(notice, Notice::Refused(refusal) if refusal.reason == RefusalReason::Foreign));
    // Turned from declined to approved where the signature does not cover it: only the lookup tells.
    let (_, notice) = payverse(6, json!({ "status": "declined", "forge": "status" })).await;
    let Notice::Paid(told) = notice else { panic!("{notice:?}") };
    let asked = bench.ask(PaymentGateway::Payverse, Some(&told.transaction_id)).await;
    assert!(matches!(asked.outcome, super::PurchaseOutcome::NotPaid(_)));

    let server = canned(vec![says(200, "OK")]).await;
    let hecto = async |count: usize, change: Value| {
        let mut purchase = json!({ "webhook": true, "webhookUrl": server.url });
        purchase.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        bench.buy("hecto", purchase).await;
        let body = bodies(&server, count).await.pop().unwrap();
        bench.purchases.read_hecto(body.as_bytes()).unwrap()
    };
    assert!(matches!(hecto(1, json!({})).await, Notice::Paid(told) if told.check(&order()).is_ok()));
    assert!(matches!(hecto(2, json!({ "status": "cancelled" })).await, Notice::Reversed(_)));
    assert!(matches!(hecto(3, json!({ "status": "declined" })).await, Notice::Nothing { .. }));
    assert!(matches!(hecto(4, json!({ "forge": "signature" })).await, Notice::Refused(_)));
    assert!(matches!(hecto(5, json!({ "merchant": "other_il" })).await, Notice::Refused(_)));
}

#[tokio::test]
async fn a_purchase_that_is_named_again_is_changed_and_a_reset_forgets_all() {
    let bench = Bench::new().await;
    let receipt = bench.bought("bootpay", json!({ "status": "pending" })).await;
    assert_eq!(bench.class(PaymentGateway::Pg, &receipt).await.0, "pending");
    bench.buy("bootpay", json!({ "transactionId": receipt, "status": "paid" })).await;
    assert_eq!(bench.class(PaymentGateway::Pg, &receipt).await.0, "paid");
    bench.buy("bootpay", json!({ "transactionId": receipt, "status": "cancelled" })).await;
    assert_eq!(bench.class(PaymentGateway::Pg, &receipt).await.0, "cancelled");
    let books = bench.books().await;
    assert_eq!(books.len(), 1);
    assert_eq!((&books[0]["gateway"], &books[0]["orderId"]), (&json!("bootpay"), &json!(ORDER)));
    assert_eq!((&books[0]["paid"], &books[0]["cancelled"]), (&json!(11_000), &json!(11_000)));
    bench.try_control("reset", json!(null)).await;
    assert!(bench.books().await.is_empty());
    assert_eq!(bench.class(PaymentGateway::Pg, &receipt).await.0, "not found", "and its tokens too");
}

#[tokio::test]
async fn control_explains_what_it_cannot_do() {
    let bench = Bench::new().await;
    let url = "http://127.0.0.1:1";
    for (purchase, word) in [
        (json!({}), "nameless"),
        (json!({ "gateway": "tosh" }), "tosh"),
        (json!({ "gateway": "bootpay", "orderId": "x" }), "amount"),
        (json!({ "gateway": "hecto", "amount": 1 }), "orderId"),
        (json!({ "gateway": "google", "orderId": "x" }), "sku"),
        (json!({ "gateway": "apple", "sku": "x", "forge": "everything" }), "swapped-root"),
        (json!({ "gateway": "apple", "sku": "x", "statsu": "paid" }), "statsu"),
        (json!({ "gateway": "apple", "sku": "x", "status": "payed" }), "payed"),
        (json!({ "gateway": "payverse", "orderId": "x", "amount": 1, "webhook": true }), "--webhook-url"),
        (json!({ "gateway": "google", "sku": "x", "webhook": true, "webhookUrl": url }), "no webhook"),
    ] {
        let (status, answer) = bench.try_control("purchases", purchase.clone()).await;
        assert_eq!(status, 400, "{purchase}");
        assert!(answer["message"].as_str().unwrap().contains(word), "{purchase}: {answer}");
    }
    let (status, _) =
        bench.try_control("behaviours", json!({ "gateway": "apple", "operation": "lookup" })).await;
    assert_eq!(status, 400);
}

/// Everything that is logged while it is the writer.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_secret_and_no_token_is_in_any_log_or_debug_output() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(move || writer.clone()).finish();
    let guard = tracing::subscriber::set_default(subscriber);
    tracing::info!("listening");
    let bench = Bench::new().await;
    let mut said = format!("{:?}", bench.purchases);
    for (gateway, name) in [
        (PaymentGateway::Pg, "bootpay"),
        (PaymentGateway::Payverse, "payverse"),
        (PaymentGateway::Hecto, "hecto"),
        (PaymentGateway::GoogleIap, "google"),
        (PaymentGateway::AppleIap, "apple"),
    ] {
        let reference = bench.bought(name, json!({})).await;
        said.push_str(&format!("{:?}", bench.ask(gateway, Some(&reference)).await));
        bench.behave(name, if name == "apple" { continue } else { "lookup" }, json!({ "status": 401 })).await;
        said.push_str(&format!("{:?}", bench.ask(gateway, Some(&reference)).await));
    }
    // A purchase token is as good as the purchase.
    let token = bench.bought("google", json!({})).await;
    bench.ask(PaymentGateway::GoogleIap, Some(&token)).await;
    bench.purchases.consume("coin_100", &token).await;
    drop(guard);
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(!logged.contains(&token), "a purchase token is in the log");
    said.push_str(&String::from_utf8(log.0.lock().unwrap().clone()).unwrap());
    assert!(said.contains("listening"));
    for secret in [
        "sim_secret_key01",
        "sim_private_key01",
        "SIMLICENSEKEY0001",
        "simAes256Key",
        "sim.token",
        "PRIVATE KEY",
        "Bearer",
    ] {
        assert!(!said.contains(secret), "{secret}");
    }
}
