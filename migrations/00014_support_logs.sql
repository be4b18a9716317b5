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
    until      timestamptz NOT NULL CONSTRAINT log_ends_after_it_begins CHECK (until >= at),
    CONSTRAINT log_once PRIMARY KEY (order_id, entry_id)
);

COMMENT ON TABLE attempt_log IS
    'Append-only: what callers pressed again and providers were asked. It is gathered in memory and may lack the last moments of a '
    'process that died; what an attempt is stands in attempt_transitions. It refers to attempts without a foreign key: writing it locks no row of theirs.';
COMMENT ON COLUMN attempt_log.attempt_id IS 'NULL for what was about the order as a whole.';
COMMENT ON COLUMN attempt_log.at IS 'By the clock of the process, as until, which is the end of a call or the last of several.';

CREATE TRIGGER attempt_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON attempt_log
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();

CREATE TABLE staff_audit (
    entry_id    uuid PRIMARY KEY,
    deed_id     uuid NOT NULL,
    actor       text NOT NULL CONSTRAINT audit_names_somebody CHECK (actor <> ''),
    roles       text[] NOT NULL,
    action      text NOT NULL CONSTRAINT audit_names_an_action CHECK (action <> ''),
    target_type text NOT NULL DEFAULT '',
    target      text NOT NULL DEFAULT '',
    order_id    text,
    attempt_id  uuid,
    reason      text NOT NULL DEFAULT '',
    address     text NOT NULL DEFAULT '',
    request_id  text NOT NULL DEFAULT '',
    outcome     text NOT NULL CONSTRAINT audit_outcome_known CHECK (outcome IN ('begun', 'done', 'refused', 'failed')),
    detail      jsonb NOT NULL DEFAULT '{}',
    at          timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE staff_audit IS
    'Append-only: who looked at or did what, why, when and from where. Its ids rise with time.';
COMMENT ON COLUMN staff_audit.deed_id IS
    'The same for what was begun and what came of it, where the two are not one transaction.';

CREATE INDEX staff_audit_by_attempt ON staff_audit (attempt_id) WHERE attempt_id IS NOT NULL;
CREATE INDEX staff_audit_by_actor ON staff_audit (actor, entry_id);
CREATE INDEX staff_audit_by_target ON staff_audit (target, entry_id);

CREATE TRIGGER staff_audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON staff_audit
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();
