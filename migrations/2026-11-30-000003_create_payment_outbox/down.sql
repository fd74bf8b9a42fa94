DROP TABLE payment_outbox;
DROP FUNCTION payment_outbox_default_correlation_id();
