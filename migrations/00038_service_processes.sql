-- +goose Up
CREATE TABLE service_processes (
    process   uuid CONSTRAINT service_processes_pkey PRIMARY KEY,
    name      text NOT NULL,
    server    text NOT NULL,
    beat_at   timestamptz NOT NULL,
    before_at timestamptz,
    left_at   timestamptz
);

COMMENT ON TABLE service_processes IS
    'The processes that serve from this database, with their last signs of life. After a change of the server each process '
    'looks up the last commits that it acknowledged. Pays wait until all processes that were alive have found theirs.';
COMMENT ON COLUMN service_processes.process IS
    'The id is kept in the process''s data_dir, so that a later process in that directory answers for it.';
COMMENT ON COLUMN service_processes.server IS
    'The server and timeline on which the process has found its commits, or pays were held. If it is not the present one, the '
    'process''s answer is missing.';
COMMENT ON COLUMN service_processes.before_at IS 'Its last sign of life before the last change of the server.';
COMMENT ON COLUMN service_processes.left_at IS 'When it ended in order, after its last commit. It owes no answer.';
