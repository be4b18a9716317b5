-- +goose Up
CREATE TABLE service_marks (
    one_row     boolean PRIMARY KEY DEFAULT true CONSTRAINT marks_one_row CHECK (one_row),
    database_id uuid NOT NULL DEFAULT gen_random_uuid(),
    mark        bigint NOT NULL DEFAULT 0,
    marked_at   timestamptz NOT NULL DEFAULT now(),
    gap_from    timestamptz,
    gap_to      timestamptz
);

COMMENT ON TABLE service_marks IS
    'One row, whose mark rises every few seconds while the service runs. A copy outside the database that is higher shows '
    'that the database was restored from a backup.';
COMMENT ON COLUMN service_marks.database_id IS
    'Made with the schema, and kept by dumps and backups. Another id means another database.';

COMMENT ON COLUMN service_marks.gap_from IS
    'The begin of the last span, until gap_to, in which the mark did not rise. A process that saw it rise in that span knows '
    'that the database was restored.';

INSERT INTO service_marks DEFAULT VALUES;

CREATE TABLE pay_holds (
    account     text NOT NULL,
    held_at     timestamptz NOT NULL DEFAULT now(),
    since       timestamptz NOT NULL,
    reason      text NOT NULL CONSTRAINT holds_reason_known CHECK (reason IN ('mark_behind', 'other_server', 'other_database')),
    released_at timestamptz,
    released_by text NOT NULL DEFAULT '',
    PRIMARY KEY (account, held_at),
    CONSTRAINT holds_released_how CHECK ((released_at IS NULL) = (released_by = ''))
);

COMMENT ON TABLE pay_holds IS
    'Accounts whose pays and refunds wait: the database may have forgotten calls to the provider from since until held_at.';
COMMENT ON COLUMN pay_holds.released_by IS 'The reconciliation that covered the span, or the person who compared by hand.';

CREATE UNIQUE INDEX pay_holds_one_open ON pay_holds (account) WHERE released_at IS NULL;
