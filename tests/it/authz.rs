//! Who may do what: every root field of the published schema, asked by every actor, over both transports.

use std::collections::BTreeSet;

use async_graphql::parser::{
    parse_schema,
    types::{BaseType, ServiceDocument, Type, TypeKind, TypeSystemDefinition},
};
use paydesk::{
    auth::Role::{self, Admin, Operator, Service},
    jwt,
};
use serde_json::{Map, Value, json};

use crate::{
    payments::{APPROVED, CREATE, DECLINED, input},
    refunds::{REFUND, refund},
    support::{
        Shop, TestApp, Toss,
        api::{Actor, Socket, code, token},
        app::SECRET,
        eventually, shop,
    },
};

/// Root fields that no case below asks for: only ever shorter.
const UNCOVERED: &[&str] = &[];

const ANY_ROLE: &[Role] = &[Admin, Operator, Service];
const READERS: &[Role] = &[Admin, Operator];

/// A root field with a request for it and the roles that may make it.
struct Case {
    field: &'static str,
    query: &'static str,
    variables: Value,
    may: &'static [Role],
}

fn cases() -> Vec<Case> {
    let case = |field, query, variables, may| Case { field, query, variables, may };
    let none = || json!({});
    vec![
        case("Query.viewer", "{ viewer { subject } }", none(), ANY_ROLE),
        case("Query.overview", "{ overview { asOf } }", none(), READERS),
        case("Query.payment", "{ payment(id: 1) { id } }", none(), ANY_ROLE),
        case("Query.payments", "{ payments { nodes { id } } }", none(), READERS),
        case("Query.refund", "{ refund(id: 1) { id } }", none(), ANY_ROLE),
        case("Query.refunds", "{ refunds { nodes { id } } }", none(), READERS),
        case("Query.outboxEvent", "{ outboxEvent(id: 1) { id } }", none(), READERS),
        case("Query.outboxEvents", "{ outboxEvents { nodes { id } } }", none(), READERS),
        case("Query.failures", "{ failures { nodes { id } } }", none(), READERS),
        case("Query.inboundDeadLetter", "{ inboundDeadLetter(id: 1) { id } }", none(), READERS),
        case("Query.inboundDeadLetters", "{ inboundDeadLetters { nodes { id } } }", none(), READERS),
        case("Query.charge", "{ charge(id: 1) { id } }", none(), ANY_ROLE),
        case("Query.charges", "{ charges { nodes { id } } }", none(), READERS),
        case("Query.chargeJob", "{ chargeJob(id: 1) { id } }", none(), READERS),
        case("Query.chargeJobs", "{ chargeJobs { nodes { id } } }", none(), READERS),
        case("Query.chargeEvent", "{ chargeEvent(id: 1) { id } }", none(), READERS),
        case("Query.chargeEvents", "{ chargeEvents { nodes { id } } }", none(), READERS),
        case("Query.canProducts", "{ canProducts { sku } }", none(), ANY_ROLE),
        case("Query.member", "{ member(id: 1) { id } }", none(), ANY_ROLE),
        case("Query.invariants", "{ invariants { name } }", none(), READERS),
        // All are refused as business, after the guard.
        case("Mutation.requestCharge", shop::REQUEST, shop::request("", "999", "PG", "x"), &[Admin, Service]),
        case("Mutation.verify", VERIFY, verification(), &[Admin, Service]),
        case(
            "Mutation.payverseVerify",
            "mutation ($input: VerifyChargeInput!) { payverseVerify(input: $input) { userErrors { code } } }",
            verification(),
            &[Admin, Service],
        ),
        case(
            "Mutation.verifyHecto",
            "mutation ($input: VerifyChargeInput!) { verifyHecto(input: $input) { userErrors { code } } }",
            verification(),
            &[Admin, Service],
        ),
        case(
            "Mutation.appleVerify",
            "mutation { appleVerify(input: { orderId: \"CHG\", signedTransaction: \"x\" }) { userErrors { code } } }",
            none(),
            &[Admin, Service],
        ),
        case(
            "Mutation.processGoogleIap",
            "mutation { processGoogleIap(input: { orderId: \"CHG\", sku: \"x\", purchaseToken: \"x\" }) { userErrors { code } } }",
            none(),
            &[Admin, Service],
        ),
        case(
            "Mutation.upsertMember",
            "mutation { upsertMember(input: { nickname: \"\" }) { userErrors { code } } }",
            none(),
            &[Admin, Service],
        ),
        case(
            "Mutation.retryChargeJob",
            "mutation { retryChargeJob(input: { id: 999, reason: \"why\" }) { userErrors { code } } }",
            none(),
            &[Admin],
        ),
        case("Mutation.runChargeJobs", "mutation { runChargeJobs { claimed } }", none(), &[Admin]),
        case(
            "Mutation.createChargeEvent",
            "mutation ($input: ChargeEventInput!) { createChargeEvent(input: $input) { userErrors { code } } }",
            json!({ "input": shop::spring(0, 0) }),
            &[Admin],
        ),
        case(
            "Mutation.updateChargeEvent",
            "mutation ($input: ChargeEventInput!) { updateChargeEvent(id: 999, input: $input) { userErrors { code } } }",
            json!({ "input": shop::spring(1, 0) }),
            &[Admin],
        ),
        case(
            "Mutation.upsertCanProduct",
            "mutation { upsertCanProduct(input: { container: PG, sku: \"\", can: 1, price: 1, title: \"x\", isActive: true }) { userErrors { code } } }",
            none(),
            &[Admin],
        ),
        case("Mutation.createKeyInPayment", CREATE, input("", 1, 1, DECLINED), &[Admin, Service]),
        case("Mutation.refundPayment", REFUND, refund("", "999"), &[Admin, Service]),
        case(
            "Mutation.retryRefund",
            "mutation { retryRefund(input: { id: 999, reason: \"why\" }) { userErrors { code } } }",
            none(),
            &[Admin],
        ),
        case(
            "Mutation.reconcilePayment",
            "mutation { reconcilePayment(input: { id: 999, reason: \"why\" }) { userErrors { code } } }",
            none(),
            &[Admin],
        ),
        case(
            "Mutation.requeueOutboxEvent",
            "mutation { requeueOutboxEvent(input: { id: 999, reason: \"why\" }) { userErrors { code } } }",
            none(),
            &[Admin],
        ),
        case(
            "Mutation.replayInboundDeadLetter",
            "mutation { replayInboundDeadLetter(input: { id: 999, reason: \"why\" }) { userErrors { code } } }",
            none(),
            &[Admin],
        ),
        case(
            "Mutation.discardInboundDeadLetter",
            "mutation { discardInboundDeadLetter(input: { id: 999, reason: \"why\" }) { userErrors { code } } }",
            none(),
            &[Admin],
        ),
        case("Subscription.failures", "subscription { failures(after: \"0\") { lagged } }", none(), READERS),
        case("Subscription.overviewChanged", "subscription { overviewChanged { asOf } }", none(), READERS),
        case("Subscription.paymentChanged", "subscription { paymentChanged(id: 1) { id } }", none(), READERS),
        case(
            "Subscription.chargeJobChanged",
            "subscription { chargeJobChanged(id: 1) { id } }",
            none(),
            READERS,
        ),
        case("Subscription.refundChanged", "subscription { refundChanged(id: 1) { id } }", none(), READERS),
        case(
            "Subscription.outboxEventChanged",
            "subscription { outboxEventChanged(id: 1) { id } }",
            none(),
            READERS,
        ),
    ]
}

