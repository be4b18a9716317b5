-- +goose Up
ALTER TABLE discrepancies
    ADD COLUMN proposed_resolution text NOT NULL DEFAULT '',
    ADD COLUMN caused_by text NOT NULL DEFAULT '';

COMMENT ON COLUMN discrepancies.proposed_by IS
    'Has resolved it so where one person is not enough: the provider can''t be asked, or the payment bears no mark of ours or is of another amount. A second person must agree.';
COMMENT ON COLUMN discrepancies.proposed_resolution IS 'As what it was to be resolved. Empty beside proposed_by: paid, the only one before this column.';
COMMENT ON COLUMN discrepancies.caused_by IS 'The subject whose resolution of another discrepancy opened it, who can''t close it; empty for none.';

ALTER TABLE discrepancies
    ADD CONSTRAINT discrepancies_proposed_how
    CHECK (proposed_resolution IN ('', 'paid', 'not_paid', 'refunded_elsewhere', 'accepted') AND (proposed_by <> '' OR proposed_resolution = '')) NOT VALID;
ALTER TABLE discrepancies VALIDATE CONSTRAINT discrepancies_proposed_how;

ALTER TABLE refunds ADD COLUMN provider_payment_id text NOT NULL DEFAULT '';

COMMENT ON COLUMN refunds.provider_payment_id IS 'The provider''s id of the payment that is refunded, as the caller named it; empty where no caller did.';
