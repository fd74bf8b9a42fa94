use super::{Invariant, invariant};

pub(super) const INVARIANTS: &[Invariant] = &[
    invariant!(
        "messages-carried-out",
        "Every message is carried out within an hour, or kept as a dead letter.",
        "SELECT message.event_id FROM (
             SELECT event_id, state, updated_at FROM inbox ORDER BY created_at DESC LIMIT $1
         ) message
         WHERE message.state = 'RUNNING' AND message.updated_at < now() - interval '1 hour' AND NOT EXISTS (
             SELECT 1 FROM inbound_dead_letter WHERE inbound_dead_letter.event_id = message.event_id::text OFFSET 0
         )"
    ),
    invariant!(
        "deleted-meetings-refunded",
        "Every payment of a deleted meeting has a refund, made or refused.",
        "SELECT paid.id FROM (
             SELECT event_id, payment_ids, consumer, state FROM inbox ORDER BY created_at DESC LIMIT $1
         ) message
         CROSS JOIN LATERAL unnest(message.payment_ids) AS paid (id)
         WHERE message.consumer = 'payment.meeting.deleted' AND message.state = 'DONE'
           AND EXISTS (SELECT 1 FROM payment WHERE payment.id = paid.id AND payment.status = 'COMPLETED' OFFSET 0)
           AND NOT EXISTS (SELECT 1 FROM refund WHERE refund.payment_id = paid.id OFFSET 0)"
    ),
    invariant!(
        "closed-meetings-unpaid",
        "Nobody's payment stays with a meeting that was deleted: within an hour it has a refund, made or refused.",
        "SELECT payment.id FROM (
             SELECT id, meeting_id, status, completed_at FROM payment ORDER BY created_at DESC, id DESC LIMIT $1
         ) payment
         JOIN meeting_closed ON meeting_closed.meeting_id = payment.meeting_id
         WHERE payment.status = 'COMPLETED'
           AND (payment.completed_at > meeting_closed.created_at OR meeting_closed.created_at < now() - interval '1 hour')
           AND NOT EXISTS (SELECT 1 FROM refund WHERE refund.payment_id = payment.id OFFSET 0)"
    ),
    invariant!(
        "cancelled-participants-refunded",
        "A cancel is remembered as one that found no payment only if there was none.",
        "SELECT payment.id FROM (
             SELECT id, meeting_id, user_id, status, completed_at FROM payment ORDER BY created_at DESC, id DESC LIMIT $1
         ) payment
         WHERE payment.status = 'COMPLETED' AND EXISTS (
             SELECT 1 FROM participant_cancel cancel
             WHERE cancel.meeting_id = payment.meeting_id AND cancel.user_id = payment.user_id
               AND payment.completed_at < cancel.created_at - interval '1 minute' OFFSET 0
         ) AND NOT EXISTS (SELECT 1 FROM refund WHERE refund.payment_id = payment.id OFFSET 0)"
    ),
    invariant!(
        "dead-letters-on-the-feed",
        "Every open dead letter was told as a failure.",
        "SELECT letter.id FROM (
             SELECT id FROM inbound_dead_letter
             WHERE status = 'OPEN' AND received_at > now() - interval '170 days'
             ORDER BY received_at DESC, id DESC LIMIT $1
         ) letter
         WHERE NOT EXISTS (
             SELECT 1 FROM failure
             WHERE failure.subject_type = 'INBOUND_DEAD_LETTER' AND failure.subject_id = letter.id::text OFFSET 0
         )"
    ),
];
