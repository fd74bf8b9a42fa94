use super::{Invariant, invariant};

/// Charges, balances and bonuses.
pub(super) const INVARIANTS: &[Invariant] = &[
    invariant!(
        "balances-are-ledger-sums",
        "Every balance is the sum of its ledger entries.",
        // A member may have many entries, all of which are summed: so of the newest fewer are looked at.
        "SELECT concat_ws('/', w.member_id, w.container)
         FROM (SELECT DISTINCT member_id FROM (SELECT member_id FROM ledger_entry ORDER BY id DESC LIMIT $1 / 100 + 1) newest) credited
         JOIN wallet w ON w.member_id = credited.member_id
         CROSS JOIN LATERAL (
             SELECT coalesce(sum(can) FILTER (WHERE kind = 'CHARGE'), 0) AS bought, coalesce(sum(can) FILTER (WHERE kind = 'BONUS'), 0) AS given
             FROM ledger_entry l WHERE l.member_id = w.member_id AND l.container = w.container
         ) entries
         WHERE w.charge_can <> entries.bought OR w.bonus_can <> entries.given"
    ),
    invariant!(
        "balances-have-entries",
        "No wallet has a balance without a ledger entry.",
        "SELECT concat_ws('/', w.member_id, w.container)
         FROM (SELECT member_id, container, charge_can, bonus_can FROM wallet ORDER BY member_id DESC, container DESC LIMIT $1) w
         WHERE (w.charge_can <> 0 OR w.bonus_can <> 0) AND NOT EXISTS (
             SELECT 1 FROM ledger_entry l WHERE l.member_id = w.member_id AND l.container = w.container OFFSET 0
         )"
    ),
    invariant!(
        "charges-credited-once",
        "Every COMPLETE charge has its one ledger entry, over its can, and no other charge has one.",
        "SELECT c.id FROM (
             SELECT id, status, payment_status, can, member_id FROM charge ORDER BY created_at DESC, id DESC LIMIT $1
         ) c
         WHERE (c.payment_status = 'COMPLETE') <> EXISTS (
             SELECT 1 FROM ledger_entry l
             WHERE l.charge_id = c.id AND (c.payment_status <> 'COMPLETE' OR (l.can = c.can AND l.member_id = c.member_id
                 AND l.kind = CASE c.status WHEN 'EVENT' THEN 'BONUS' ELSE 'CHARGE' END)) OFFSET 0
         )"
    ),
    invariant!(
        "bonuses-have-jobs",
        "Every bonus charge is the result of one job that is DONE.",
        "SELECT c.id FROM (
             SELECT id FROM charge WHERE status = 'EVENT' ORDER BY created_at DESC, id DESC LIMIT $1
         ) c
         WHERE NOT EXISTS (
             SELECT 1 FROM charge_event_job j WHERE j.result_charge_id = c.id AND j.status = 'DONE' OFFSET 0
         )"
    ),
    invariant!(
        "jobs-granted-once",
        "Every job that is DONE has its bonus charge, over its amount, and no other job has one.",
        "SELECT j.id FROM (
             SELECT id, status, idempotency_key, additional_can, result_charge_id, member_id
             FROM charge_event_job ORDER BY created_at DESC, id DESC LIMIT $1
         ) j
         WHERE (j.status = 'DONE') <> EXISTS (
             SELECT 1 FROM charge c
             WHERE c.order_id = j.idempotency_key AND (j.status <> 'DONE' OR (c.id = j.result_charge_id AND c.status = 'EVENT'
                 AND c.can = j.additional_can AND c.member_id = j.member_id)) OFFSET 0
         )"
    ),
    invariant!(
        "jobs-earned-once",
        "Every job was earned by a COMPLETE charge of its member, and no earlier job by the same charge for the same reason.",
        "SELECT j.id FROM (
             SELECT id, source_charge_id, member_id, job_type, charge_event_id
             FROM charge_event_job ORDER BY created_at DESC, id DESC LIMIT $1
         ) j
         WHERE NOT EXISTS (
             SELECT 1 FROM charge c
             WHERE c.id = j.source_charge_id AND c.status = 'CHARGE' AND c.payment_status = 'COMPLETE' AND c.member_id = j.member_id OFFSET 0
         ) OR EXISTS (
             SELECT 1 FROM charge_event_job o
             WHERE o.source_charge_id = j.source_charge_id AND o.job_type = j.job_type
               AND o.charge_event_id IS NOT DISTINCT FROM j.charge_event_id AND o.id < j.id OFFSET 0
         )"
    ),
    invariant!(
        "job-leases",
        "Nobody grants a bonus for longer than an hour.",
        "SELECT id FROM charge_event_job
         WHERE status = 'PROCESSING' AND processing_started_at < now() - interval '1 hour'
         ORDER BY processing_started_at, id LIMIT $1"
    ),
    invariant!(
        "jobs-granted-in-time",
        "While a promotion runs, no bonus is due for longer than six hours.",
        // What waited while none ran is granted after the next one begins; the worker gets as long from then on.
        "SELECT id FROM charge_event_job
         WHERE status = 'PENDING' AND coalesce(next_retry_at, created_at) < now() - interval '6 hours' AND EXISTS (
             SELECT 1 FROM charge_event e
             WHERE e.is_active AND e.end_at > now() AND greatest(e.start_at, e.updated_at) < now() - interval '6 hours'
         )
         ORDER BY coalesce(next_retry_at, created_at), id LIMIT $1"
    ),
    invariant!(
        "unpaid-charges-asked-about",
        "The gateway is asked about every charge that may have been paid when it is time.",
        "SELECT id FROM charge
         WHERE payment_status = 'REQUEST' AND next_check_at IS NOT NULL AND next_check_at < now() - interval '1 hour'
         ORDER BY next_check_at, id LIMIT $1"
    ),
    invariant!(
        "presented-references-asked-about",
        "The gateway is asked about everything that was presented, until its answer is final, when it is time.",
        "SELECT concat_ws('/', charge_id, id) FROM charge_reference
         WHERE next_check_at IS NOT NULL AND next_check_at < now() - interval '1 hour'
         ORDER BY next_check_at, id LIMIT $1"
    ),
    invariant!(
        "google-purchases-consumed",
        "Every credited Google purchase is consumed within two days: after three Google gives the money back.",
        "SELECT id FROM (
             SELECT id, completed_at FROM charge WHERE consume_due_at IS NOT NULL ORDER BY consume_due_at, id LIMIT $1
         ) unconsumed
         WHERE completed_at < now() - interval '2 days'"
    ),
    invariant!(
        "google-purchases-due",
        "Every credited Google purchase is consumed or is going to be, unless operators were told that it was given up.",
        // Failures are kept for half a year: of older ones nobody can tell.
        "SELECT c.id FROM (
             SELECT id FROM charge
             WHERE payment_gateway = 'GOOGLE_IAP' AND status = 'CHARGE' AND payment_status = 'COMPLETE'
               AND consumed_at IS NULL AND consume_due_at IS NULL AND completed_at > now() - interval '150 days'
             ORDER BY completed_at DESC, id DESC LIMIT $1
         ) c
         WHERE NOT EXISTS (
             SELECT 1 FROM failure f
             WHERE f.subject_type = 'CHARGE' AND f.subject_id = c.id::text AND f.code = 'NOT_CONSUMED' OFFSET 0
         )"
    ),
];
