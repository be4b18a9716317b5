-- +goose NO TRANSACTION
-- +goose Up
-- An index is built without a transaction, so that the service goes on. So each statement of this file may be run again.
ALTER TABLE payment_attempts ADD COLUMN IF NOT EXISTS payments json;

COMMENT ON COLUMN payment_attempts.payments IS
    'The attempt''s payments at the provider, each with its id, state, amounts, container and first source, and the containers '
    'in which payments are made. p: payments, c: containers; st: state, in: container, by: first source, au, ca, re, di: '
    'authorized, captured, refunded, disputed; fa: failure; t: first reported, r: reported by the provider, in microseconds '
    'since 1970; l: last change, in microseconds after t. NULL before the provider has named a payment.';

ALTER TABLE operations ADD COLUMN IF NOT EXISTS payment text NOT NULL DEFAULT '';

COMMENT ON COLUMN operations.payment IS 'The one payment to cancel; empty for all payments of the attempt.';

-- An index whose building was interrupted exists, but is of no use.
DROP INDEX CONCURRENTLY IF EXISTS operations_one_open_payment;
CREATE UNIQUE INDEX CONCURRENTLY operations_one_open_payment ON operations (attempt_id, slot, payment) WHERE open;
DROP INDEX CONCURRENTLY IF EXISTS operations_one_open;
