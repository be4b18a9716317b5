-- +goose Up
ALTER TABLE payment_attempts
    ADD COLUMN foreign_amount   bigint NOT NULL DEFAULT 0,
    ADD COLUMN foreign_currency text NOT NULL DEFAULT '',
    ADD COLUMN foreign_returned bigint NOT NULL DEFAULT 0,
    ADD CONSTRAINT attempts_foreign_returned CHECK (foreign_returned BETWEEN 0 AND foreign_amount);

COMMENT ON COLUMN payment_attempts.foreign_amount IS
    'What the provider took in another currency than the payment''s, in minor units of foreign_currency: a mismatch for a person. As long as it '
    'is more than foreign_returned, the order takes no other payment.';
COMMENT ON COLUMN payment_attempts.foreign_returned IS
    'How much of foreign_amount was given back, or settled by a person.';
