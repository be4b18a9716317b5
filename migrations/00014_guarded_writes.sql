-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION must_touch(guard text, touched bigint, expected bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF touched IS DISTINCT FROM expected THEN
        RAISE EXCEPTION '% rows instead of %', touched, expected
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = guard;
    END IF;
END $$;
-- +goose StatementEnd

COMMENT ON FUNCTION must_touch IS
    'Undoes the transaction of a write that touched other rows than expected, so that the commit may travel with the write.';
