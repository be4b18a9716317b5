-- +goose NO TRANSACTION
-- +goose Up
-- An index beside running work is built without a transaction, so each statement of this file may be run again.
ALTER TABLE payment_attempts ADD COLUMN IF NOT EXISTS payments json;

COMMENT ON COLUMN payment_attempts.payments IS
    'The payments that the attempt has at the provider, each with its id, state, amounts, container and who named it; with the containers in which they are made. '
    'p: payments, c: containers; st: state, in: container, by: who named it, au, ca, re, di: authorized, captured, refunded, disputed; fa: failure; '
    't: first reported, r: reported by the provider, in microseconds since 1970; l: last change, in microseconds after t. '
    'NULL before the provider has named one.';

ALTER TABLE operations ADD COLUMN IF NOT EXISTS payment text NOT NULL DEFAULT '';

COMMENT ON COLUMN operations.payment IS 'The one payment that is to be cancelled; empty for all that the attempt has.';

-- An index whose building was broken off is there, and of no use.
DROP INDEX CONCURRENTLY IF EXISTS operations_one_open_payment;
CREATE UNIQUE INDEX CONCURRENTLY operations_one_open_payment ON operations (attempt_id, slot, payment) WHERE open;
DROP INDEX CONCURRENTLY IF EXISTS operations_one_open;
