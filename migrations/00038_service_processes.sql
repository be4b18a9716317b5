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
    'The processes that serve from this database, each with its last sign of life. After a change of the server each process looks up the last commits '
    'that it has acknowledged. Pays wait until all the processes that were alive have found theirs.';
COMMENT ON COLUMN service_processes.process IS 'Kept in the process''s data_dir: a process that starts there later answers for it.';
COMMENT ON COLUMN service_processes.server IS
    'The server and the timeline on which it goes on: it has found its commits there, or pays were held. Another one than the present is an answer that is missing.';
COMMENT ON COLUMN service_processes.before_at IS 'Its last sign of life before the last change of the server.';
COMMENT ON COLUMN service_processes.left_at IS 'When it ended in order, after its last commit. It owes no answer.';
