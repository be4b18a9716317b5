-- +goose Up
CREATE TABLE support_jobs (
    job_id           uuid CONSTRAINT support_jobs_pkey PRIMARY KEY,
    deed_id          uuid NOT NULL,
    kind             text NOT NULL CONSTRAINT jobs_kind_known CHECK (kind IN ('replay', 'resolve')),
    account          text NOT NULL,
    verdict          text NOT NULL,
    event_type       text NOT NULL,
    discrepancy_kind text NOT NULL,
    since            timestamptz,
    until            timestamptz,
    resolution       text NOT NULL,
    reason           text NOT NULL,
    actor            text NOT NULL,
    roles            text[] NOT NULL,
    address          text NOT NULL,
    request_id       text NOT NULL,
    created_at       timestamptz NOT NULL,
    state            text NOT NULL DEFAULT 'running' CONSTRAINT jobs_state_known CHECK (state IN ('running', 'done', 'stopped')),
    total            bigint NOT NULL,
    done             bigint NOT NULL DEFAULT 0,
    results          jsonb NOT NULL DEFAULT '{}',
    behind           uuid NOT NULL,
    fence            bigint NOT NULL DEFAULT 0,
    lease_until      timestamptz,
    finished_at      timestamptz,
    CONSTRAINT jobs_finished_once_over CHECK ((state = 'running') = (finished_at IS NULL)),
    CONSTRAINT jobs_have_a_filter CHECK (account || verdict || event_type || discrepancy_kind <> '' OR since IS NOT NULL OR until IS NOT NULL)
) WITH (fillfactor = 50);

COMMENT ON TABLE support_jobs IS
    'Acts of staff on many events or discrepancies: those that the filter chose when the job began. Each of them is done in a transaction that also counts it here.';
COMMENT ON COLUMN support_jobs.deed_id IS 'That of the two entries in staff_audit: of the beginning and of the end.';
COMMENT ON COLUMN support_jobs.total IS 'How many the filter chose at the beginning. Those that it does not choose any more when their turn comes are left out.';
COMMENT ON COLUMN support_jobs.results IS 'How many came to which end: a verdict, resolved, already_resolved, or the code of the problem that refused it.';
COMMENT ON COLUMN support_jobs.behind IS 'The id of the last one that was looked at, zero at the beginning: they are taken in the order of their ids, up to the job''s own.';
COMMENT ON COLUMN support_jobs.fence IS 'Rises with each lease: a write with an older one touches no row.';

CREATE UNIQUE INDEX jobs_one_running_each_kind ON support_jobs (kind) WHERE state = 'running';

CREATE TABLE support_job_items (
    job_id     uuid NOT NULL CONSTRAINT job_items_have_a_job REFERENCES support_jobs (job_id),
    item_id    uuid NOT NULL,
    attempt_id uuid,
    outcome    text NOT NULL,
    at         timestamptz NOT NULL,
    CONSTRAINT job_items_done_once PRIMARY KEY (job_id, item_id)
);

COMMENT ON TABLE support_job_items IS 'What came of each event or discrepancy of a job.';

CREATE INDEX job_items_by_attempt ON support_job_items (attempt_id) WHERE attempt_id IS NOT NULL;
