-- +goose Up
-- Each entry of the audit log has the hash of the one before it: an entry that the tables' owner changes or removes breaks the chain.
ALTER TABLE staff_audit
    ADD COLUMN position bigint,
    ADD COLUMN previous bytea,
    ADD COLUMN hash bytea,
    ADD CONSTRAINT audit_roles_are_a_list CHECK (coalesce(array_ndims(roles), 1) = 1 AND array_position(roles, NULL) IS NULL);

COMMENT ON COLUMN staff_audit.position IS '1 for the first entry, without a gap.';
COMMENT ON COLUMN staff_audit.previous IS 'The hash of the entry before; 32 zero bytes for the first.';
COMMENT ON COLUMN staff_audit.hash IS
    'SHA-256 of the entry, its position and previous: each field as its length in bytes, a colon and its text, or - for NULL, joined by commas.';

-- +goose StatementBegin
CREATE FUNCTION audit_hash(e staff_audit) RETURNS bytea LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT sha256(convert_to(string_agg(coalesce(octet_length(v) || ':' || v, '-'), ',' ORDER BY n), 'UTF8'))
    FROM unnest(ARRAY[e.position::text, encode(e.previous, 'hex'), e.entry_id::text, e.deed_id::text, e.actor, e.action,
        e.target_type, e.target, e.order_id, e.attempt_id::text, e.reason, e.address, e.request_id, e.outcome,
        e.detail::text, (extract(epoch FROM e.at) * 1000000)::bigint::text] || e.roles) WITH ORDINALITY AS field (v, n)
$$;

-- Entries are appended one after the other: the lock is held until the transaction ends. Position, hashes and time are never the caller's. The
-- table is qualified, so that no temporary one of the caller's stands for it.
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

ALTER TABLE staff_audit DISABLE TRIGGER staff_audit_append_only;
DO $$
DECLARE
    e staff_audit;
    n bigint := 0;
    before bytea := decode(repeat('00', 32), 'hex');
BEGIN
    FOR e IN SELECT * FROM staff_audit ORDER BY entry_id LOOP
        n := n + 1;
        e.position := n;
        e.previous := before;
        before := audit_hash(e);
        UPDATE staff_audit SET position = n, previous = e.previous, hash = before WHERE entry_id = e.entry_id;
    END LOOP;
END $$;
-- +goose StatementEnd
ALTER TABLE staff_audit ENABLE TRIGGER staff_audit_append_only;

ALTER TABLE staff_audit
    ALTER COLUMN position SET NOT NULL,
    ALTER COLUMN previous SET NOT NULL,
    ALTER COLUMN hash SET NOT NULL,
    ADD CONSTRAINT audit_one_per_position UNIQUE (position);

CREATE TRIGGER audit_is_chained BEFORE INSERT ON staff_audit FOR EACH ROW EXECUTE FUNCTION audit_is_chained();
