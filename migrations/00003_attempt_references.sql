-- +goose Up
CREATE TABLE attempt_references (
    account    text NOT NULL,
    reference  text NOT NULL,
    order_id   text NOT NULL,
    attempt_id uuid NOT NULL,
    CONSTRAINT references_one_attempt PRIMARY KEY (account, reference),
    FOREIGN KEY (order_id, attempt_id) REFERENCES payment_attempts
);

COMMENT ON TABLE attempt_references IS
    'Every id by which a provider may name an attempt: ours first, then its payment, session, charge.';

CREATE INDEX references_by_attempt ON attempt_references (attempt_id);
