DROP TABLE participant_cancel;
DROP TABLE meeting_closed;
DROP TABLE inbound_dead_letter;
DROP TABLE inbox;
