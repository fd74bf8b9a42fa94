CREATE TABLE payment_outbox (
    id                     bigserial,
    event_id               uuid        NOT NULL DEFAULT gen_random_uuid(),
    correlation_id         text        NOT NULL,
    flow_id                uuid        NOT NULL DEFAULT gen_random_uuid(),
    event_type             text        NOT NULL,
    aggregate_type         text        NOT NULL,
    aggregate_id           text        NOT NULL,
    exchange               text        NOT NULL,
    routing_key            text        NOT NULL,
    payload                json        NOT NULL,
    traceparent            text,
    status                 text        NOT NULL DEFAULT 'PENDING',
    retry_count            integer     NOT NULL DEFAULT 0,
    attempt_count          integer     NOT NULL DEFAULT 0,
    suspect                boolean     NOT NULL DEFAULT false,
    lone_connection_losses integer     NOT NULL DEFAULT 0,
    next_retry_at          timestamptz,
    last_error             text,
    last_error_code        text,
    claim_token            uuid,
    claim_trigger          text,
    claimed_by             text,
    processing_started_at  timestamptz,
    published_at           timestamptz,
    dead_lettered_at       timestamptz,
    created_at             timestamptz NOT NULL DEFAULT now(),
    updated_at             timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT payment_outbox_id_pk PRIMARY KEY (id),
    CONSTRAINT payment_outbox_event_id_uq UNIQUE (event_id),
    CONSTRAINT payment_outbox_status_ck CHECK (status IN ('PENDING', 'PROCESSING', 'PUBLISHED', 'FAILED', 'DEAD_LETTERED')),
    CONSTRAINT payment_outbox_claim_trigger_ck CHECK (claim_trigger IN ('IMMEDIATE', 'SCHEDULED', 'RETRY', 'MANUAL', 'BULK', 'RECOVERY')),
    -- Times that every reader can tell: neither infinite nor beyond the year 9999.
    CONSTRAINT payment_outbox_created_at_ck CHECK (created_at BETWEEN '0001-01-02 00:00+00' AND '9999-12-30 00:00+00'),
    CONSTRAINT payment_outbox_next_retry_at_ck CHECK (next_retry_at BETWEEN '0001-01-02 00:00+00' AND '9999-12-30 00:00+00'),
    CONSTRAINT payment_outbox_processing_started_at_ck CHECK (processing_started_at BETWEEN '0001-01-02 00:00+00' AND '9999-12-30 00:00+00'),
    CONSTRAINT payment_outbox_published_at_ck CHECK (published_at BETWEEN '0001-01-02 00:00+00' AND '9999-12-30 00:00+00'),
    CONSTRAINT payment_outbox_dead_lettered_at_ck CHECK (dead_lettered_at BETWEEN '0001-01-02 00:00+00' AND '9999-12-30 00:00+00'),
    CONSTRAINT payment_outbox_retry_count_ck CHECK (retry_count >= 0),
    CONSTRAINT payment_outbox_attempt_count_ck CHECK (attempt_count >= 0)
)
-- Every row is written three times (insert, claim, mark) and never changed again. The status is in the partial indexes' conditions, so
-- no claim or mark is a heap-only update; the free seventh of a page keeps a row's versions together. The server's own 20 % would let a
-- million dead versions gather in a table of five million before a vacuum, and the planner's figures of the small states grow old.
WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

CREATE FUNCTION payment_outbox_default_correlation_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.correlation_id := NEW.event_id::text;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION payment_outbox_default_correlation_id() IS 'A default cannot read another column; rows inserted by other programs need one.';
CREATE TRIGGER payment_outbox_correlation_id BEFORE INSERT ON payment_outbox FOR EACH ROW
    WHEN (NEW.correlation_id IS NULL) EXECUTE FUNCTION payment_outbox_default_correlation_id();
-- Claims and marks set it themselves: calling the function costs a tenth of either.
CREATE TRIGGER payment_outbox_updated_at BEFORE UPDATE ON payment_outbox FOR EACH ROW
    WHEN (NEW.updated_at IS NOT DISTINCT FROM OLD.updated_at) EXECUTE FUNCTION set_updated_at();

-- One that is the event_id is unique as that is: it needs no entry of its own, which each claim and mark would write anew.
CREATE UNIQUE INDEX payment_outbox_correlation_id_uq ON payment_outbox (correlation_id) WHERE correlation_id <> event_id::text;

