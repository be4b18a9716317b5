-- +goose Up
-- A database may have several schemas, each with a chain of its own, and the trigger may run on a part of the table whose rows
-- have a type of their own. Entries that another session inserts by the old function end first: this waits for them, and they for
-- it.
LOCK TABLE staff_audit IN SHARE ROW EXCLUSIVE MODE;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION audit_is_chained() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('paylatch audit ' || TG_TABLE_SCHEMA, 0));
    EXECUTE format('SELECT position + 1, hash FROM %I.%I ORDER BY position DESC LIMIT 1', TG_TABLE_SCHEMA, TG_TABLE_NAME)
        INTO NEW.position, NEW.previous;
    NEW.position := coalesce(NEW.position, 1);
    NEW.previous := coalesce(NEW.previous, decode(repeat('00', 32), 'hex'));
    NEW.at := clock_timestamp();
    EXECUTE format('SELECT %1$I.audit_hash(ROW(($1).*)::%1$I.staff_audit)', TG_TABLE_SCHEMA) INTO NEW.hash USING NEW;
    RETURN NEW;
END $$;
-- +goose StatementEnd
