use super::{Invariant, invariant};

pub(super) const INVARIANTS: &[Invariant] = &[
    invariant!(
        "outbox-leases",
        "No event is PROCESSING for longer than its lease: the recovery takes it over.",
        "SELECT id FROM payment_outbox
         WHERE status = 'PROCESSING'
           AND coalesce(processing_started_at, created_at) < now() - $2 * interval '1 second'
         ORDER BY coalesce(processing_started_at, created_at), id LIMIT $1"
    ),
    invariant!(
        "due-events-sent",
        "Every event that is due is sent within an hour, unless the broker is away for so long.",
        "(SELECT id FROM (
              SELECT id, created_at, updated_at FROM payment_outbox WHERE status = 'PENDING' ORDER BY created_at, id LIMIT $1
          ) pending
          WHERE greatest(created_at, updated_at) < now() - interval '1 hour')
         UNION ALL
         (SELECT id FROM payment_outbox
          WHERE status = 'FAILED' AND next_retry_at < now() - interval '1 hour' ORDER BY next_retry_at, id LIMIT $1)"
    ),
    invariant!(
        "outbox-in-sight",
        "Every event has the time by which the retry or the cleanup finds it.",
        "SELECT id FROM payment_outbox WHERE status = 'FAILED' AND next_retry_at IS NULL
         UNION ALL SELECT id FROM payment_outbox WHERE status = 'PUBLISHED' AND published_at IS NULL
         UNION ALL SELECT id FROM payment_outbox WHERE status = 'DEAD_LETTERED' AND dead_lettered_at IS NULL
         LIMIT $1"
    ),
];
