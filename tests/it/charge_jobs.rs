//! Bonus jobs: granted at once, tried again when that fails, never twice, and shown to operators all the way.

use serde_json::{Value, json};

use crate::{
    charges::{balances, books_are_true},
    support::{
        Shop, TestApp, eventually,
        shop::{bought, member, order, paid_at_bootpay, promotion, requested, spring, verify},
    },
};

const RUN: &str = "mutation ($force: Boolean) { runChargeJobs(force: $force) {
    claimed done failed skippedNoActivePromotion userErrors { code } } }";
const RETRY: &str = "mutation ($input: OperatorActionInput!) { retryChargeJob(input: $input) {
    chargeJob { id status retryCount nextRetryAt } userErrors { code message } } }";
const UPDATE: &str =
    "mutation ($id: ID!, $input: ChargeEventInput!) { updateChargeEvent(id: $id, input: $input) {
    chargeEvent { id addPercent isActive } userErrors { code field } } }";

/// Every grant fails from now on.
async fn bonuses_fail(test: &TestApp) {
    test.db
        .run(
            "CREATE FUNCTION no_bonus() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE EXCEPTION 'no bonus today'; END $$;
             CREATE TRIGGER no_bonus BEFORE INSERT ON ledger_entry FOR EACH ROW WHEN (NEW.kind = 'BONUS')
                 EXECUTE FUNCTION no_bonus()",
        )
        .await;
}

async fn bonuses_work_again(test: &TestApp) {
    test.db.run("DROP TRIGGER no_bonus ON ledger_entry; DROP FUNCTION no_bonus()").await;
}

/// The one job in words: status, retries, minutes until it is due, error.
async fn job(test: &TestApp) -> String {
    // `updated_at` is the moment of the last mark, by the same clock.
    let sql = "SELECT concat_ws(' ', status, retry_count, extract(epoch FROM next_retry_at - updated_at)::int / 60, last_error)
               FROM charge_event_job";
    test.db.value(sql).await
}

/// What went wrong with jobs: kind, severity, code.
async fn told(test: &TestApp) -> Vec<String> {
    let sql = "SELECT concat_ws(' ', kind, severity, code) FROM failure WHERE subject_type = 'CHARGE_JOB' ORDER BY id";
    test.db.values(sql).await
}

async fn run(test: &TestApp, force: bool) -> Value {
    test.admin().data(RUN, json!({ "force": force })).await["runChargeJobs"].take()
}

/// A run in words: claimed, done, failed.
fn did(run: &Value) -> (i64, i64, i64) {
    let number = |name: &str| run[name].as_i64().unwrap();
    (number("claimed"), number("done"), number("failed"))
}

async fn make_due(test: &TestApp) {
    test.db.run("UPDATE charge_event_job SET next_retry_at = now() WHERE status = 'PENDING'").await;
}

