CREATE TABLE daily_run (
    name        text        NOT NULL,
    day         date        NOT NULL,
    instance    text        NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT now(),
    beat_at     timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    CONSTRAINT daily_run_name_day_pk PRIMARY KEY (name, day)
);

COMMENT ON TABLE daily_run IS 'Work that is done once for each local day, whatever clocks and restarts do: the row is the memory, and the lease of the process at it.';
COMMENT ON COLUMN daily_run.name IS 'The worker.';
COMMENT ON COLUMN daily_run.day IS 'The day in the worker''s time zone.';
COMMENT ON COLUMN daily_run.instance IS 'The process that is at it, or was.';
COMMENT ON COLUMN daily_run.beat_at IS 'Its last sign of life; when that is old, another process goes on.';
COMMENT ON COLUMN daily_run.finished_at IS 'When the day''s work was done.';
