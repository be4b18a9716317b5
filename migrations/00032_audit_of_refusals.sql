-- +goose Up
ALTER TABLE staff_audit
    DROP CONSTRAINT audit_names_somebody,
    ADD CONSTRAINT audit_names_somebody CHECK (actor <> '' OR outcome = 'refused');

COMMENT ON COLUMN staff_audit.actor IS 'Empty where nobody was proven: of a refused token or sign-in.';
