-- +goose Up
ALTER TABLE discrepancies
    ADD COLUMN proposed_at timestamptz,
    ADD COLUMN proposed_by text NOT NULL DEFAULT '',
    ADD COLUMN proposed_payment_id text NOT NULL DEFAULT '',
    ADD COLUMN proposed_reason text NOT NULL DEFAULT '',
    ADD CONSTRAINT discrepancies_proposed_by_whom CHECK ((proposed_at IS NULL) = (proposed_by = '')) NOT VALID;

COMMENT ON COLUMN discrepancies.proposed_by IS
    'Who called it paid, by which payment or refund, where the provider can''t be asked: a second person must agree.';
