-- +goose Up
ALTER TABLE discrepancies
    ADD COLUMN about text NOT NULL DEFAULT '',
    ADD COLUMN provider_payment_id text NOT NULL DEFAULT '',
    DROP CONSTRAINT discrepancies_once,
    ADD CONSTRAINT discrepancies_once UNIQUE NULLS NOT DISTINCT (kind, attempt_id, account, provider_event_id, about),
    ADD CONSTRAINT discrepancies_resolved_how CHECK ((resolved_at IS NULL) = (resolution = '')) NOT VALID,
    ADD CONSTRAINT discrepancies_resolution_known
        CHECK (resolution IN ('', 'paid', 'not_paid', 'refunded_elsewhere', 'accepted')) NOT VALID;

CREATE UNIQUE INDEX discrepancies_one_open_dispute ON discrepancies (attempt_id)
    WHERE kind = 'disputed' AND resolved_at IS NULL;

COMMENT ON TABLE discrepancies IS
    'What a person must look at: opened once for its cause, never closed by itself; another cause opens another one.';
COMMENT ON COLUMN discrepancies.about IS
    'What tells two causes of one kind apart: another amount, another dispute, another refund.';
COMMENT ON COLUMN discrepancies.provider_payment_id IS 'The payment that a person found at the provider, where the resolution is paid.';
