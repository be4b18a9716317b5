-- +goose Up
ALTER TABLE orders ADD COLUMN accepted_attempt_id uuid;

COMMENT ON COLUMN orders.accepted_attempt_id IS
    'The failed attempt whose late money a person has taken for the order''s payment: the order is paid by it.';
