-- +goose Up
CREATE TABLE webhook_deliveries (
    account     text NOT NULL,
    delivery_id text NOT NULL,
    body_digest bytea NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT deliveries_one_body_per_id PRIMARY KEY (account, delivery_id)
);
COMMENT ON TABLE webhook_deliveries IS
    'The SHA-256 of the body that each delivery brought, of providers whose signature covers only a checksum of it. '
    'A row is of use for as long as the account''s tolerance of age takes the delivery.';
