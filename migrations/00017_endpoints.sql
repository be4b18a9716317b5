-- +goose Up
CREATE TABLE endpoints (
    name            text CONSTRAINT endpoints_pkey PRIMARY KEY,
    url_digest      bytea NOT NULL,
    position        bigint NOT NULL CONSTRAINT endpoints_position_counts CHECK (position >= 0),
    state           text NOT NULL DEFAULT 'active' CONSTRAINT endpoints_state_known CHECK (state IN ('active', 'gone')),
    fence           bigint NOT NULL DEFAULT 0,
    lease_until     timestamptz,
    last_success_at timestamptz,
    last_failure_at timestamptz,
    last_failure    text NOT NULL DEFAULT ''
);

COMMENT ON COLUMN endpoints.url_digest IS
    'SHA-256 of the address, which may contain a secret. Another address ends the state gone.';
COMMENT ON COLUMN endpoints.position IS
    'Events up to here are delivered, are in endpoint_retries, or have types that the endpoint does not take.';
COMMENT ON COLUMN endpoints.state IS
    'gone: the endpoint answered 410, and gets nothing until its address changes or a person redelivers.';
COMMENT ON COLUMN endpoints.fence IS
    'Rises with each lease, and when the position is set back. A write with an older fence touches no row.';

CREATE TABLE endpoint_retries (
    endpoint        text NOT NULL CONSTRAINT retries_have_an_endpoint REFERENCES endpoints (name),
    position        bigint NOT NULL,
    order_id        text NOT NULL,
    message_id      uuid NOT NULL,
    subject         text NOT NULL,
    state           text NOT NULL CONSTRAINT retries_state_known CHECK (state IN ('queued', 'due', 'dead')),
    tries           integer NOT NULL CONSTRAINT retries_count CHECK (tries >= 0),
    next_at         timestamptz NOT NULL,
    first_failed_at timestamptz,
    last_status     integer NOT NULL,
    last_error      text NOT NULL,
    dead_at         timestamptz,
    CONSTRAINT retries_once PRIMARY KEY (endpoint, position),
    CONSTRAINT retries_dead_since CHECK ((state = 'dead') = (dead_at IS NOT NULL))
);

COMMENT ON COLUMN endpoint_retries.state IS
    'queued: an earlier event of the subject is undelivered. due: it is tried at next_at. dead: the last try of the schedule '
    'failed.';
COMMENT ON COLUMN endpoint_retries.last_status IS 'The HTTP status; 0 if there was no response.';

CREATE UNIQUE INDEX retries_one_due_each_subject ON endpoint_retries (endpoint, subject) WHERE state = 'due';
CREATE INDEX endpoint_retries_due ON endpoint_retries (endpoint, next_at) WHERE state = 'due';
CREATE INDEX endpoint_retries_open ON endpoint_retries (endpoint, subject, position) WHERE state <> 'dead';
CREATE INDEX endpoint_retries_by_position ON endpoint_retries (position);

CREATE TABLE endpoint_deliveries (
    delivery_id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT endpoint_deliveries_pkey PRIMARY KEY,
    endpoint    text NOT NULL,
    position    bigint NOT NULL,
    order_id    text NOT NULL,
    message_id  uuid NOT NULL,
    at          timestamptz NOT NULL,
    status      integer NOT NULL,
    took_ms     integer NOT NULL,
    error       text NOT NULL
);

COMMENT ON TABLE endpoint_deliveries IS
    'The log of attempts to deliver, kept as long as events. status is 0 without a response; error is empty for a success.';

CREATE INDEX endpoint_deliveries_newest ON endpoint_deliveries (endpoint, delivery_id);
CREATE INDEX endpoint_deliveries_by_message ON endpoint_deliveries (message_id);
