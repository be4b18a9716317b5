-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION must_touch(guard text, touched bigint, expected bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF touched IS DISTINCT FROM expected THEN
        RAISE EXCEPTION '% rows instead of %', touched, expected
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = guard;
    END IF;
END $$;
-- +goose StatementEnd

COMMENT ON FUNCTION must_touch IS
    'Undoes the transaction of a write that touched other rows than it should, so that the commit may travel with the write.';

-- The function is only entered to refuse: what a row may not do is told by a
-- condition that costs next to nothing.
DROP TRIGGER payment_attempts_guard ON payment_attempts;
CREATE TRIGGER payment_attempts_guard BEFORE UPDATE ON payment_attempts
    FOR EACH ROW WHEN (
        OLD.status <> 'pending' AND NEW.status <> OLD.status
        OR NEW.version < OLD.version OR NEW.fence < OLD.fence
        OR (NEW.order_id, NEW.attempt_id, NEW.user_id, NEW.client_request_id, NEW.amount, NEW.currency, NEW.account)
            IS DISTINCT FROM (OLD.order_id, OLD.attempt_id, OLD.user_id, OLD.client_request_id, OLD.amount, OLD.currency, OLD.account)
    ) EXECUTE FUNCTION payment_attempts_guard();
