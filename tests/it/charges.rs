//! Charges: asked for by the price list, completed once by one rule, and every refusal with its code.

use serde_json::{Value, json};

use crate::support::{
    Shop, TestApp, eventually,
    shop::{REQUEST, bought, ended, member, order, paid_at_bootpay, promotion, request, requested, verify},
};

/// The failures of charges: kind, severity and code.
pub async fn alarms(test: &TestApp) -> Vec<String> {
    let sql =
        "SELECT concat_ws(' ', kind, severity, code) FROM failure WHERE subject_type = 'CHARGE' ORDER BY id";
    test.db.values(sql).await
}

/// The balances of a member in a container.
pub async fn balances(test: &TestApp, member: &str, container: &str) -> (i64, i64) {
    let sql = format!(
        "SELECT charge_can, bonus_can FROM wallet WHERE member_id = {member} AND container = '{container}'"
    );
    let row = test.db.client.query_opt(&sql, &[]).await.unwrap();
    row.map_or((0, 0), |row| (row.get(0), row.get(1)))
}

/// The books: for every member and container the balance is the sum of its entries, and every credited charge has one.
pub async fn books_are_true(test: &TestApp) {
    let wrong = test
        .db
        .count(
            "wallet w FULL JOIN (
                 SELECT member_id, container, sum(can) FILTER (WHERE kind = 'CHARGE') AS charged,
                        sum(can) FILTER (WHERE kind = 'BONUS') AS given
                 FROM ledger_entry GROUP BY member_id, container
             ) l USING (member_id, container)
             WHERE coalesce(w.charge_can, 0) <> coalesce(l.charged, 0) OR coalesce(w.bonus_can, 0) <> coalesce(l.given, 0)",
        )
        .await;
    assert_eq!(wrong, 0, "balances that are not the sum of their entries");
    let wrong = test
        .db
        .count(
            "charge c FULL JOIN ledger_entry l ON l.charge_id = c.id
             WHERE (c.payment_status = 'COMPLETE') IS DISTINCT FROM (l.id IS NOT NULL)
                OR l.can <> c.can OR l.kind <> CASE c.status WHEN 'EVENT' THEN 'BONUS' ELSE 'CHARGE' END",
        )
        .await;
    assert_eq!(wrong, 0, "charges without their one entry");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charge_costs_what_the_price_list_says_and_tells_how_to_pay_it() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let member = member(&test.service()).await;
    for (gateway, container, field) in [
        ("PG", "PG", "order_id"),
        ("PAYVERSE", "PG", "sign"),
        ("HECTO", "PG", "pktHash"),
        ("GOOGLE_IAP", "AOS", "obfuscatedAccountId"),
        ("APPLE_IAP", "IOS", "appAccountToken"),
    ] {
        let variables = request(gateway, &member, gateway, "coin_100");
        let payload = test.service().data(REQUEST, variables.clone()).await["requestCharge"].take();
        let charge = &payload["charge"];
        assert_eq!((&charge["can"], &charge["price"]), (&json!(100), &json!(11_000)), "{payload:#}");
        assert_eq!(
            (&charge["container"], &charge["paymentStatus"], &charge["status"]),
            (&json!(container), &json!("REQUEST"), &json!("CHARGE"))
        );
        assert_eq!(payload["checkout"]["gateway"], gateway);
        let fields = payload["checkout"]["fields"].as_array().unwrap();
        assert!(fields.iter().any(|known| known["name"] == field), "{gateway}: {fields:?}");
        // The same key again: the same charge and the same checkout.
        let again = test.service().data(REQUEST, variables).await["requestCharge"].take();
        assert_eq!((&again["charge"], &again["replayed"]), (charge, &json!(true)));
        assert_eq!(again["checkout"], payload["checkout"]);
    }
    assert_eq!(test.db.count("charge").await, 5);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charge_that_cannot_be_asked_for_leaves_no_row_and_no_key() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    let ask = async |variables: Value| {
        let payload = test.service().data(REQUEST, variables).await["requestCharge"].take();
        payload["userErrors"][0]["code"].as_str().map(str::to_owned)
    };
    let code = |code: &str| Some(code.to_owned());
    assert_eq!(ask(request("k", "999", "PG", "coin_100")).await, code("NOT_FOUND"));
    assert_eq!(ask(request("k", &member, "PG", "coin_7")).await, code("NOT_FOUND"));
    assert_eq!(ask(request("k", "-1", "PG", "coin_100")).await, code("INVALID_INPUT"));
    assert_eq!(ask(request("", &member, "PG", "coin_100")).await, code("INVALID_INPUT"));
    assert_eq!(ask(request("k", &member, "PG", "a\0b")).await, code("INVALID_INPUT"));
    assert_eq!(test.db.count("charge").await + test.db.count("idempotency_key").await, 0);
    assert_eq!(ask(request("k", &member, "PG", "coin_100")).await, None);
    assert_eq!(ask(request("k", &member, "PG", "coin_50")).await, code("IDEMPOTENCY_KEY_REUSED"));
    assert_eq!(test.operator().refused(REQUEST, request("x", &member, "PG", "coin_100")).await, "FORBIDDEN");
    test.stop().await;

    let without = TestApp::start().await;
    let member = crate::support::shop::member(&without.service()).await;
    let payload = without.service().data(REQUEST, request("k", &member, "PG", "coin_100")).await;
    assert_eq!(payload["requestCharge"]["userErrors"][0]["code"], "GATEWAY_UNAVAILABLE");
    without.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paid_purchase_completes_its_charge_once_and_credits_the_wallet() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "PG").await;
    let receipt = paid_at_bootpay(&shop, order(&charge)).await;
    let first = verify(&test.service(), "verify", order(&charge), &receipt).await;
    assert_eq!(ended(&first), (Some("COMPLETE"), false, None), "{first:#}");
    assert_eq!(first["charge"]["gatewayTransactionId"], receipt.as_str());
    let calls = shop.calls("bootpay", "lookup").await.len();
    let again = verify(&test.service(), "verify", order(&charge), &receipt).await;
    assert_eq!(ended(&again), (Some("COMPLETE"), true, None));
    assert_eq!(shop.calls("bootpay", "lookup").await.len(), calls, "what is known is not asked again");
    assert_eq!(balances(&test, &member, "PG").await, (100, 0));
    books_are_true(&test).await;

    let query = "query ($id: ID!) { member(id: $id) { wallets { container chargeCan bonusCan }
        ledger { nodes { container kind can balanceAfter charge { id providerCalls { provider operation outcome } failures { id } } }
                 count { value } } } }";
    let data = test.operator().data(query, json!({ "id": member })).await;
    let empty = |container| json!({ "container": container, "chargeCan": 0, "bonusCan": 0 });
    assert_eq!(
        data["member"]["wallets"],
        json!([{ "container": "PG", "chargeCan": 100, "bonusCan": 0 }, empty("AOS"), empty("IOS")])
    );
    let entry = &data["member"]["ledger"]["nodes"][0];
    assert_eq!((&entry["kind"], &entry["balanceAfter"]), (&json!("CHARGE"), &json!(100)));
    assert_eq!(entry["charge"]["id"], charge["id"]);
    let calls = entry["charge"]["providerCalls"].as_array().unwrap();
    assert!(calls.iter().any(|call| call["outcome"] == "APPROVED"), "{calls:?}");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_charge_asked_about_many_times_in_parallel_has_one_completion_one_job_and_one_bonus() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("first-charge-percent", 10).start().await;
    let second = TestApp::builder().shop(&shop).set("first-charge-percent", 10).start_beside(&test).await;
    promotion(&test.admin(), 20, 0).await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "PAYVERSE").await;
    let order_id = order(&charge).to_owned();
    // By the webhook, in both processes, and by verify at once.
    let tid = shop.buy(json!({ "gateway": "payverse", "orderId": order_id, "amount": 11_000 })).await;
    let webhook = json!({
        "gateway": "payverse", "orderId": order_id, "amount": 11_000, "transactionId": tid, "webhook": true,
        "webhookUrl": format!("http://{}/webhooks", test.base),
    });
    let mut under_way = tokio::task::JoinSet::new();
    for number in 0..16 {
        let actor = if number % 2 == 0 { test.service() } else { second.service() };
        let (order_id, tid) = (order_id.clone(), tid.clone());
        under_way.spawn(async move { verify(&actor, "payverseVerify", &order_id, &tid).await });
    }
    for _ in 0..4 {
        shop.buy(webhook.clone()).await;
    }
    for payload in under_way.join_all().await {
        assert_eq!((ended(&payload).0, ended(&payload).2), (Some("COMPLETE"), None), "{payload:#}");
    }
    eventually("every webhook was received", async || {
        let sent = shop.calls("payverse", "webhook").await;
        (sent.iter().filter(|call| call["outcome"] == "RECEIVED").count() == 4).then_some(())
    })
    .await;
    let jobs = "SELECT concat_ws(' ', job_type, additional_can, status) FROM charge_event_job ORDER BY id";
    assert_eq!(test.db.values::<String>(jobs).await, ["FIRST_CHARGE 10 DONE", "ACTIVE_CHARGE_EVENT 20 DONE"]);
    assert_eq!(test.db.count("charge WHERE status = 'EVENT'").await, 2);
    assert_eq!(balances(&test, &member, "PG").await, (100, 30));
    books_are_true(&test).await;
    assert_eq!(alarms(&test).await, Vec::<String>::new());
    test.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_paid_as_asked_stays_in_request_with_its_own_code() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let member = member(&test.service()).await;
    let present = async |purchase: Value| {
        let charge = requested(&test.service(), &member, "PG").await;
        let mut all = json!({ "gateway": "bootpay", "orderId": order(&charge), "amount": 11_000 });
        all.as_object_mut().unwrap().extend(purchase.as_object().unwrap().clone());
        let receipt = shop.buy(all).await;
        let payload = verify(&test.service(), "verify", order(&charge), &receipt).await;
        assert_eq!(ended(&payload).0, Some("REQUEST"), "{payload:#}");
        let due: bool = test
            .db
            .value(&format!(
                "SELECT next_check_at IS NOT NULL FROM charge_reference WHERE charge_id = {}",
                charge["id"].as_str().unwrap()
            ))
            .await;
        (ended(&payload).2.unwrap_or("none").to_owned(), due)
    };
    // Whether it is asked about again: what may change is, what is final is not.
    for (purchase, code, asked_again) in [
        (json!({ "status": "pending" }), "PURCHASE_PENDING", true),
        (json!({ "status": "cancelled" }), "PURCHASE_CANCELED", false),
        (json!({ "status": "declined" }), "CHARGE_NOT_PAID", true),
        (json!({ "sandbox": true }), "SANDBOX_REFUSED", false),
        (json!({ "amount": 100 }), "AMOUNT_MISMATCH", false),
        (json!({ "currency": "USD" }), "CURRENCY_MISMATCH", false),
        (json!({ "orderId": "CHGanother" }), "OWNER_MISMATCH", false),
    ] {
        assert_eq!(present(purchase.clone()).await, (code.to_owned(), asked_again), "{purchase}");
    }
    assert_eq!(test.db.count("ledger_entry").await, 0);
    // Who paid and got nothing is told, each once.
    let mismatch = |code: &str| format!("CHARGE_MISMATCH CRITICAL {code}");
    assert_eq!(alarms(&test).await, ["AMOUNT_MISMATCH", "CURRENCY_MISMATCH", "OWNER_MISMATCH"].map(mismatch));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mismatch_is_told_once_however_often_it_is_presented() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "PG").await;
    let purchase = json!({ "gateway": "bootpay", "orderId": order(&charge), "amount": 1 });
    let receipt = shop.buy(purchase).await;
    for _ in 0..3 {
        let payload = verify(&test.service(), "verify", order(&charge), &receipt).await;
        assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("AMOUNT_MISMATCH")));
    }
    assert_eq!(alarms(&test).await, ["CHARGE_MISMATCH CRITICAL AMOUNT_MISMATCH"]);
    // Nor after many other failures of it; and a gateway that names no currency leaves no gap in the message.
    let id = charge["id"].as_str().unwrap();
    let many = format!(
        "INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint)
         SELECT 'STUCK_RECOVERED', 'INFO', 'CHARGE', '{id}', 'X', 'x', 'x' FROM generate_series(1, 150)"
    );
    test.db.run(&many).await;
    verify(&test.service(), "verify", order(&charge), &receipt).await;
    assert_eq!(test.db.count("failure WHERE kind = 'CHARGE_MISMATCH'").await, 1);
    let charge = requested(&test.service(), &member, "HECTO").await;
    let cheap = shop.buy(json!({ "gateway": "hecto", "orderId": order(&charge), "amount": 1 })).await;
    verify(&test.service(), "verifyHecto", order(&charge), &cheap).await;
    let told = format!("failure WHERE message LIKE '%(transaction {cheap} of HECTO, 1) and got nothing%'");
    assert_eq!(test.db.count(&told).await, 1);
    let query = "{ failures(filter: { kind: [CHARGE_MISMATCH] }) { nodes { subject { ... on Charge { orderId } } } } }";
    let data = eventually("the feed has it", async || {
        let data = test.operator().data(query, json!({})).await;
        data["failures"]["nodes"].as_array().is_some_and(|nodes| nodes.len() == 2).then_some(data)
    })
    .await;
    assert_eq!(data["failures"]["nodes"][0]["subject"]["orderId"], order(&charge));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_pays_one_charge_and_a_charge_is_paid_by_one_purchase() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    let (first, second) =
        (requested(&service, &member, "PG").await, requested(&service, &member, "PG").await);
    let receipt = paid_at_bootpay(&shop, order(&first)).await;
    assert_eq!(ended(&verify(&service, "verify", order(&first), &receipt).await).0, Some("COMPLETE"));

    // The other way in, the other charge.
    let payload = verify(&service, "payverseVerify", order(&second), &receipt).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("GATEWAY_MISMATCH")));
    let payload = verify(&service, "verify", order(&second), &receipt).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("TRANSACTION_ALREADY_USED")));
    assert_eq!(alarms(&test).await, Vec::<String>::new());

    // A second purchase for the paid one: somebody paid twice.
    let again = paid_at_bootpay(&shop, order(&first)).await;
    for _ in 0..2 {
        let payload = verify(&service, "verify", order(&first), &again).await;
        assert_eq!(ended(&payload), (Some("COMPLETE"), false, Some("ORDER_ALREADY_PAID")));
    }
    assert_eq!(alarms(&test).await, ["DUPLICATE_PURCHASE CRITICAL ORDER_ALREADY_PAID"]);
    // One that is not paid is only that.
    let unpaid = shop
        .buy(
            json!({ "gateway": "bootpay", "orderId": order(&first), "amount": 11_000, "status": "declined" }),
        )
        .await;
    let payload = verify(&service, "verify", order(&first), &unpaid).await;
    assert_eq!(ended(&payload), (Some("COMPLETE"), false, Some("CHARGE_NOT_PAID")));
    let payload = verify(&service, "verify", "CHGnobody", &receipt).await;
    assert_eq!(ended(&payload), (None, false, Some("NOT_FOUND")));
    let payload = verify(&service, "verify", order(&first), "").await;
    assert_eq!(ended(&payload), (None, false, Some("INVALID_INPUT")));
    assert_eq!(balances(&test, &member, "PG").await, (100, 0));
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_purchase_presented_for_two_charges_at_once_pays_one() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let service = test.service();
    let member = member(&service).await;
    // The stores' transactions name no order of ours: only that they are used once keeps them apart.
    for (gateway, store, container) in [("APPLE_IAP", "apple", "IOS"), ("GOOGLE_IAP", "google", "AOS")] {
        let mut charges = Vec::new();
        for _ in 0..8 {
            charges.push(requested(&service, &member, gateway).await);
        }
        let bought = shop.buy(json!({ "gateway": store, "sku": "coin_100" })).await;
        let mut under_way = tokio::task::JoinSet::new();
        for charge in &charges {
            let (actor, order_id, bought) = (test.service(), order(charge).to_owned(), bought.clone());
            under_way.spawn(async move {
                match gateway {
                    "APPLE_IAP" => crate::support::shop::apple(&actor, &order_id, &bought).await,
                    _ => crate::support::shop::google(&actor, &order_id, "coin_100", &bought).await,
                }
            });
        }
        let answers = under_way.join_all().await;
        let ended: Vec<_> = answers.iter().map(ended).collect();
        let complete = ended.iter().filter(|end| **end == (Some("COMPLETE"), false, None)).count();
        let used = ended.iter().filter(|end| end.2 == Some("TRANSACTION_ALREADY_USED")).count();
        assert_eq!((complete, used), (1, 7), "{gateway}: {ended:?}");
        assert_eq!(balances(&test, &member, container).await, (100, 0));
    }
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_is_stored_before_the_gateway_is_asked() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "PG").await;
    let receipt = paid_at_bootpay(&shop, order(&charge)).await;
    shop.behave(json!({ "gateway": "bootpay", "operation": "lookup", "delayMs": 2000 })).await;
    let (actor, order_id, presented) = (test.service(), order(&charge).to_owned(), receipt.clone());
    let verifying = tokio::spawn(async move { verify(&actor, "verify", &order_id, &presented).await });
    eventually("it is stored", async || {
        let stored = format!("charge_reference WHERE reference = '{receipt}' AND outcome IS NULL");
        (test.db.count(&stored).await == 1).then_some(())
    })
    .await;
    assert_eq!(ended(&verifying.await.unwrap()).0, Some("COMPLETE"));
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_presented_while_the_gateway_is_off_is_kept_for_later() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    let off = TestApp::builder().set("workers", false).start_beside(&test).await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "PG").await;
    let receipt = paid_at_bootpay(&shop, order(&charge)).await;
    let payload = verify(&off.service(), "verify", order(&charge), &receipt).await;
    assert_eq!(ended(&payload), (Some("REQUEST"), false, Some("GATEWAY_UNAVAILABLE")));
    // However much is presented meanwhile.
    for number in 0..25 {
        verify(&off.service(), "verify", order(&charge), &format!("junk-{number}")).await;
    }
    assert_eq!(test.db.count("charge_reference WHERE next_check_at IS NOT NULL").await, 20);
    let reconciler = TestApp::builder()
        .shop(&shop)
        .set("charge-reconcile-interval", "200ms")
        .set("charge-reconcile-after", "200ms")
        .start_beside(&test)
        .await;
    test.db.run("UPDATE charge_reference SET next_check_at = now()").await;
    eventually("it is completed", async || {
        (test.db.count("charge WHERE payment_status = 'COMPLETE'").await == 1).then_some(())
    })
    .await;
    for app in [test, off, reconciler] {
        app.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_charges_costs_the_same_statements_whatever_the_page_holds() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    promotion(&test.admin(), 10, 0).await;
    let mut members = Vec::new();
    for _ in 0..12 {
        let member = member(&test.service()).await;
        bought(&shop, &test.service(), &member).await;
        members.push(member);
    }
    // Two, since what both ask for of a charge is loaded together only if they come to it at once.
    let buyer =
        "member { id wallets { chargeCan } ledger(first: 2) { nodes { id charge { id } } count { value } } }
        providerCalls { outcome } failures { id }";
    let bonus = "jobs { id member { id } chargeEvent { id } resultCharge { id } waitingFor { reason } failures { id } }";
    let cost = async |fields: &str, rows: usize| {
        let query = format!(
            "query ($n: Int) {{ charges(first: $n, filter: {{ status: [CHARGE] }}) {{ nodes {{ id {fields} }} count {{ value }} }} }}"
        );
        let mut costs = Vec::new();
        for _ in 0..6 {
            let before = test.app.db.statements();
            let data = test.operator().data(&query, json!({ "n": rows })).await;
            costs.push(test.app.db.statements() - before);
            let nodes = data["charges"]["nodes"].as_array().unwrap();
            assert_eq!(nodes.len(), rows);
            let full = |node: &Value| {
                let ledger = &node["member"]["ledger"];
                node["jobs"][0]["resultCharge"]["id"].is_string()
                    || (ledger["count"]["value"] == 2 && ledger["nodes"][1]["charge"]["id"].is_string())
            };
            assert!(nodes.iter().all(full), "{data:#}");
        }
        // The feed and the metrics look at the database beside it, now and then.
        costs.into_iter().min().unwrap()
    };
    for fields in [buyer, bonus] {
        let few = cost(fields, 3).await;
        assert_eq!(cost(fields, 12).await, few, "statements for 12 rows, and for 3, with {fields}");
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn members_and_products_are_written_and_what_operators_did_is_audited() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let upsert = "mutation ($input: MemberInput!) { upsertMember(input: $input) { member { id nickname } userErrors { code field } } }";
    let named = async |actor: crate::support::api::Actor, input: Value| {
        actor.data(upsert, json!({ "input": input })).await["upsertMember"].take()
    };
    let made = named(test.service(), json!({ "id": "2", "nickname": "Kim" })).await;
    assert_eq!(made["member"], json!({ "id": "2", "nickname": "Kim" }));
    // Ids of ours pass by those that another service brought along.
    let ours = named(test.service(), json!({ "nickname": "Lee" })).await;
    let next = named(test.service(), json!({ "nickname": "Park" })).await;
    assert_eq!((&ours["member"]["id"], &next["member"]["id"]), (&json!("1"), &json!("3")));
    let renamed = named(test.admin(), json!({ "id": "2", "nickname": " Choi " })).await;
    assert_eq!(renamed["member"]["nickname"], "Choi");
    let refused = named(test.service(), json!({ "id": "2", "nickname": " " })).await;
    assert_eq!(refused["userErrors"], json!([{ "code": "INVALID_INPUT", "field": ["input", "nickname"] }]));

    let product = "mutation ($input: CanProductInput!) { upsertCanProduct(input: $input) {
        canProduct { sku can price isActive } userErrors { code field } } }";
    let input = |sku: &str, can: i64, price: i64, active: bool| json!({ "input": { "container": "PG", "sku": sku, "can": can, "price": price, "title": "Many", "isActive": active } });
    let before = bought(&shop, &test.service(), "1").await;
    let charge = requested(&test.service(), "1", "PG").await;
    let data = test.admin().data(product, input("coin_100", 120, 9_900, true)).await;
    assert_eq!(data["upsertCanProduct"]["userErrors"], json!([]));
    assert_eq!(requested(&test.service(), "1", "PG").await["can"], 120);
    // What was requested before keeps its price.
    let receipt = paid_at_bootpay(&shop, order(&charge)).await;
    assert_eq!(ended(&verify(&test.service(), "verify", order(&charge), &receipt).await).0, Some("COMPLETE"));
    assert_eq!(test.db.value::<i64>(&format!("SELECT can FROM charge WHERE id = {before}")).await, 100);
    for (bad, field) in
        [(input("", 1, 1, true), "sku"), (input("x", 0, 1, true), "can"), (input("x", 1, 0, true), "price")]
    {
        let data = test.admin().data(product, bad).await;
        assert_eq!(data["upsertCanProduct"]["userErrors"][0]["field"], json!(["input", field]));
    }
    // What somebody else has changed since it was read is not written over; the same again is no conflict.
    let seen = "mutation ($input: CanProductInput!, $seen: DateTime) {
        upsertCanProduct(input: $input, expectedUpdatedAt: $seen, reason: \"spring\") { canProduct { updatedAt } userErrors { code } } }";
    let write = async |price: i64, seen_at: Value| {
        let mut variables = input("coin_100", 120, price, false);
        variables["seen"] = seen_at;
        test.admin().data(seen, variables).await["upsertCanProduct"].take()
    };
    let read = "{ canProducts(inactiveToo: true) { sku container updatedAt } }";
    let all = test.service().data(read, json!({})).await;
    let known = all["canProducts"].as_array().unwrap();
    let known = known.iter().find(|one| one["sku"] == "coin_100" && one["container"] == "PG").unwrap();
    let changed = write(9_900, known["updatedAt"].clone()).await;
    assert_eq!(changed["userErrors"], json!([]));
    assert_eq!(write(9_900, known["updatedAt"].clone()).await["userErrors"], json!([]));
    let late = write(8_000, known["updatedAt"].clone()).await;
    assert_eq!(late["userErrors"], json!([{ "code": "CHANGED_MEANWHILE" }]));
    // One that must be new is not written over one that is there; of two at once, one is made.
    let new = "mutation ($input: CanProductInput!) { upsertCanProduct(input: $input, mustBeNew: true) { userErrors { code } } }";
    let taken = test.admin().data(new, input("coin_100", 1, 1, true)).await;
    assert_eq!(taken["upsertCanProduct"]["userErrors"], json!([{ "code": "CHANGED_MEANWHILE" }]));
    let admin = test.admin();
    let both = tokio::join!(
        admin.data(new, input("coin_7", 7, 700, true)),
        admin.data(new, input("coin_7", 7, 800, true))
    );
    let refused = |data: &Value| data["upsertCanProduct"]["userErrors"].as_array().unwrap().len();
    assert_eq!(refused(&both.0) + refused(&both.1), 1, "{both:?}");
    let listed = async |arguments: &str| {
        let query = format!("{{ canProducts{arguments} {{ sku container }} }}");
        test.service().data(&query, json!({})).await["canProducts"].as_array().unwrap().len()
    };
    assert_eq!((listed("").await, listed("(inactiveToo: true)").await), (15, 16));
    let audited = "SELECT concat_ws(' ', actor, action, target_type, target_id, before IS NOT NULL, reason) FROM audit_entry ORDER BY id";
    assert_eq!(
        test.db.values::<String>(audited).await,
        [
            "admin upsertMember MEMBER 2 t",
            "admin upsertCanProduct CAN_PRODUCT PG:coin_100 t",
            "admin upsertCanProduct CAN_PRODUCT PG:coin_100 t spring",
            "admin upsertCanProduct CAN_PRODUCT PG:coin_100 t spring",
            "admin upsertCanProduct CAN_PRODUCT PG:coin_7 f",
        ]
    );
    test.stop().await;
}
