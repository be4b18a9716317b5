-- +goose Up
CREATE TABLE attempt_transitions (
    order_id   text NOT NULL,
    attempt_id uuid NOT NULL,
    version    integer NOT NULL,
    from_stage text NOT NULL,
    to_stage   text NOT NULL,
    cause      text NOT NULL CONSTRAINT transitions_cause_known CHECK (cause IN ('pay', 'call', 'webhook', 'check', 'person', 'report', 'import')),
    cause_id   text NOT NULL DEFAULT '',
    detail     json NOT NULL DEFAULT '{}',
    at         timestamptz NOT NULL,
    CONSTRAINT transitions_one_per_version PRIMARY KEY (order_id, attempt_id, version)
);

COMMENT ON TABLE attempt_transitions IS
    'Append-only: the cause of each version of an attempt. The attempt can be derived from it again.';
COMMENT ON COLUMN attempt_transitions.detail IS 'Only read as a whole: json keeps the text as it is and costs less than jsonb.';

-- +goose StatementBegin
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
END $$;
-- +goose StatementEnd

CREATE TRIGGER attempt_transitions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON attempt_transitions
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();

-- Each entry follows an INSERT of its attempt, or a guarded UPDATE, in the same transaction. A foreign key would look up and lock
-- the attempt once more for each entry: a tenth of a webhook's cost in the database. Triggers instead keep attempts that have a
-- log, and so operations and movements keep theirs.
-- +goose StatementBegin
CREATE FUNCTION attempts_with_a_log_stay() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' AND EXISTS (SELECT FROM attempt_transitions)
        OR TG_OP = 'DELETE' AND EXISTS (SELECT FROM attempt_transitions t WHERE t.order_id = OLD.order_id AND t.attempt_id = OLD.attempt_id) THEN
        RAISE EXCEPTION 'attempts with a log are not deleted'
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = TG_NAME;
    END IF;
    RETURN OLD;
END $$;
-- +goose StatementEnd

CREATE TRIGGER attempts_with_a_log_stay BEFORE DELETE ON payment_attempts
    FOR EACH ROW EXECUTE FUNCTION attempts_with_a_log_stay();
CREATE TRIGGER attempts_with_a_log_all_stay BEFORE TRUNCATE ON payment_attempts
    FOR EACH STATEMENT EXECUTE FUNCTION attempts_with_a_log_stay();
