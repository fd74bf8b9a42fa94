DROP TABLE provider_call;
DROP TABLE idempotency_key;