-- The scans, each by a partial index that holds only the rows it looks for.
CREATE INDEX payment_outbox_pending_created_at_id_ix ON payment_outbox (created_at, id) WHERE status = 'PENDING';
CREATE INDEX payment_outbox_failed_next_retry_at_id_ix ON payment_outbox (next_retry_at, id) WHERE status = 'FAILED';
CREATE INDEX payment_outbox_processing_started_at_ix ON payment_outbox ((coalesce(processing_started_at, created_at)), id) WHERE status = 'PROCESSING';
CREATE INDEX payment_outbox_published_at_id_ix ON payment_outbox (published_at, id) WHERE status = 'PUBLISHED';
CREATE INDEX payment_outbox_dead_lettered_at_id_ix ON payment_outbox (dead_lettered_at, id) WHERE status = 'DEAD_LETTERED';
CREATE INDEX payment_outbox_suspect_id_ix ON payment_outbox (id) WHERE suspect AND status IN ('PENDING', 'FAILED');
-- The lists of the API.
CREATE INDEX payment_outbox_created_at_id_ix ON payment_outbox (created_at, id);
CREATE INDEX payment_outbox_failed_created_at_id_ix ON payment_outbox (created_at, id) WHERE status = 'FAILED';
CREATE INDEX payment_outbox_dead_lettered_created_at_id_ix ON payment_outbox (created_at, id) WHERE status = 'DEAD_LETTERED';
CREATE INDEX payment_outbox_open_created_at_id_ix ON payment_outbox (created_at, id) WHERE status IN ('FAILED', 'DEAD_LETTERED');
CREATE INDEX payment_outbox_open_error_code_created_at_id_ix ON payment_outbox (last_error_code, created_at, id) WHERE status IN ('FAILED', 'DEAD_LETTERED');
CREATE INDEX payment_outbox_open_status_error_code_created_at_id_ix ON payment_outbox (status, last_error_code, created_at, id) WHERE status IN ('FAILED', 'DEAD_LETTERED');
CREATE INDEX payment_outbox_aggregate_created_at_id_ix ON payment_outbox (aggregate_type, aggregate_id, created_at, id);
CREATE INDEX payment_outbox_flow_id_ix ON payment_outbox (flow_id, created_at, id);

COMMENT ON TABLE payment_outbox IS 'Events, written in the transaction of the change that they tell, and delivered to RabbitMQ afterwards. Other programs may insert rows with event_type, aggregate_type, aggregate_id, exchange, routing_key and payload alone.';
COMMENT ON COLUMN payment_outbox.id IS 'Handed out in the order of insertion, not of commit: never tail this table by id.';
COMMENT ON COLUMN payment_outbox.event_id IS 'The message id: consumers drop what they have seen.';
COMMENT ON COLUMN payment_outbox.correlation_id IS 'The AMQP correlation id; the event_id unless told otherwise.';
COMMENT ON COLUMN payment_outbox.flow_id IS 'Ties everything of one flow together.';
COMMENT ON COLUMN payment_outbox.payload IS 'The message body as written. What is not a wrapper (eventId, eventType, …, data) is wrapped when it is sent.';
COMMENT ON COLUMN payment_outbox.traceparent IS 'W3C trace context of the change, sent as a header.';
COMMENT ON COLUMN payment_outbox.status IS 'PENDING → PROCESSING → PUBLISHED, or FAILED (tried again at next_retry_at), or DEAD_LETTERED (needs an operator).';
COMMENT ON COLUMN payment_outbox.retry_count IS 'Failed tries since it was written or requeued; at the limit it is DEAD_LETTERED.';
COMMENT ON COLUMN payment_outbox.attempt_count IS 'Tries with an outcome, ever.';
COMMENT ON COLUMN payment_outbox.suspect IS 'It was in flight when a channel, connection or confirm was lost: it is sent alone until a confirm clears it.';
COMMENT ON COLUMN payment_outbox.lone_connection_losses IS 'Connections lost in a row while it was sent alone; at the third it is to blame.';
COMMENT ON COLUMN payment_outbox.next_retry_at IS 'When a FAILED event is due again.';
COMMENT ON COLUMN payment_outbox.last_error_code IS 'NACKED, UNROUTABLE, EXCHANGE_MISSING, INVALID_MESSAGE, CHANNEL_KILLED, CONNECTION_KILLED or STUCK. UNROUTABLE on a PUBLISHED event: nobody listened, and by policy nobody has to.';
COMMENT ON COLUMN payment_outbox.claim_token IS 'The last claim; only its holder may mark the row.';
COMMENT ON COLUMN payment_outbox.claim_trigger IS 'What caused the last claim; on a requeued row, what is to cause the next.';
COMMENT ON COLUMN payment_outbox.claimed_by IS 'The process that made the last claim.';
COMMENT ON COLUMN payment_outbox.processing_started_at IS 'When the last claim was made.';
