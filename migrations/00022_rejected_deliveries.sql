-- +goose Up
-- In no write-ahead log, base backup or replica, so that a flood of forged deliveries costs only the pages that it fills, and a
-- delivery is gone from everywhere after its day. A crash of the server empties the table; the list of events at the provider
-- still has the genuine ones.
CREATE UNLOGGED TABLE rejected_deliveries (
    delivery_id uuid NOT NULL,
    account     text NOT NULL,
    sealed      bytea NOT NULL,
    tried       bytea[] NOT NULL,
    network     smallint NOT NULL,
    received_at timestamptz NOT NULL,
    CONSTRAINT rejected_deliveries_pkey PRIMARY KEY (delivery_id)
);

COMMENT ON TABLE rejected_deliveries IS
    'Encrypted: deliveries with a wrong signature, kept for a day, the newest of each account. They are verified again once '
    'the account''s configuration has changed.';
COMMENT ON COLUMN rejected_deliveries.tried IS
    'Fingerprints of the configurations that refused the delivery. They are HMACs, so they reveal nothing about a secret.';

COMMENT ON COLUMN rejected_deliveries.network IS
    'One of 4,096 buckets of networks, so that a flood from one network leaves room for the others.';

CREATE INDEX rejected_by_account ON rejected_deliveries (account, delivery_id);
CREATE INDEX rejected_by_time ON rejected_deliveries (received_at);
