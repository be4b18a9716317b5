-- +goose Up
CREATE TABLE sealed_details (
    order_id   text NOT NULL CONSTRAINT details_have_an_order REFERENCES orders,
    attempt_id uuid NOT NULL,
    sealed     bytea NOT NULL,
    created_at timestamptz NOT NULL,
    check_at   timestamptz NOT NULL,
    CONSTRAINT details_once PRIMARY KEY (order_id, attempt_id)
);

COMMENT ON TABLE sealed_details IS
    'Encrypted: the lines and the customer of an order, until it can''t be paid any more, and what the fiscal receipts of an attempt show, until nothing of '
    'it can be captured or refunded.';
COMMENT ON COLUMN sealed_details.attempt_id IS 'Of a receipt; zero of what is the order''s.';
COMMENT ON COLUMN sealed_details.check_at IS 'When it is looked whether they are needed any more: ever more rarely, the older they are.';

CREATE INDEX details_due ON sealed_details (check_at);
