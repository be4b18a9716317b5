-- +goose Up
-- What is due is looked for account by account: thousands of checks of one slow provider must not stand before those of all others.
ALTER TABLE attempt_checks ADD COLUMN account text;
DELETE FROM attempt_checks c WHERE NOT EXISTS (SELECT FROM payment_attempts a WHERE a.attempt_id = c.attempt_id);
UPDATE attempt_checks c SET account = a.account FROM payment_attempts a WHERE a.attempt_id = c.attempt_id;
ALTER TABLE attempt_checks ALTER COLUMN account SET NOT NULL;
DROP INDEX checks_due;
CREATE INDEX checks_due ON attempt_checks (account, due_at);
DROP INDEX refunds_due;
CREATE INDEX refunds_due ON refunds (account, next_check_at) WHERE next_check_at IS NOT NULL;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION attempts_are_looked_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO attempt_checks (due_at, attempt_id, account) VALUES (NEW.next_check_at, NEW.attempt_id, NEW.account);
    RETURN NULL;
END $$;
-- +goose StatementEnd
