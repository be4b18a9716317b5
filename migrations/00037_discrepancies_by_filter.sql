-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE discrepancies ADD COLUMN IF NOT EXISTS of_account text;

COMMENT ON COLUMN discrepancies.of_account IS 'The account of the payment, if account is empty, for the filter of the worklist.';

UPDATE discrepancies d SET of_account = a.account FROM payment_attempts a
WHERE d.account = '' AND d.of_account IS NULL AND a.order_id = d.order_id AND a.attempt_id = d.attempt_id;

DROP INDEX CONCURRENTLY IF EXISTS discrepancies_by_account;
CREATE INDEX CONCURRENTLY discrepancies_by_account ON discrepancies (coalesce(NULLIF(account, ''), of_account), opened_at, discrepancy_id);
DROP INDEX CONCURRENTLY IF EXISTS discrepancies_by_kind;
CREATE INDEX CONCURRENTLY discrepancies_by_kind ON discrepancies (kind, opened_at, discrepancy_id);
DROP INDEX CONCURRENTLY IF EXISTS discrepancies_by_assignee;
CREATE INDEX CONCURRENTLY discrepancies_by_assignee ON discrepancies (assignee, opened_at, discrepancy_id) WHERE assignee <> '';
