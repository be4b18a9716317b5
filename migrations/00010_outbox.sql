-- +goose Up
CREATE TABLE outbox (
    message_id uuid NOT NULL,
    order_id   text NOT NULL,
    attempt_id uuid NOT NULL,
    type       text NOT NULL,
    version    integer NOT NULL,
    payload    json NOT NULL,
    created_at timestamptz NOT NULL,
    sent_at    timestamptz,
    CONSTRAINT outbox_once PRIMARY KEY (order_id, message_id)
);

COMMENT ON COLUMN outbox.message_id IS 'Derived from type, subject and version: a second emission of the same update has the same id.';

CREATE INDEX outbox_unsent ON outbox (created_at) WHERE sent_at IS NULL;
