//! What breaks the books of charges, balances and bonuses.

const CHARGE: &str = "INSERT INTO member (id) VALUES (3);
    INSERT INTO wallet (member_id, container) VALUES (3, 'PG');
    INSERT INTO charge (id, member_id, can, container, order_id, sku, title, price, payment_gateway, account_token)
    VALUES (7, 3, 100, 'PG', 'CHG7', 'coin_100', 'x', 1, 'PG', gen_random_uuid());";
const COMPLETE: &str = "UPDATE charge SET payment_status = 'COMPLETE', completed_at = now(), gateway_transaction_id = 't' WHERE id = 7;";
const CREDITED: &str = "INSERT INTO ledger_entry (member_id, container, charge_id, kind, can, balance_after)
    VALUES (3, 'PG', 7, 'CHARGE', 100, 100); UPDATE wallet SET charge_can = 100;";
const BONUS: &str = "INSERT INTO charge (id, member_id, status, can, container, order_id, title, price, payment_gateway, payment_status, completed_at)
    VALUES (8, 3, 'EVENT', 10, 'PG', 'key', 'x', 0, 'PG', 'COMPLETE', now());
    INSERT INTO ledger_entry (member_id, container, charge_id, kind, can, balance_after) VALUES (3, 'PG', 8, 'BONUS', 10, 10);
    UPDATE wallet SET bonus_can = 10;";
const JOB: &str = "INSERT INTO charge_event_job (id, source_charge_id, member_id, job_type, idempotency_key, additional_can, payment_gateway,
        container, method_snapshot, status, flow_id, claim_token, processing_started_at)
    VALUES (9, 7, 3, 'FIRST_CHARGE', 'key', 10, 'PG', 'PG', 'x', ";

/// What breaks each invariant, and the id that is told.
pub fn breaks() -> Vec<(&'static str, String, &'static str)> {
    let promotion = "INSERT INTO charge_event (title, start_at, end_at, add_percent, updated_at)
        VALUES ('x', now() - interval '1 day', now() + interval '1 day', 10, now() - interval '1 day');";
    let google = "UPDATE charge SET payment_gateway = 'GOOGLE_IAP', container = 'AOS';";
    let granted = format!("{CHARGE}{COMPLETE}{CREDITED}{BONUS}{JOB}");
    vec![
        (
            "balances-are-ledger-sums",
            format!("{CHARGE}{COMPLETE}{CREDITED} UPDATE wallet SET charge_can = 101;"),
            "3/PG",
        ),
        ("balances-have-entries", format!("{CHARGE} UPDATE wallet SET bonus_can = 1;"), "3/PG"),
        ("charges-credited-once", format!("{CHARGE}{COMPLETE}"), "7"),
        ("charges-credited-once", format!("{CHARGE}{CREDITED}"), "7"),
        ("bonuses-have-jobs", format!("{CHARGE}{COMPLETE}{CREDITED}{BONUS}"), "8"),
        (
            "jobs-granted-once",
            format!(
                "{granted}'PENDING', gen_random_uuid(), NULL, NULL);
                 UPDATE charge_event_job SET status = 'DONE', result_charge_id = 8, processed_at = now(), additional_can = 11;"
            ),
            "9",
        ),
        ("jobs-earned-once", format!("{CHARGE}{JOB}'PENDING', gen_random_uuid(), NULL, NULL);"), "9"),
        (
            "jobs-earned-once",
            format!(
                "{CHARGE}{COMPLETE}{CREDITED}{JOB}'PENDING', gen_random_uuid(), NULL, NULL); INSERT INTO member (id) VALUES (4);
                 UPDATE charge_event_job SET member_id = 4;"
            ),
            "9",
        ),
        (
            "jobs-earned-once",
            format!(
                "{CHARGE}{COMPLETE}{CREDITED}{JOB}'PENDING', gen_random_uuid(), NULL, NULL);
                 INSERT INTO charge_event_job (id, source_charge_id, member_id, job_type, idempotency_key, additional_can, payment_gateway,
                     container, method_snapshot, status, flow_id)
                 SELECT 10, source_charge_id, member_id, job_type, 'another', additional_can, payment_gateway, container,
                     method_snapshot, status, flow_id FROM charge_event_job;"
            ),
            "10",
        ),
        (
            "job-leases",
            format!("{CHARGE}{JOB}'PROCESSING', gen_random_uuid(), gen_random_uuid(), now() - interval '2 hours');"),
            "9",
        ),
        (
            "jobs-granted-in-time",
            format!("{CHARGE}{COMPLETE}{CREDITED}{promotion}{JOB}'PENDING', gen_random_uuid(), NULL, NULL); UPDATE charge_event_job SET next_retry_at = now() - interval '7 hours';"),
            "9",
        ),
        (
            "unpaid-charges-asked-about",
            format!("{CHARGE} UPDATE charge SET next_check_at = now() - interval '2 hours';"),
            "7",
        ),
        (
            "presented-references-asked-about",
            format!(
                "{CHARGE} INSERT INTO charge_reference (id, charge_id, reference, digest, next_check_at)
                 VALUES (5, 7, 'r', sha256('r'), now() - interval '2 hours');"
            ),
            "7/5",
        ),
        (
            "google-purchases-consumed",
            format!(
                "{CHARGE}{COMPLETE}{CREDITED}
                 UPDATE charge SET consume_due_at = now(), completed_at = now() - interval '3 days';"
            ),
            "7",
        ),
        ("google-purchases-due", format!("{CHARGE}{google}{COMPLETE}{CREDITED}"), "7"),
    ]
}
