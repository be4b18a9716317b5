-- +goose Up
CREATE TABLE attempt_log (
    order_id   text NOT NULL,
    entry_id   uuid NOT NULL,
    attempt_id uuid,
    kind       text NOT NULL CONSTRAINT log_kind_known CHECK (kind IN ('press', 'reuse', 'refused', 'call', 'poll', 'duplicate')),
    what       text NOT NULL,
    actor      text NOT NULL DEFAULT '',
    key        text NOT NULL DEFAULT '',
    outcome    text NOT NULL DEFAULT '',
    refund_id  uuid,
    times      integer NOT NULL DEFAULT 1 CONSTRAINT log_times_positive CHECK (times > 0),
    at         timestamptz NOT NULL,
    until      timestamptz NOT NULL,
    CONSTRAINT log_once PRIMARY KEY (order_id, entry_id),
    CONSTRAINT log_ends_after_it_begins CHECK (until >= at)
);

COMMENT ON TABLE attempt_log IS
    'Append-only: repeated requests of callers and calls to providers. It is gathered in memory and may lack the last moments '
    'of a process that died; the states of an attempt are in attempt_transitions. Without a foreign key, a write locks no '
    'attempt.';
COMMENT ON COLUMN attempt_log.attempt_id IS 'NULL for an entry about the order as a whole.';
COMMENT ON COLUMN attempt_log.at IS 'By the clock of the process, like until, the end of a call or the last of several.';

CREATE TRIGGER attempt_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON attempt_log
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();
