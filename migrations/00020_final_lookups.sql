-- +goose Up
CREATE TABLE final_cursors (
    account      text NOT NULL,
    horizon_days integer NOT NULL CONSTRAINT cursors_horizon_positive CHECK (horizon_days > 0),
    after        uuid NOT NULL,
    misses       integer NOT NULL DEFAULT 0 CONSTRAINT cursors_misses_count CHECK (misses >= 0),
    next_at      timestamptz NOT NULL,
    CONSTRAINT cursors_once PRIMARY KEY (account, horizon_days)
);

COMMENT ON TABLE final_cursors IS
    'How far the final attempts of an account have been looked up at its provider again, so many days after they began. Attempts are in the order of their ids, '
    'which begin with the time.';
COMMENT ON COLUMN final_cursors.after IS 'The last attempt that was looked up, or passed over.';
COMMENT ON COLUMN final_cursors.misses IS 'Turns in a row in which the provider showed none of the attempts after it.';
COMMENT ON COLUMN final_cursors.next_at IS 'When the next turn of the account begins: one process has it until then.';

CREATE UNLOGGED TABLE final_lookups (
    attempt_id   uuid NOT NULL CONSTRAINT lookups_once PRIMARY KEY,
    looked_up_at timestamptz NOT NULL
);

COMMENT ON TABLE final_lookups IS
    'When callers last had final attempts looked up, for some seconds: it bounds how often. Unlogged: after a crash of the server it is empty, and each may once more.';
