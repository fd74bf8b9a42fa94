use std::{
    io,
    sync::{Arc, Mutex},
};

use serde_json::json;
use tracing::Level;

use super::{
    super::{KeyIn, KeyInOutcome, answer},
    Bench, CARD, SECRET_KEY, card, request,
};
use crate::httpclient::HttpAnswer;

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

#[track_caller]
fn assert_says_nothing(text: &str) {
    for secret in [CARD, "900101", "4000000000000", SECRET_KEY, "dGVzdF9za19z"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[tokio::test]
async fn neither_card_nor_key_is_in_any_log_or_debug_output() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(move || writer.clone()).finish();
    let guard = tracing::subscriber::set_default(subscriber);
    tracing::info!("listening");
    let bench = Bench::new().await;
    assert_says_nothing(&format!("{:?}", bench.client));
    let ordinary = json!({ "times": 0 });
    let cases = [
        (CARD, &ordinary),
        ("4000000000000002", &ordinary),
        ("4000000000000119", &ordinary),
        ("4000000000000341", &ordinary),
        (CARD, &json!({ "status": 500 })),
        (CARD, &json!({ "code": "UNAUTHORIZED_KEY" })),
    ];
    for (index, (number, behaviour)) in cases.into_iter().enumerate() {
        bench.key_in_behaves(behaviour.clone()).await;
        let (card, key) = (card(number), format!("key-{index}"));
        let request = KeyIn { idempotency_key: &key, ..request(&card) };
        assert_says_nothing(&format!("{request:?} {:?}", bench.client.key_in(request).await));
    }
    assert_says_nothing(&json!(bench.calls().await).to_string());
    assert_says_nothing(&json!(bench.books().await).to_string());
    drop(guard);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("listening"));
    assert_says_nothing(&log);
}

#[test]
fn a_provider_that_quotes_the_card_is_not_quoted() {
    let card = card(CARD);
    let body =
        json!({ "code": "INVALID_CARD_NUMBER", "message": "9410-0012-3456-7890 (900101) is no card\u{0}" });
    let answer = HttpAnswer { status: 400, body: body.to_string().into() };
    let KeyInOutcome::Declined(refusal) = answer::key_in(&request(&card), Ok(answer)).result else {
        panic!("not declined")
    };
    assert_eq!(refusal.message, "[redacted] ([redacted]) is no card\u{FFFD}");
}

#[test]
fn a_long_message_is_cut_to_what_can_be_stored() {
    let card = card(CARD);
    let body = json!({ "code": "COMMON_ERROR", "message": "결제".repeat(5_000) });
    let answer = HttpAnswer { status: 500, body: body.to_string().into() };
    let reading = answer::key_in(&request(&card), Ok(answer));
    let KeyInOutcome::Unknown(refusal) = reading.result else { panic!("not unknown") };
    assert!((1_990..=2_000).contains(&refusal.message.len()));
}
