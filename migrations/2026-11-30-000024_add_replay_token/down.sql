ALTER TABLE inbound_dead_letter DROP COLUMN replay_token;

COMMENT ON COLUMN inbound_dead_letter.replaying_until IS 'Until then a replay may be under way; afterwards its process died, and it may be replayed again.';
