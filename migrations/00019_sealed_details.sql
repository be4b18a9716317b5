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
    'Encrypted: the lines and the customer of an order, until it can''t be paid any more, and the content of an attempt''s '
    'fiscal receipts, until nothing can be captured or refunded any more.';
COMMENT ON COLUMN sealed_details.attempt_id IS 'The attempt of a receipt; zero for the details of the order.';
COMMENT ON COLUMN sealed_details.check_at IS
    'When paylatch checks whether the details are still needed; less often, the older they are.';

CREATE INDEX details_due ON sealed_details (check_at);
