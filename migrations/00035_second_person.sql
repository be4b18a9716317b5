-- +goose Up
ALTER TABLE discrepancies
    ADD COLUMN proposed_resolution text NOT NULL DEFAULT '',
    ADD COLUMN caused_by text NOT NULL DEFAULT '';

COMMENT ON COLUMN discrepancies.proposed_by IS
    'The first of two persons who must agree: the provider can''t be asked, or the payment has no mark of ours or another '
    'amount.';
COMMENT ON COLUMN discrepancies.proposed_resolution IS 'The proposed resolution. Empty beside proposed_by stands for paid.';
COMMENT ON COLUMN discrepancies.caused_by IS
    'The person whose resolution of another discrepancy opened this one, and who can''t close it; empty for none.';

ALTER TABLE discrepancies
    ADD CONSTRAINT discrepancies_proposed_how
    CHECK (proposed_resolution IN ('', 'paid', 'not_paid', 'refunded_elsewhere', 'accepted') AND (proposed_by <> '' OR proposed_resolution = '')) NOT VALID;
ALTER TABLE discrepancies VALIDATE CONSTRAINT discrepancies_proposed_how;

ALTER TABLE refunds ADD COLUMN provider_payment_id text NOT NULL DEFAULT '';

COMMENT ON COLUMN refunds.provider_payment_id IS 'The payment to refund, as the caller named it; empty if the caller named none.';
