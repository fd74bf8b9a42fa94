ALTER TABLE inbound_dead_letter ADD COLUMN replay_token uuid;

COMMENT ON COLUMN inbound_dead_letter.replaying_until IS 'Until then a replay is under way, which puts it off as it goes on; when it has passed, its process died, and the letter is free.';
COMMENT ON COLUMN inbound_dead_letter.replay_token IS 'The replay that holds it: another one''s marks are void.';
