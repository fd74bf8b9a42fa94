//! The integration tests: the real App on real PostgreSQL and RabbitMQ, through public interfaces.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests read DATABASE_URL and AMQP_URL, and spawn what they stop"
)]

mod authz;
mod books;
mod broker_outage;
mod charge_jobs;
mod charge_references;
mod charges;
mod charges_under_load;
mod console;
mod consumers;
mod consumers_refunds;
mod consumers_trouble;
mod crashes;
mod database_trouble;
mod dead_letters;
mod exposure;
mod feed;
mod idempotency;
mod invariants;
mod layering;
mod lists;
mod main_job;
mod migrations;
mod notices;
mod odd_rows;
mod outbox_cases;
mod outbox_delivery;
mod outbox_order;
mod outbox_trouble;
mod outcomes;
mod payments;
mod plans;
mod purchases;
mod readme;
mod reconcile;
mod refunds;
mod requeue;
mod retention;
mod rows;
mod schema;
mod settings;
mod standstill;
mod support;
