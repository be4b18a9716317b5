-- +goose Up
-- An update that changes no indexed column stays in its page and leaves the indexes alone (PostgreSQL: heap-only tuples). Two of this table's
-- indexes were about columns that each piece of news changes: `live` stays as it is when an attempt succeeds, and the schedule has a table of
-- its own. This rewrites the table.
ALTER TABLE payment_attempts
    ADD COLUMN live boolean NOT NULL GENERATED ALWAYS AS (status <> 'failed') STORED,
    SET (fillfactor = 60);
DROP INDEX attempts_one_live_per_order;
CREATE UNIQUE INDEX attempts_one_live_per_order ON payment_attempts (order_id) WHERE live;

CREATE TABLE attempt_checks (
    due_at     timestamptz NOT NULL,
    attempt_id uuid NOT NULL
);
COMMENT ON TABLE attempt_checks IS
    'When to look at an attempt: for each that has a next_check_at there is an entry that is due then or before. Whoever finds one that is '
    'early moves it on, and takes away what nobody waits for.';
INSERT INTO attempt_checks SELECT next_check_at, attempt_id FROM payment_attempts WHERE next_check_at IS NOT NULL;
CREATE INDEX checks_due ON attempt_checks (due_at);
CREATE INDEX checks_by_attempt ON attempt_checks (attempt_id);
DROP INDEX attempts_due;

-- +goose StatementBegin
CREATE FUNCTION attempts_are_looked_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO attempt_checks VALUES (NEW.next_check_at, NEW.attempt_id);
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- A check that is put off needs no entry: the one that is there is found to be early.
CREATE TRIGGER attempts_are_looked_at AFTER INSERT ON payment_attempts
    FOR EACH ROW WHEN (NEW.next_check_at IS NOT NULL) EXECUTE FUNCTION attempts_are_looked_at();
CREATE TRIGGER attempts_are_looked_at_sooner AFTER UPDATE OF next_check_at ON payment_attempts
    FOR EACH ROW WHEN (NEW.next_check_at IS NOT NULL AND (OLD.next_check_at IS NULL OR NEW.next_check_at < OLD.next_check_at))
    EXECUTE FUNCTION attempts_are_looked_at();