/// A member whose bonus could not be granted at once, and its job's id.
async fn with_a_pending_job(shop: &Shop, test: &TestApp) -> (String, String) {
    bonuses_fail(test).await;
    let member = member(&test.service()).await;
    bought(shop, &test.service(), &member).await;
    (member, test.db.value("SELECT id::text FROM charge_event_job").await)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bonus_is_granted_at_once_with_the_result_on_the_job() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let event = promotion(&test.admin(), 15, 0).await;
    let member = member(&test.service()).await;
    let charge = bought(&shop, &test.service(), &member).await;
    let query = "query ($id: ID!) { charge(id: $id) { jobs {
        sourceChargeId jobType idempotencyKey additionalCan status retryCount processedAt methodSnapshot lastError
        chargeEvent { id } member { id } waitingFor { reason } availableActions { action allowed reason }
        resultCharge { status paymentStatus price can orderId method container flowId } sourceCharge { flowId } } } }";
    let data = test.operator().data(query, json!({ "id": charge.to_string() })).await;
    let job = &data["charge"]["jobs"][0];
    let key = format!("charge-event:{charge}:ACTIVE_CHARGE_EVENT:{event}");
    assert_eq!(
        (&job["status"], &job["additionalCan"], &job["idempotencyKey"], &job["jobType"]),
        (&json!("DONE"), &json!(15), &json!(key), &json!("ACTIVE_CHARGE_EVENT"))
    );
    assert!(job["processedAt"].is_string() && job["waitingFor"].is_null() && job["lastError"].is_null());
    assert_eq!(job["chargeEvent"]["id"], event);
    let bonus = &job["resultCharge"];
    assert_eq!(
        (&bonus["status"], &bonus["paymentStatus"], &bonus["price"], &bonus["can"], &bonus["orderId"]),
        (&json!("EVENT"), &json!("COMPLETE"), &json!(0), &json!(15), &json!(key))
    );
    assert_eq!(
        (&bonus["method"], &bonus["flowId"]),
        (&job["methodSnapshot"], &job["sourceCharge"]["flowId"])
    );
    let action = &job["availableActions"][0];
    assert_eq!((&action["action"], &action["allowed"]), (&json!("retryChargeJob"), &json!(false)));
    assert_eq!(balances(&test, &member, "PG").await, (100, 15));
    assert_eq!(told(&test).await, Vec::<String>::new());
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_the_worker_touches_nothing_that_is_being_granted() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    promotion(&test.admin(), 10, 0).await;
    let member = member(&test.service()).await;
    let charge = requested(&test.service(), &member, "PG").await;
    let receipt = paid_at_bootpay(&shop, order(&charge)).await;
    bought(&shop, &test.service(), &member).await;
    // The next grant waits for a lock that somebody holds.
    let mut holder = test.db.session().await;
    let held = holder.transaction().await.unwrap();
    test.db
        .run(
            "CREATE FUNCTION slow_bonus() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN PERFORM pg_advisory_xact_lock(77); RETURN NEW; END $$;
             CREATE TRIGGER slow_bonus BEFORE INSERT ON ledger_entry FOR EACH ROW WHEN (NEW.kind = 'BONUS')
                 EXECUTE FUNCTION slow_bonus()",
        )
        .await;
    held.execute("SELECT pg_advisory_xact_lock(77)", &[]).await.unwrap();
    let (actor, order_id) = (test.service(), order(&charge).to_owned());
    let verifying = tokio::spawn(async move { verify(&actor, "verify", &order_id, &receipt).await });
    eventually("the job is being granted", async || {
        (test.db.count("charge_event_job WHERE status = 'PROCESSING'").await == 1).then_some(())
    })
    .await;
    for force in [false, true] {
        assert_eq!(did(&run(&test, force).await), (0, 0, 0));
    }
    held.rollback().await.unwrap();
    verifying.await.unwrap();
    assert_eq!(test.db.count("charge_event_job WHERE status = 'DONE'").await, 2);
    assert_eq!(balances(&test, &member, "PG").await, (200, 20));
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_that_fails_waits_five_ten_and_fifteen_minutes_then_needs_an_operator() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    promotion(&test.admin(), 10, 0).await;
    let (member, id) = with_a_pending_job(&shop, &test).await;
    // The purchase stands whatever becomes of the bonus.
    assert_eq!(balances(&test, &member, "PG").await, (100, 0));
    assert_eq!(job(&test).await, "PENDING 0 5 no bonus today");
    assert_eq!(did(&run(&test, false).await), (0, 0, 0), "it is not due");
    for expected in ["PENDING 1 10 no bonus today", "PENDING 2 15 no bonus today", "FAILED 3 no bonus today"]
    {
        make_due(&test).await;
        assert_eq!(did(&run(&test, false).await), (1, 0, 1));
        assert_eq!(job(&test).await, expected);
    }
    assert_eq!(did(&run(&test, true).await), (0, 0, 0), "nobody retries it by itself");
    let retry = "CHARGE_JOB_RETRY WARNING DATABASE_ERROR";
    assert_eq!(told(&test).await, [retry, retry, retry, "CHARGE_JOB_FAILED CRITICAL DATABASE_ERROR"]);

    // An operator retries it, and it works.
    bonuses_work_again(&test).await;
    let input = json!({ "input": { "id": id, "reason": "the trigger is gone" } });
    let data = test.admin().data(RETRY, input.clone()).await["retryChargeJob"].take();
    assert_eq!(
        (&data["chargeJob"]["status"], &data["chargeJob"]["retryCount"]),
        (&json!("PENDING"), &json!(0)),
        "{data:#}"
    );
    let again = test.admin().data(RETRY, input).await["retryChargeJob"].take();
    assert_eq!(again["userErrors"][0]["code"], "INVALID_STATE");
    assert_eq!(did(&run(&test, false).await), (1, 1, 0));
    assert_eq!(balances(&test, &member, "PG").await, (100, 10));
    assert_eq!(test.db.count("charge WHERE status = 'EVENT'").await, 1);
    let audited = "SELECT concat_ws(' ', action, target_type, reason, before->>'status', after->>'status') FROM audit_entry
                   WHERE action = 'retryChargeJob'";
    assert_eq!(
        test.db.values::<String>(audited).await,
        ["retryChargeJob CHARGE_JOB the trigger is gone FAILED PENDING"]
    );
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_failed_job_can_be_retried_and_every_other_state_says_so() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    promotion(&test.admin(), 10, 0).await;
    let (_member, id) = with_a_pending_job(&shop, &test).await;
    let input = json!({ "input": { "id": id, "reason": "why" } });
    let row = "SELECT j::text FROM charge_event_job j";
    for state in [
        "PENDING",
        "PROCESSING', claim_token = gen_random_uuid(), processing_started_at = now(), last_error = 'x",
        "DONE', result_charge_id = source_charge_id, processed_at = now(), last_error = 'x",
    ] {
        test.db.run(&format!("UPDATE charge_event_job SET status = '{state}'")).await;
        let before: String = test.db.value(row).await;
        let data = test.admin().data(RETRY, input.clone()).await["retryChargeJob"].take();
        assert_eq!(data["userErrors"][0]["code"], "INVALID_STATE", "{data:#}");
        let status = state.split('\'').next().unwrap();
        assert!(data["userErrors"][0]["message"].as_str().unwrap().contains(status), "{data:#}");
        assert_eq!(data["chargeJob"]["status"], status);
        assert_eq!(test.db.value::<String>(row).await, before, "nothing changes");
    }
    let missing = json!({ "input": { "id": "999", "reason": "why" } });
    let data = test.admin().data(RETRY, missing).await["retryChargeJob"].take();
    assert_eq!(data["userErrors"][0]["code"], "NOT_FOUND");
    assert_eq!(test.db.count("audit_entry WHERE action = 'retryChargeJob'").await, 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_by_the_worker_that_succeeds_gives_exactly_one_bonus() {
    let shop = Shop::start().await;
    let settings = |builder: crate::support::app::TestAppBuilder| {
        builder.shop(&shop).set("charge-job-interval", "100ms").set("charge-job-backoff", "300ms,300ms")
    };
    let test = settings(TestApp::builder()).start().await;
    let second = settings(TestApp::builder()).start_beside(&test).await;
    promotion(&test.admin(), 10, 0).await;
    bonuses_fail(&test).await;
    let member = member(&test.service()).await;
    bought(&shop, &test.service(), &member).await;
    let mut changes = second.operator().socket().await;
    let id: String = test.db.value("SELECT id::text FROM charge_event_job").await;
    let watch = "subscription ($id: ID!) { chargeJobChanged(id: $id) { id status resultChargeId } }";
    changes.subscribe("1", watch, json!({ "id": id })).await;
    changes.data().await;
    bonuses_work_again(&test).await;
    eventually("the worker grants it", async || {
        (test.db.count("charge_event_job WHERE status = 'DONE'").await == 1).then_some(())
    })
    .await;
    while changes.data().await["chargeJobChanged"]["status"] != "DONE" {}
    assert_eq!(test.db.count("charge WHERE status = 'EVENT'").await, 1);
    assert_eq!(test.db.count("ledger_entry WHERE kind = 'BONUS'").await, 1);
    assert_eq!(balances(&test, &member, "PG").await, (100, 10));
    books_are_true(&test).await;
    test.stop().await;
    second.stop().await;
}

/// Jobs that are due, each of a promotion that is over, written as history would have them.
async fn due_jobs(test: &TestApp, charge: i64, jobs: i64) {
    test.db
        .run(&format!(
            "WITH over AS (
                 INSERT INTO charge_event (title, start_at, end_at, add_percent)
                 SELECT 'Spring', '2020-01-01', '2020-02-01', 10 FROM generate_series(1, {jobs}) RETURNING id
             )
             INSERT INTO charge_event_job (source_charge_id, member_id, charge_event_id, job_type, idempotency_key, additional_can,
                                           payment_gateway, container, method_snapshot, status, next_retry_at, flow_id)
             SELECT c.id, c.member_id, over.id, 'ACTIVE_CHARGE_EVENT', 'due ' || row_number() OVER (ORDER BY over.id), 1,
                    c.payment_gateway, c.container, 'Spring', 'PENDING', now() - interval '1 second', c.flow_id
             FROM charge c, over WHERE c.id = {charge}"
        ))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_thirty_one_due_jobs_one_run_takes_thirty() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let member = member(&test.service()).await;
    let charge = bought(&shop, &test.service(), &member).await;
    promotion(&test.admin(), 10, 0).await;
    due_jobs(&test, charge, 31).await;
    assert_eq!(did(&run(&test, false).await), (30, 30, 0));
    assert_eq!(did(&run(&test, false).await), (1, 1, 0));
    assert_eq!(balances(&test, &member, "PG").await, (100, 31));
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_job_stops_no_other() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let member = member(&test.service()).await;
    let charge = bought(&shop, &test.service(), &member).await;
    promotion(&test.admin(), 10, 0).await;
    due_jobs(&test, charge, 5).await;
    test.db
        .run(
            "CREATE FUNCTION bad() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a bad one'; END $$;
             CREATE TRIGGER bad BEFORE INSERT ON charge FOR EACH ROW WHEN (NEW.order_id = 'due 2') EXECUTE FUNCTION bad()",
        )
        .await;
    assert_eq!(did(&run(&test, false).await), (5, 4, 1));
    let bad = "SELECT concat_ws(' ', idempotency_key, status, retry_count, last_error) FROM charge_event_job WHERE status <> 'DONE'";
    assert_eq!(test.db.values::<String>(bad).await, ["due 2 PENDING 1 a bad one"]);
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_active_promotion_no_statement_reads_the_jobs_unless_it_is_forced() {
    let shop = Shop::start().await;
    // Only what the mutation itself does.
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    let event = promotion(&test.admin(), 10, 0).await;
    let (member, id) = with_a_pending_job(&shop, &test).await;
    bonuses_work_again(&test).await;
    make_due(&test).await;
    let mut ended = spring(10, 0);
    ended["isActive"] = json!(false);
    let data = test.admin().data(UPDATE, json!({ "id": event, "input": ended })).await;
    assert_eq!(data["updateChargeEvent"]["userErrors"], json!([]));
    // Whoever reads the table would wait for its lock.
    let mut holder = test.db.session().await;
    let held = holder.transaction().await.unwrap();
    held.execute("LOCK TABLE charge_event_job IN ACCESS EXCLUSIVE MODE", &[]).await.unwrap();
    let skipped = run(&test, false).await;
    assert_eq!((did(&skipped), &skipped["skippedNoActivePromotion"]), ((0, 0, 0), &json!(true)));
    held.rollback().await.unwrap();
    let waits = "query ($id: ID!) { chargeJob(id: $id) { waitingFor { reason } } }";
    let data = test.operator().data(waits, json!({ "id": id })).await;
    assert_eq!(data["chargeJob"]["waitingFor"]["reason"], "NO_ACTIVE_PROMOTION");

    let forced = run(&test, true).await;
    assert_eq!((did(&forced), &forced["skippedNoActivePromotion"]), ((1, 1, 0), &json!(false)));
    assert_eq!(balances(&test, &member, "PG").await, (100, 10));
    let audited = "SELECT concat_ws(' ', actor, target_type, target_id, after) FROM audit_entry WHERE action = 'runChargeJobs' ORDER BY id";
    assert_eq!(
        test.db.values::<String>(audited).await,
        [
            "admin WORKER charge-jobs {\"claimed\":null,\"force\":false}",
            "admin WORKER charge-jobs {\"claimed\":1,\"force\":true}"
        ]
    );
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promotion_that_changes_or_ends_changes_nothing_of_what_was_earned() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let event = promotion(&test.admin(), 10, 0).await;
    let (member, _id) = with_a_pending_job(&shop, &test).await;
    for input in [
        spring(90, 1),
        json!({ "title": "Over", "startAt": "2020-01-01T00:00:00Z", "endAt": "2020-01-02T00:00:00Z",
        "addPercent": 50, "availableCount": 0, "isActive": false }),
    ] {
        let data = test.admin().data(UPDATE, json!({ "id": event, "input": input })).await;
        assert_eq!(data["updateChargeEvent"]["userErrors"], json!([]));
    }
    bonuses_work_again(&test).await;
    make_due(&test).await;
    assert_eq!(did(&run(&test, true).await), (1, 1, 0));
    assert_eq!(balances(&test, &member, "PG").await, (100, 10));
    let method: String = test.db.value("SELECT method FROM charge WHERE status = 'EVENT'").await;
    assert_eq!(method, "Spring +10%");
    // Nothing more is earned.
    bought(&shop, &test.service(), &member).await;
    assert_eq!(test.db.count("charge_event_job").await, 1);
    let audited = "SELECT concat_ws(' ', action, target_id, before->>'addPercent', after->>'addPercent') FROM audit_entry
                   WHERE action LIKE '%ChargeEvent' ORDER BY id";
    assert_eq!(
        test.db.values::<String>(audited).await,
        ["createChargeEvent 1 10", "updateChargeEvent 1 10 90", "updateChargeEvent 1 90 50"]
    );
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_changed_is_not_written_over_by_who_has_not_seen_it() {
    let test = TestApp::start().await;
    let admin = test.admin();
    let id = promotion(&admin, 10, 0).await;
    let seen: String = admin
        .data("query ($id: ID!) { chargeEvent(id: $id) { updatedAt } }", json!({ "id": id }))
        .await["chargeEvent"]["updatedAt"]
        .as_str()
        .unwrap()
        .to_owned();
    let change = "mutation ($id: ID!, $input: ChargeEventInput!, $seen: DateTime) {
        updateChargeEvent(id: $id, input: $input, expectedUpdatedAt: $seen, reason: \" a campaign \") { userErrors { code } } }";
    let save = async |percent| {
        let variables = json!({ "id": id, "input": spring(percent, 0), "seen": seen });
        let data = admin.data(change, variables).await;
        data["updateChargeEvent"]["userErrors"].clone()
    };
    assert_eq!(save(50).await, json!([]));
    // The answer was lost, and the same is sent again.
    assert_eq!(save(50).await, json!([]));
    assert_eq!(save(11).await, json!([{ "code": "CHANGED_MEANWHILE" }]));
    assert_eq!(test.db.value::<i32>("SELECT add_percent FROM charge_event").await, 50);
    assert_eq!(
        test.db.values::<String>("SELECT DISTINCT reason FROM audit_entry WHERE reason IS NOT NULL").await,
        ["a campaign"]
    );
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promotion_that_cannot_be_is_refused_by_its_field() {
    let test = TestApp::start().await;
    let create = "mutation ($input: ChargeEventInput!) { createChargeEvent(input: $input) { userErrors { code field } } }";
    for (field, value) in [
        ("title", json!("")),
        ("endAt", json!("2020-01-01T00:00:00Z")),
        ("endAt", json!("9999-12-31T00:00:00Z")),
        ("startAt", json!("0001-01-01T00:00:00Z")),
        ("addPercent", json!(0)),
        ("addPercent", json!(1001)),
        ("availableCount", json!(-1)),
    ] {
        let mut input = spring(10, 0);
        input[field] = value;
        let data = test.admin().data(create, json!({ "input": input })).await;
        let refused = json!([{ "code": "INVALID_INPUT", "field": ["input", field] }]);
        assert_eq!(data["createChargeEvent"]["userErrors"], refused);
    }
    let data = test.admin().data(UPDATE, json!({ "id": "999", "input": spring(1, 0) })).await;
    assert_eq!(data["updateChargeEvent"]["userErrors"][0]["code"], "NOT_FOUND");
    assert_eq!(test.db.count("charge_event").await + test.db.count("audit_entry").await, 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_are_counted_within_the_period_and_unfinished_jobs_count() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).start().await;
    let event = promotion(&test.admin(), 10, 2).await;
    let (member, _id) = with_a_pending_job(&shop, &test).await;
    let jobs = async || test.db.count("charge_event_job").await;
    bought(&shop, &test.service(), &member).await;
    bought(&shop, &test.service(), &member).await;
    // Neither bonus is granted, and yet both uses are taken.
    assert_eq!(jobs().await, 2);
    bonuses_work_again(&test).await;
    make_due(&test).await;
    assert_eq!(did(&run(&test, false).await), (2, 2, 0));
    bought(&shop, &test.service(), &member).await;
    assert_eq!(jobs().await, 2);
    // Another member has uses of its own.
    let other = crate::support::shop::member(&test.service()).await;
    bought(&shop, &test.service(), &other).await;
    assert_eq!(jobs().await, 3);
    // What was granted before the period does not count.
    test.db.run(&format!("UPDATE charge_event SET start_at = now() WHERE id = {event}")).await;
    bought(&shop, &test.service(), &member).await;
    assert_eq!(jobs().await, 4);
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_charges_of_a_member_do_not_exceed_what_is_available() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("first-charge-percent", 5).start().await;
    let second = TestApp::builder().shop(&shop).set("first-charge-percent", 5).start_beside(&test).await;
    promotion(&test.admin(), 10, 1).await;
    promotion(&test.admin(), 10, 3).await;
    let member = member(&test.service()).await;
    let mut under_way = tokio::task::JoinSet::new();
    for number in 0..8 {
        let charge = requested(&test.service(), &member, "PG").await;
        let receipt = paid_at_bootpay(&shop, order(&charge)).await;
        let actor = if number % 2 == 0 { test.service() } else { second.service() };
        under_way.spawn(async move { verify(&actor, "verify", order(&charge), &receipt).await });
    }
    under_way.join_all().await;
    let used = "SELECT concat_ws(' ', job_type, charge_event_id, count(*)) FROM charge_event_job GROUP BY job_type, charge_event_id ORDER BY 1";
    assert_eq!(
        test.db.values::<String>(used).await,
        ["ACTIVE_CHARGE_EVENT 1 1", "ACTIVE_CHARGE_EVENT 2 3", "FIRST_CHARGE 1"]
    );
    assert_eq!(balances(&test, &member, "PG").await, (800, 45));
    books_are_true(&test).await;
    test.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_shows_what_waits_and_what_needs_a_person_unless_asked_otherwise() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("workers", false).start().await;
    let member = member(&test.service()).await;
    let charge = bought(&shop, &test.service(), &member).await;
    promotion(&test.admin(), 10, 0).await;
    due_jobs(&test, charge, 4).await;
    test.db
        .run(
            "UPDATE charge_event_job SET status = 'FAILED' WHERE idempotency_key = 'due 2';
             UPDATE charge_event_job SET status = 'PROCESSING', claim_token = gen_random_uuid(), processing_started_at = now()
             WHERE idempotency_key = 'due 3';
             UPDATE charge_event_job SET status = 'DONE', result_charge_id = source_charge_id, processed_at = now()
             WHERE idempotency_key = 'due 4'",
        )
        .await;
    let list = async |filter: Value| {
        let query = "query ($filter: ChargeJobFilter) { chargeJobs(filter: $filter) { nodes { idempotencyKey } count { value } } }";
        let data = test.operator().data(query, json!({ "filter": filter })).await;
        let nodes = data["chargeJobs"]["nodes"].as_array().unwrap().clone();
        assert_eq!(data["chargeJobs"]["count"]["value"], json!(nodes.len()));
        let mut keys: Vec<_> =
            nodes.iter().map(|node| node["idempotencyKey"].as_str().unwrap().to_owned()).collect();
        keys.sort();
        keys
    };
    assert_eq!(list(json!(null)).await, ["due 1", "due 2"]);
    assert_eq!(list(json!({ "memberId": member })).await, ["due 1", "due 2"]);
    assert_eq!(list(json!({ "status": ["DONE"] })).await, ["due 4"]);
    assert_eq!(
        list(json!({ "status": ["PROCESSING", "DONE", "FAILED"] })).await,
        ["due 2", "due 3", "due 4"]
    );
    assert_eq!(list(json!({ "jobType": ["FIRST_CHARGE"] })).await, Vec::<String>::new());
    assert_eq!(test.service().refused("{ chargeJobs { nodes { id } } }", json!({})).await, "FORBIDDEN");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_process_died_is_taken_over_and_the_dead_ones_claim_is_void() {
    let shop = Shop::start().await;
    let test = TestApp::builder()
        .shop(&shop)
        .set("charge-job-recovery-interval", "200ms")
        .set("charge-job-interval", "200ms")
        .start()
        .await;
    promotion(&test.admin(), 10, 0).await;
    let (member, _id) = with_a_pending_job(&shop, &test).await;
    bonuses_work_again(&test).await;
    test.db
        .run(
            "UPDATE charge_event_job SET status = 'PROCESSING', claim_token = gen_random_uuid(),
                 processing_started_at = now() - interval '4 minutes'",
        )
        .await;
    // Within the lease it is its owner's.
    test.db.run("SELECT pg_sleep(0.6)").await;
    assert_eq!(test.db.count("charge_event_job WHERE status = 'PROCESSING'").await, 1);
    test.db.run("UPDATE charge_event_job SET processing_started_at = now() - interval '6 minutes'").await;
    eventually("it is granted", async || {
        (test.db.count("charge_event_job WHERE status = 'DONE'").await == 1).then_some(())
    })
    .await;
    assert_eq!(
        told(&test).await,
        ["CHARGE_JOB_RETRY WARNING DATABASE_ERROR", "STUCK_RECOVERED WARNING STUCK"]
    );
    assert_eq!(balances(&test, &member, "PG").await, (100, 10));
    books_are_true(&test).await;
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_charge_earns_its_percentage_once() {
    let shop = Shop::start().await;
    let test = TestApp::builder().shop(&shop).set("first-charge-percent", 7).start().await;
    let member = member(&test.service()).await;
    let charge = bought(&shop, &test.service(), &member).await;
    bought(&shop, &test.service(), &member).await;
    let jobs = "SELECT concat_ws(' ', idempotency_key, additional_can, status, method_snapshot) FROM charge_event_job";
    assert_eq!(
        test.db.values::<String>(jobs).await,
        [format!("charge-event:{charge}:FIRST_CHARGE:none 7 DONE First charge +7%")]
    );
    assert_eq!(balances(&test, &member, "PG").await, (200, 7));
    test.stop().await;
}
