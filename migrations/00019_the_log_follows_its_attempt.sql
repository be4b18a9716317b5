-- +goose Up
-- Each entry of the log comes after an INSERT of its attempt, or after an UPDATE that is refused if it missed it, in the same transaction.
-- The foreign key looked the attempt up and locked it once more for each entry, which was a tenth of what a webhook costs the database.
-- What it kept beyond that, that the attempts of a log are not deleted, triggers keep.
ALTER TABLE attempt_transitions DROP CONSTRAINT attempt_transitions_order_id_attempt_id_fkey;

-- +goose StatementBegin
CREATE FUNCTION attempts_with_a_log_stay() RETURNS trigger LANGUAGE plpgsql AS $$
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
