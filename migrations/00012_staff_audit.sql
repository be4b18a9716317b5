-- +goose Up
CREATE TABLE staff_audit (
    entry_id    uuid PRIMARY KEY,
    position    bigint NOT NULL CONSTRAINT audit_one_per_position UNIQUE,
    previous    bytea NOT NULL,
    hash        bytea NOT NULL,
    deed_id     uuid NOT NULL,
    actor       text NOT NULL,
    roles       text[] NOT NULL
        CONSTRAINT audit_roles_are_a_list CHECK (coalesce(array_ndims(roles), 1) = 1 AND array_position(roles, NULL) IS NULL),
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
    at          timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT audit_names_an_actor CHECK (actor <> '' OR outcome = 'refused')
);

COMMENT ON TABLE staff_audit IS
    'Append-only: the looks and actions of staff, with reason, time and origin. Its ids rise with time. Each entry has the '
    'hash of the entry before, so an entry that the tables'' owner changes or removes breaks the chain.';
COMMENT ON COLUMN staff_audit.position IS '1 for the first entry, without a gap.';
COMMENT ON COLUMN staff_audit.previous IS 'The hash of the entry before; 32 zero bytes for the first.';
COMMENT ON COLUMN staff_audit.hash IS
    'SHA-256 of the entry, its position and previous: each field as its length in bytes, a colon and its text, or - for NULL, '
    'joined by commas.';
COMMENT ON COLUMN staff_audit.deed_id IS
    'The same in the entries of the begin and the result of an action, if they are not one transaction.';
COMMENT ON COLUMN staff_audit.actor IS 'Empty if the subject was not proven, as with a refused token or sign-in.';

CREATE INDEX staff_audit_by_attempt ON staff_audit (attempt_id) WHERE attempt_id IS NOT NULL;
CREATE INDEX staff_audit_by_actor ON staff_audit (actor, entry_id);
CREATE INDEX staff_audit_by_target ON staff_audit (target, entry_id);

-- +goose StatementBegin
CREATE FUNCTION audit_hash(e staff_audit) RETURNS bytea LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT sha256(convert_to(string_agg(coalesce(octet_length(v) || ':' || v, '-'), ',' ORDER BY n), 'UTF8'))
    FROM unnest(ARRAY[e.position::text, encode(e.previous, 'hex'), e.entry_id::text, e.deed_id::text, e.actor, e.action,
        e.target_type, e.target, e.order_id, e.attempt_id::text, e.reason, e.address, e.request_id, e.outcome,
        e.detail::text, (extract(epoch FROM e.at) * 1000000)::bigint::text] || e.roles) WITH ORDINALITY AS field (v, n)
$$;

-- Entries are appended one after the other: the lock is held until the transaction ends. The caller never gives position, hashes
-- and time. The table is qualified, so that no temporary table of the caller stands in for it.
CREATE FUNCTION audit_is_chained() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('paylatch audit', 0));
    EXECUTE format('SELECT position + 1, hash FROM %I.%I ORDER BY position DESC LIMIT 1', TG_TABLE_SCHEMA, TG_TABLE_NAME)
        INTO NEW.position, NEW.previous;
    NEW.position := coalesce(NEW.position, 1);
    NEW.previous := coalesce(NEW.previous, decode(repeat('00', 32), 'hex'));
    NEW.at := clock_timestamp();
    EXECUTE format('SELECT %I.audit_hash($1)', TG_TABLE_SCHEMA) INTO NEW.hash USING NEW;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER audit_is_chained BEFORE INSERT ON staff_audit FOR EACH ROW EXECUTE FUNCTION audit_is_chained();
CREATE TRIGGER staff_audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON staff_audit
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();
