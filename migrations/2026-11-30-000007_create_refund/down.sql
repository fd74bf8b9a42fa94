DROP TABLE refund;
ALTER TABLE payment DROP COLUMN check_count, DROP COLUMN next_check_at, DROP COLUMN refund_wanted;
