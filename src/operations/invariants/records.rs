use super::{Invariant, invariant};

/// Failures and callers' keys.
pub(super) const INVARIANTS: &[Invariant] = &[
    invariant!(
        "failures-on-the-feed",
        "Every failure has its place in the feed within a minute.",
        "SELECT id FROM failure WHERE position IS NULL AND occurred_at < now() - interval '1 minute' LIMIT $1"
    ),
    invariant!(
        "feed-in-order",
        "The feed has given no place beyond the one that it counts on from.",
        "SELECT failure.id FROM failure
         WHERE failure.position > (SELECT last FROM failure_feed WHERE failure_feed.id = 1) LIMIT $1"
    ),
    invariant!(
        "idempotency-keys-have-subjects",
        "Every idempotency key names a payment, refund or charge that is there, or the refund that a payment became.",
        "SELECT concat_ws('/', held.operation, held.key) FROM (
             SELECT operation, key, subject_type, subject_id FROM idempotency_key ORDER BY created_at DESC LIMIT $1
         ) held
         WHERE CASE held.subject_type
             WHEN 'PAYMENT' THEN NOT EXISTS (SELECT 1 FROM payment WHERE payment.id = held.subject_id OFFSET 0)
                 AND NOT EXISTS (SELECT 1 FROM refund WHERE refund.payment_id = held.subject_id OFFSET 0)
             WHEN 'CHARGE' THEN NOT EXISTS (SELECT 1 FROM charge WHERE charge.id = held.subject_id OFFSET 0)
             WHEN 'REFUND' THEN NOT EXISTS (SELECT 1 FROM refund WHERE refund.id = held.subject_id OFFSET 0)
             ELSE false
         END"
    ),
];
