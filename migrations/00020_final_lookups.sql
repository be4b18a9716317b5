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
    'The progress of the repeated lookups of an account''s final attempts, a number of days after they began. Attempts are in '
    'the order of their ids, which begin with the time.';
COMMENT ON COLUMN final_cursors.after IS 'The last attempt that was looked up or skipped.';
COMMENT ON COLUMN final_cursors.misses IS 'Turns in a row in which the provider showed none of the attempts.';
COMMENT ON COLUMN final_cursors.next_at IS 'When the account''s next turn begins. One process has the account until then.';

CREATE UNLOGGED TABLE final_lookups (
    attempt_id   uuid NOT NULL CONSTRAINT lookups_once PRIMARY KEY,
    looked_up_at timestamptz NOT NULL
);

COMMENT ON TABLE final_lookups IS
    'The last lookups of final attempts by callers, kept for some seconds to limit their rate. Unlogged: after a crash of the '
    'server it is empty, and each attempt may be looked up once more.';
