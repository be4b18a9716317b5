-- +goose Up
CREATE TABLE attempt_transitions (
    order_id   text NOT NULL,
    attempt_id uuid NOT NULL,
    version    integer NOT NULL,
    from_stage text NOT NULL,
    to_stage   text NOT NULL,
    cause      text NOT NULL CHECK (cause IN ('pay', 'call', 'webhook', 'check', 'person')),
    cause_id   text NOT NULL DEFAULT '',
    detail     jsonb NOT NULL DEFAULT '{}',
    at         timestamptz NOT NULL,
    CONSTRAINT transitions_one_per_version PRIMARY KEY (order_id, attempt_id, version),
    FOREIGN KEY (order_id, attempt_id) REFERENCES payment_attempts
);

COMMENT ON TABLE attempt_transitions IS
    'Append-only: what each version of an attempt was made by. The attempt can be derived from it again.';

-- +goose StatementBegin
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
END $$;
-- +goose StatementEnd

CREATE TRIGGER attempt_transitions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON attempt_transitions
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();
