DROP TABLE charge_event_job;
DROP TABLE charge_event;
