//! The whole way of a query, over the test schema.

use std::sync::atomic::Ordering;

use futures_util::StreamExt;
use serde_json::{Value, json};

use super::{
    Event,
    testing::{api, caller},
};
use crate::auth::Role::{self, Admin, Operator, Service};

async fn post(body: Value, roles: &[Role], introspection: bool) -> (u16, Value) {
    let (api, _) = api(introspection, 1_000);
    let answer = api.execute(body.to_string().as_bytes(), &caller(roles)).await;
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

async fn query(query: &str, roles: &[Role]) -> Value {
    post(json!({ "query": query }), roles, false).await.1
}

fn code(answer: &Value) -> &str {
    answer["errors"][0]["extensions"]["code"].as_str().unwrap_or("none")
}

#[tokio::test]
async fn data_comes_back() {
    assert_eq!(query("{ viewer }", &[Service]).await, json!({ "data": { "viewer": "alice" } }));
}

#[tokio::test]
async fn each_role_gets_what_it_may_and_no_more() {
    for (text, allowed) in [
        ("{ viewer }", vec![Admin, Operator, Service]),
        ("{ secret }", vec![Admin, Operator]),
        ("mutation { set }", vec![Admin]),
    ] {
        for role in [Admin, Operator, Service] {
            let answer = query(text, &[role]).await;
            let expected = if allowed.contains(&role) { "none" } else { "FORBIDDEN" };
            assert_eq!(code(&answer), expected, "{text} {role:?}");
        }
        assert_eq!(code(&query(text, &[]).await), "FORBIDDEN", "{text}");
    }
}

#[tokio::test]
async fn what_breaks_is_internal_with_a_request_id_and_nothing_else() {
    for text in ["{ leaky }", "{ broken }"] {
        let answer = query(text, &[Admin]).await;
        assert_eq!(answer["errors"][0]["extensions"], json!({ "code": "INTERNAL", "requestId": "r-1" }));
        assert!(!answer.to_string().contains("hunter2"));
    }
}

#[tokio::test]
async fn a_wrong_value_is_named_by_its_argument() {
    for (text, field) in [
        ("{ echo(long: 9007199254740992) }", json!(["long"])),
        ("{ echo(long: 1, at: \"today\") }", json!(["at"])),
        ("{ items(first: 0) { nodes { id } } }", json!(["first"])),
        ("{ items(first: 1000000) { nodes { id } } }", json!(["first"])),
        ("{ items(after: \"bad\") { nodes { id } } }", json!(["after"])),
    ] {
        let answer = query(text, &[Admin]).await;
        assert_eq!(code(&answer), "BAD_USER_INPUT", "{answer}");
        assert_eq!(answer["errors"][0]["extensions"]["field"], field, "{answer}");
    }
    let answer = query("{ echo(long: 1, int: 3000000000) }", &[Admin]).await;
    assert_eq!(code(&answer), "BAD_USER_INPUT", "{answer}");
}

#[tokio::test]
async fn nothing_is_told_of_the_schema() {
    for text in [
        "{ viewr }",
        "mutation { sett }",
        "{ items(frst: 1) { nodes { id } } }",
        "{ items }",
        "{ viewer { x } }",
    ] {
        let answer = query(text, &[Admin]).await;
        assert_eq!(code(&answer), "BAD_USER_INPUT", "{answer}");
        let told = answer.to_string();
        for leak in ["Did you mean", "Query", "Mutation", "String", "Connection", "\"viewer\""] {
            assert!(!told.contains(leak), "{told}");
        }
    }
    for text in [
        "{ __schema { types { name } } }",
        "{ __type(name: \"Query\") { name } }",
        "{ viewer __schema { types { name } } }",
    ] {
        assert_eq!(code(&query(text, &[Admin]).await), "BAD_USER_INPUT");
    }
    assert_eq!(query("{ __typename }", &[Admin]).await["data"]["__typename"], "Query");
}

#[tokio::test]
async fn development_mode_tells() {
    let (_, answer) = post(json!({ "query": "{ __schema { queryType { name } } }" }), &[Admin], true).await;
    assert_eq!(answer["data"]["__schema"]["queryType"]["name"], "Query");
    let (_, answer) = post(json!({ "query": "{ viewr }" }), &[Admin], true).await;
    assert!(answer.to_string().contains("Did you mean"), "{answer}");
}

#[tokio::test]
async fn oversized_queries_are_refused_before_they_run() {
    let aliases = |count| (0..count).map(|n| format!("a{n}: viewer ")).collect::<String>();
    let nested = format!("{{ echo(long: {}1{}) }}", "[".repeat(3_000), "]".repeat(3_000));
    for text in [
        format!("{{ {} }}", aliases(1_000)),
        format!("{{ ...f }} fragment f on Query {{ {} }}", aliases(1_000)),
        format!("{{ viewer {} }}", "@include(if: true) ".repeat(10_000)),
        format!("mutation {{ {} }}", (0..11).map(|n| format!("m{n}: set ")).collect::<String>()),
        nested,
    ] {
        assert_eq!(code(&query(&text, &[Admin]).await), "QUERY_TOO_COMPLEX");
    }
    let within_variables = json!({ "query": "query($v: [Int]) { viewer }", "variables": { "v": [[[[1]]]] } });
    assert_eq!(code(&post(within_variables, &[Admin], false).await.1), "BAD_USER_INPUT");
}

#[tokio::test]
async fn syntax_errors_say_where_and_not_what_was_expected() {
    let answer = query("{ viewer(", &[Admin]).await;
    assert_eq!(code(&answer), "BAD_USER_INPUT");
    let answer = query("{ viewer @ }", &[Admin]).await;
    assert_eq!(answer["errors"][0]["locations"][0]["line"], 1, "{answer}");
    assert_eq!(answer["errors"][0]["message"], "The query is not valid GraphQL.");
}

#[tokio::test]
async fn a_batch_is_answered_in_order_and_bounded() {
    let one = json!({ "query": "{ viewer }" });
    let (status, answer) = post(json!([one, { "query": "{ nope }" }]), &[Admin], false).await;
    assert_eq!(status, 200);
    assert_eq!(answer[0]["data"]["viewer"], "alice");
    assert_eq!(code(&answer[1]), "BAD_USER_INPUT");
    let (status, answer) = post(Value::Array(vec![one; 200]), &[Admin], false).await;
    assert_eq!((status, code(&answer)), (400, "BAD_USER_INPUT"));
}

#[tokio::test]
async fn each_entry_of_a_batch_counts_against_the_rate() {
    let (api, _) = api(false, 2);
    let batch = Value::Array(vec![json!({ "query": "{ viewer }" }); 10]).to_string();
    let answer = api.execute(batch.as_bytes(), &caller(&[Admin])).await;
    let answers: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(code(&answers[0]), "none");
    assert_eq!(code(&answers[9]), "RATE_LIMITED");
}

#[tokio::test]
async fn loaders_are_never_shared_between_operations() {
    let (api, seen) = api(false, 1_000);
    let body = json!([{ "query": "{ loader again: loader }" }, { "query": "{ loader }" }]).to_string();
    let answer = api.execute(body.as_bytes(), &caller(&[Admin])).await;
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(answer[0]["data"], json!({ "loader": 0, "again": 0 }));
    assert_eq!(answer[1]["data"], json!({ "loader": 1 }));
    assert_eq!(seen.loaders.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_count_is_made_only_when_asked_for() {
    let (api, seen) = api(false, 1_000);
    let run = async |text: &str| {
        let body = json!({ "query": text }).to_string();
        let answer = api.execute(body.as_bytes(), &caller(&[Admin])).await;
        serde_json::from_slice::<Value>(&answer.body).unwrap()
    };
    let page = run("{ items(first: 2) { edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }").await;
    assert_eq!(seen.counted.load(Ordering::SeqCst), 0);
    let items = &page["data"]["items"];
    assert_eq!(items["pageInfo"]["endCursor"], items["edges"][1]["cursor"], "{page}");
    assert_eq!(items["nodes"], json!([{ "id": 1 }, { "id": 0 }]));
    let counted = run("{ items { count { value precision } } }").await;
    assert_eq!(counted["data"]["items"]["count"], json!({ "value": 10000, "precision": "AT_LEAST" }));
    assert_eq!(seen.counted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn subscriptions_do_not_run_over_post() {
    assert_eq!(code(&query("subscription { ticks(count: 1) }", &[Admin]).await), "BAD_USER_INPUT");
}

async fn events(query: &str, roles: &[Role]) -> Vec<Event> {
    let (api, _) = api(false, 1_000);
    api.open(&json!({ "query": query }).to_string(), &caller(roles)).collect().await
}

#[tokio::test]
async fn every_kind_of_operation_runs_over_a_websocket() {
    let next = |json: &str| Event::Next(json.to_owned());
    assert_eq!(events("{ viewer }", &[Admin]).await, [next(r#"{"data":{"viewer":"alice"}}"#)]);
    assert_eq!(events("mutation { set }", &[Admin]).await, [next(r#"{"data":{"set":true}}"#)]);
    let ticks = events("subscription { ticks(count: 2) }", &[Admin]).await;
    assert_eq!(ticks, [next(r#"{"data":{"ticks":0}}"#), next(r#"{"data":{"ticks":1}}"#)]);
}

#[tokio::test]
async fn an_operation_that_fails_whole_yields_an_error() {
    let brackets = format!("{{ echo(long: {}1{}) }}", "[".repeat(3_000), "]".repeat(3_000));
    for (text, roles, expected) in [
        ("subscription { ticks(count: 2) }", [Service], "FORBIDDEN"),
        ("subscription { tick }", [Admin], "BAD_USER_INPUT"),
        ("{ viewer", [Admin], "BAD_USER_INPUT"),
        (brackets.as_str(), [Admin], "QUERY_TOO_COMPLEX"),
        ("subscription { falters }", [Admin], "INTERNAL"),
        ("subscription { explodes }", [Admin], "INTERNAL"),
        ("{ panics }", [Admin], "INTERNAL"),
    ] {
        let all = events(text, &roles).await;
        let Some(Event::Error(errors)) = all.last() else { panic!("{text}: {all:?}") };
        let errors: Value = serde_json::from_str(errors).unwrap();
        assert_eq!(errors[0]["extensions"]["code"], expected, "{errors}");
        assert!(!errors.to_string().contains("hunter2"), "{errors}");
    }
}
