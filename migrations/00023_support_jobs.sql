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
    'Actions of staff on many events or discrepancies, chosen by a filter when the job began. Each item is done in the '
    'transaction that also counts it here.';
COMMENT ON COLUMN support_jobs.deed_id IS 'The deed_id of its two entries in staff_audit, of the begin and of the end.';
COMMENT ON COLUMN support_jobs.total IS
    'How many items the filter chose at the beginning. Items that no longer match at their turn are left out.';
COMMENT ON COLUMN support_jobs.results IS
    'Counts by result: a verdict, resolved, already_resolved, or the code of the problem that refused the item.';
COMMENT ON COLUMN support_jobs.behind IS
    'The id of the last item, zero at the beginning. Items are taken in the order of their ids, up to the job''s own id.';
COMMENT ON COLUMN support_jobs.fence IS 'Rises with each lease. A write with an older fence touches no row.';

CREATE UNIQUE INDEX jobs_one_running_each_kind ON support_jobs (kind) WHERE state = 'running';

CREATE TABLE support_job_items (
    job_id     uuid NOT NULL CONSTRAINT job_items_have_a_job REFERENCES support_jobs (job_id),
    item_id    uuid NOT NULL,
    attempt_id uuid,
    outcome    text NOT NULL,
    at         timestamptz NOT NULL,
    CONSTRAINT job_items_done_once PRIMARY KEY (job_id, item_id)
);

COMMENT ON TABLE support_job_items IS 'The result of each event or discrepancy of a job.';

CREATE INDEX job_items_by_attempt ON support_job_items (attempt_id) WHERE attempt_id IS NOT NULL;
