use super::{Invariant, invariant};

/// Payments and refunds. Events are kept for 30 days: what came to its end more than 25 days ago is not asked for its event.
pub(super) const INVARIANTS: &[Invariant] = &[
    invariant!(
        "payment-events",
        "Every COMPLETED or FAILED payment has its event in the outbox.",
        "SELECT payment.id FROM (
             SELECT id, status, completed_at, updated_at FROM payment ORDER BY created_at DESC, id DESC LIMIT $1
         ) payment
         WHERE payment.status IN ('COMPLETED', 'FAILED')
           AND coalesce(payment.completed_at, payment.updated_at) > now() - interval '25 days' AND NOT EXISTS (
             SELECT 1 FROM payment_outbox
             WHERE aggregate_type = 'PAYMENT' AND aggregate_id = payment.id::text AND event_type = 'PAYMENT_' || payment.status OFFSET 0
         )"
    ),
    invariant!(
        "refund-events",
        "Every COMPLETED refund has its event in the outbox.",
        "SELECT refund.id FROM (
             SELECT id, payment_id, status, completed_at FROM refund ORDER BY created_at DESC, id DESC LIMIT $1
         ) refund
         WHERE refund.status = 'COMPLETED' AND refund.completed_at > now() - interval '25 days' AND NOT EXISTS (
             SELECT 1 FROM payment_outbox
             WHERE aggregate_type = 'PAYMENT' AND aggregate_id = refund.payment_id::text AND event_type = 'PAYMENT_REFUNDED' OFFSET 0
         )"
    ),
    invariant!(
        "events-told-once",
        "Every payment has one event of its outcome at most, and one of its refund.",
        "SELECT event.id FROM (
             SELECT id, aggregate_type, aggregate_id, event_type, created_at FROM payment_outbox
             ORDER BY created_at DESC, id DESC LIMIT $1
         ) event
         WHERE event.aggregate_type = 'PAYMENT'
           AND event.event_type IN ('PAYMENT_COMPLETED', 'PAYMENT_FAILED', 'PAYMENT_REFUNDED') AND EXISTS (
             SELECT 1 FROM payment_outbox earlier
             WHERE earlier.aggregate_type = 'PAYMENT' AND earlier.aggregate_id = event.aggregate_id
               AND (earlier.created_at, earlier.id) < (event.created_at, event.id)
               AND earlier.event_type IN ('PAYMENT_COMPLETED', 'PAYMENT_FAILED', 'PAYMENT_REFUNDED')
               AND (earlier.event_type = 'PAYMENT_REFUNDED') = (event.event_type = 'PAYMENT_REFUNDED') OFFSET 0
         )"
    ),
    invariant!(
        "events-have-payments",
        "Every event of a payment tells what stands there: the payment with that outcome, or the refund that took its place.",
        "SELECT event.id FROM (
             SELECT id, aggregate_type, aggregate_id, event_type FROM payment_outbox
             ORDER BY created_at DESC, id DESC LIMIT $1
         ) event
         CROSS JOIN LATERAL (
             SELECT CASE WHEN event.aggregate_id !~ '[^0-9]' AND length(event.aggregate_id) BETWEEN 1 AND 18
                 THEN event.aggregate_id::bigint END AS id OFFSET 0
         ) paid
         WHERE event.aggregate_type = 'PAYMENT' AND CASE event.event_type
             WHEN 'PAYMENT_COMPLETED' THEN
                 NOT EXISTS (SELECT 1 FROM payment WHERE payment.id = paid.id AND payment.status = 'COMPLETED' OFFSET 0)
                 AND NOT EXISTS (SELECT 1 FROM refund WHERE refund.payment_id = paid.id AND refund.status = 'COMPLETED' OFFSET 0)
             WHEN 'PAYMENT_FAILED' THEN
                 NOT EXISTS (SELECT 1 FROM payment WHERE payment.id = paid.id AND payment.status = 'FAILED' OFFSET 0)
             WHEN 'PAYMENT_REFUNDED' THEN
                 NOT EXISTS (SELECT 1 FROM refund WHERE refund.payment_id = paid.id AND refund.status = 'COMPLETED' OFFSET 0)
             ELSE false
         END"
    ),
    invariant!(
        "refunded-payments-gone",
        "A payment whose refund is COMPLETED is not in the payments any more, and the refund keeps it as REFUNDED.",
        "SELECT refund.id FROM (
             SELECT id, payment_id, status, payment_snapshot FROM refund ORDER BY created_at DESC, id DESC LIMIT $1
         ) refund
         WHERE refund.status = 'COMPLETED' AND (
             EXISTS (SELECT 1 FROM payment WHERE payment.id = refund.payment_id OFFSET 0)
             OR (refund.payment_snapshot ->> 'status' = 'REFUNDED') IS NOT TRUE)"
    ),
    invariant!(
        "refund-amounts",
        "What is given back of a payment, or about to be, is what was paid: no more and no less.",
        "SELECT refund.id FROM (
             SELECT id, payment_id, status, payment_snapshot FROM refund ORDER BY created_at DESC, id DESC LIMIT $1
         ) refund
         WHERE refund.status <> 'FAILED' AND (refund.payment_snapshot ->> 'amount')::bigint <> (
             SELECT sum(amount) FROM refund other WHERE other.payment_id = refund.payment_id AND other.status <> 'FAILED'
         )"
    ),
    invariant!(
        "open-refunds-have-payments",
        "A refund that is REQUESTED, or FAILED, has a COMPLETED payment, unless another refund gave it back.",
        "SELECT refund.id FROM (
             SELECT id, payment_id, status FROM refund ORDER BY created_at DESC, id DESC LIMIT $1
         ) refund
         WHERE refund.status <> 'COMPLETED' AND NOT EXISTS (
             SELECT 1 FROM payment WHERE payment.id = refund.payment_id AND payment.status = 'COMPLETED' OFFSET 0
         ) AND NOT EXISTS (
             SELECT 1 FROM refund other WHERE other.payment_id = refund.payment_id AND other.status = 'COMPLETED' OFFSET 0
         )"
    ),
    invariant!(
        "pending-payments-asked-about",
        "The provider is asked about every PENDING payment when it is time, and once more about those that were given up.",
        "(SELECT id FROM payment
          WHERE status = 'PENDING' AND coalesce(next_check_at, requested_at) < now() - $3 * interval '1 second'
          ORDER BY coalesce(next_check_at, requested_at), id LIMIT $1)
         UNION ALL
         (SELECT id FROM payment
          WHERE status = 'FAILED' AND next_check_at IS NOT NULL AND next_check_at < now() - $3 * interval '1 second'
          ORDER BY next_check_at, id LIMIT $1)"
    ),
    invariant!(
        "requested-refunds-asked-about",
        "The provider is asked about every REQUESTED refund when it is time.",
        "SELECT id FROM refund
         WHERE status = 'REQUESTED' AND coalesce(next_check_at, requested_at) < now() - $3 * interval '1 second'
         ORDER BY coalesce(next_check_at, requested_at), id LIMIT $1"
    ),
    invariant!(
        "wanted-refunds-requested",
        "A refund that was wanted while its payment was PENDING is requested once the payment is COMPLETED.",
        "SELECT payment.id FROM (
             SELECT id, status, refund_wanted FROM payment ORDER BY created_at DESC, id DESC LIMIT $1
         ) payment
         WHERE payment.status = 'COMPLETED' AND payment.refund_wanted IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM refund WHERE refund.payment_id = payment.id OFFSET 0)"
    ),
];