const VERIFY: &str =
    "mutation ($input: VerifyChargeInput!) { verify(input: $input) { userErrors { code } } }";

fn verification() -> Value {
    json!({ "input": { "orderId": "CHGnobody", "transactionId": "x" } })
}

fn schema() -> ServiceDocument {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema.graphql");
    parse_schema(std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The fields of an object type with their types.
fn fields(schema: &ServiceDocument, name: &str) -> Vec<(String, Type)> {
    let found = schema.definitions.iter().find_map(|definition| match definition {
        TypeSystemDefinition::Type(ty) if ty.node.name.node == name => Some(&ty.node.kind),
        _ => None,
    });
    let Some(TypeKind::Object(object)) = found else { panic!("{name} is no object type") };
    let named = |field: &async_graphql::parser::types::FieldDefinition| {
        (field.name.node.to_string(), field.ty.node.clone())
    };
    object.fields.iter().map(|field| named(&field.node)).collect()
}

fn base(ty: &Type) -> String {
    match &ty.base {
        BaseType::Named(name) => name.to_string(),
        BaseType::List(inner) => base(inner),
    }
}

/// A charge with its bonus: member 1, charge 1, job 1.
async fn with_a_charge(shop: &Shop, test: &TestApp) {
    shop::promotion(&test.admin(), 10, 0).await;
    let member = shop::member(&test.service()).await;
    assert_eq!(shop::bought(shop, &test.service(), &member).await, 1);
}

/// A declined payment: payment 1, its event 1 and its failure 1; and a refunded one: payment 2, refund 1; dead
/// letter 1.
async fn with_one_of_each(test: &TestApp) {
    let data = test.service().data(CREATE, input("k", 7, 42, DECLINED)).await;
    assert_eq!(data["createKeyInPayment"]["payment"]["id"], "1");
    let data = test.service().data(CREATE, input("k2", 8, 42, APPROVED)).await;
    assert_eq!(data["createKeyInPayment"]["payment"]["id"], "2");
    test.service().data(REFUND, refund("r", "2")).await;
    test.db
        .run(
            "INSERT INTO inbound_dead_letter (queue, body, headers, error_class, error_code, error)
             VALUES ('payment.meeting.deleted', '{}', '{}', 'DATA', 'NOT_JSON', 'no')",
        )
        .await;
    eventually("the failure has its position", async || {
        (test.db.count("failure WHERE position = 1").await == 1).then_some(())
    })
    .await;
}

async fn over_websocket(actor: &Actor, query: &str, variables: Value) -> Value {
    let mut socket = actor.socket().await;
    socket.subscribe("1", query, variables).await;
    let mut message = socket.next().await.unwrap();
    match message["type"].as_str() {
        Some("next") => message["payload"].take(),
        Some("error") => json!({ "errors": message["payload"].take() }),
        _ => panic!("{message:#}"),
    }
}

#[test]
fn every_root_field_has_a_case_and_every_case_a_root_field() {
    let schema = schema();
    let mut published = BTreeSet::new();
    for root in ["Query", "Mutation", "Subscription"] {
        published.extend(fields(&schema, root).into_iter().map(|(field, _)| format!("{root}.{field}")));
    }
    let mut covered: BTreeSet<String> = cases().iter().map(|case| case.field.to_owned()).collect();
    for uncovered in UNCOVERED {
        assert!(covered.insert((*uncovered).to_owned()), "{uncovered} is covered: take it off the list");
    }
    assert_eq!(covered, published);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_root_field_is_for_its_roles_and_nobody_else() {
    let toss = Toss::start().await;
    let shop = Shop::start().await;
    let test = TestApp::builder().toss(&toss).shop(&shop).start().await;
    with_one_of_each(&test).await;
    with_a_charge(&shop, &test).await;
    let actors: [&[Role]; 4] = [&[], &[Service], &[Operator], &[Admin]];
    for case in cases() {
        let is_subscription = case.field.starts_with("Subscription");
        for roles in actors {
            let actor = test.actor(roles);
            let expected = if roles.iter().any(|role| case.may.contains(role)) { "OK" } else { "FORBIDDEN" };
            let answer = over_websocket(&actor, case.query, case.variables.clone()).await;
            assert_eq!(code(&answer), expected, "{} by {roles:?} over the websocket: {answer}", case.field);
            if !is_subscription {
                let answer = actor.query(case.query, case.variables.clone()).await;
                assert_eq!(code(&answer), expected, "{} by {roles:?}: {answer}", case.field);
                let is_null = answer["data"].as_object().is_none_or(|data| data.values().all(Value::is_null));
                assert_eq!(is_null, expected != "OK", "{} by {roles:?}: {answer}", case.field);
            }
        }
        let (status, answer) =
            test.anonymous().post(&json!({ "query": case.query, "variables": case.variables })).await;
        assert_eq!((status, code(&answer)), (401, "UNAUTHENTICATED"), "{}", case.field);
    }
    test.stop().await;
}

/// Asks as a service for each field of the object that `root` answers with; those that only operators see.
async fn operator_data(test: &TestApp, ty: &str, root: &str, plain: &[&str]) -> Vec<String> {
    let schema = schema();
    let is_object = |name: &str| {
        schema.definitions.iter().any(|definition| {
            matches!(definition, TypeSystemDefinition::Type(ty)
                if ty.node.name.node == name && matches!(ty.node.kind, TypeKind::Object(_)))
        })
    };
    let mut operator_data = Vec::new();
    for (field, ty) in fields(&schema, ty) {
        let is_object = is_object(&base(&ty));
        let selection = if is_object { format!("{field} {{ __typename }}") } else { field.clone() };
        let query = format!("{{ {root} {{ {selection} }} }}");
        let answer = test.service().query(&query, json!({})).await;
        let is_hidden = is_object && !plain.contains(&field.as_str());
        assert_eq!(code(&answer), if is_hidden { "FORBIDDEN" } else { "OK" }, "{field}: {answer}");
        if is_hidden {
            assert_eq!(code(&test.operator().query(&query, json!({})).await), "OK", "{field}");
            operator_data.push(field);
        }
    }
    operator_data
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_sees_plain_fields_of_a_payment_and_no_operator_data() {
    let toss = Toss::start().await;
    let test = TestApp::builder().toss(&toss).start().await;
    with_one_of_each(&test).await;
    let hidden = operator_data(&test, "Payment", "payment(id: 1)", &[]).await;
    assert_eq!(
        hidden,
        ["outboxEvents", "providerCalls", "failures", "refunds", "waitingFor", "availableActions",]
    );
    // The mutation's payment is no other.
    for field in hidden {
        let query = CREATE.replace("payment { id", &format!("payment {{ id more: {field} {{ __typename }}"));
        let answer = test.service().query(&query, input("k", 7, 42, DECLINED)).await;
        assert_eq!(code(&answer), "FORBIDDEN", "{field}: {answer}");
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_sees_a_charge_its_member_and_wallets_and_no_operator_data() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    with_a_charge(&shop, &test).await;
    let hidden = operator_data(&test, "Charge", "charge(id: 1)", &["member"]).await;
    assert_eq!(hidden, ["jobs", "providerCalls", "failures"]);
    let hidden = operator_data(&test, "Member", "member(id: 1)", &["wallets"]).await;
    assert_eq!(hidden, ["ledger"]);
    let query = "{ charge(id: 1) { member { wallets { chargeCan bonusCan } ledger { nodes { id } } } } }";
    assert_eq!(test.service().refused(query, json!({})).await, "FORBIDDEN");
    test.stop().await;
}

/// A token with these claims instead of the usual ones; null takes a claim out.
fn token_with(changes: Value) -> String {
    let in_an_hour =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() + 3600;
    let usual = json!({ "iss": "paydesk-tests", "aud": "paydesk", "sub": "eve", "exp": in_an_hour, "roles": ["ADMIN"] });
    let mut claims: Map<String, Value> = usual.as_object().unwrap().clone();
    for (claim, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.remove(claim);
        } else {
            claims.insert(claim.clone(), value.clone());
        }
    }
    jwt::sign(&SECRET.into(), &claims).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_expired_or_for_somebody_else_opens_nothing() {
    let test = TestApp::start().await;
    let ask = async |token: String| {
        let actor = Actor::new(test.base.clone(), Some(token));
        let (status, answer) = actor.post(&json!({ "query": "{ __typename viewer { subject } }" })).await;
        (status, code(&answer).to_owned(), answer["data"].clone())
    };
    assert_eq!(ask(token_with(json!({}))).await.0, 200);
    let signature = token(&[Admin], "eve").rsplit_once('.').unwrap().1.to_owned();
    let unsigned = token(&[Admin], "eve").rsplit_once('.').unwrap().0.to_owned();
    let tampered = token(&[Service], "eve").rsplit_once('.').unwrap().0.to_owned();
    for (what, refused) in [
        ("expired", token_with(json!({ "exp": 1_700_000_000 }))),
        ("without expiry", token_with(json!({ "exp": null }))),
        ("wrong audience", token_with(json!({ "aud": "another" }))),
        ("without audience", token_with(json!({ "aud": null }))),
        ("wrong issuer", token_with(json!({ "iss": "another" }))),
        ("without issuer", token_with(json!({ "iss": null }))),
        ("not yet valid", token_with(json!({ "nbf": 32_503_680_000_i64 }))),
        ("unsigned", format!("{unsigned}.")),
        ("with another token's signature", format!("{tampered}.{signature}")),
        ("no token", "x".to_owned()),
    ] {
        assert_eq!(ask(refused.clone()).await, (401, "UNAUTHENTICATED".to_owned(), Value::Null), "{what}");
        let mut socket = Socket::connect(&test.base).await;
        let payload = json!({ "authorization": format!("Bearer {refused}") });
        socket.send(json!({ "type": "connection_init", "payload": payload })).await;
        assert_eq!(socket.next().await, None, "{what}");
        assert_eq!(socket.close_code, Some(4403), "{what}");
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_is_no_role_of_ours_is_no_role() {
    let test = TestApp::start().await;
    for roles in [json!(["admin"]), json!(["ROOT"]), json!("ADMINISTRATOR"), json!([]), json!(null)] {
        let actor = Actor::new(test.base.clone(), Some(token_with(json!({ "roles": roles }))));
        assert_eq!(actor.refused("{ viewer { subject } }", json!({})).await, "FORBIDDEN", "{roles}");
    }
    test.stop().await;
}
