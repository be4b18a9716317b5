-- +goose Up
CREATE TABLE provider_events (
    event_id          uuid NOT NULL,
    account           text NOT NULL,
    provider_event_id text COLLATE "C" NOT NULL,
    id_derived        boolean NOT NULL,
    event_type        text NOT NULL,
    kind              text NOT NULL,
    digest            bytea NOT NULL,
    news              json NOT NULL,
    refs              text[] NOT NULL,
    order_id          text,
    attempt_id        uuid,
    verdict           text NOT NULL CONSTRAINT events_verdict_known
        CHECK (verdict IN ('applied', 'repeat', 'stale', 'conflict', 'unmatched', 'deferred', 'foreign', 'ignored', 'unreadable')),
    tries             integer NOT NULL DEFAULT 0,
    next_try_at       timestamptz,
    secret_index      integer NOT NULL DEFAULT -1,
    headers           json NOT NULL,
    body              bytea,
    occurred_at       timestamptz,
    received_at       timestamptz NOT NULL,
    read_by           text NOT NULL DEFAULT '',
    CONSTRAINT events_one_per_id PRIMARY KEY (provider_event_id, account),
    CONSTRAINT events_parked_are_tried CHECK (next_try_at IS NULL OR verdict IN ('unmatched', 'deferred'))
);

COMMENT ON TABLE provider_events IS 'The inbox of webhooks. The bytes go after the retention time; the id and the digest stay.';
COMMENT ON COLUMN provider_events.provider_event_id IS
    'Compared byte by byte: the primary key serves exact lookups and the search for a prefix.';
COMMENT ON COLUMN provider_events.news IS
    'The meaning of the verified event in our terms, so that a parked event can be applied without its secret.';
COMMENT ON COLUMN provider_events.next_try_at IS
    'When a parked event is tried again; NULL for an event that is settled or left to a person.';

COMMENT ON COLUMN provider_events.read_by IS
    'The version of the program that last failed to read an unreadable event; empty for none.';

CREATE INDEX events_unreadable ON provider_events (received_at) WHERE verdict = 'unreadable';
CREATE INDEX events_by_id ON provider_events (event_id);
CREATE INDEX events_by_attempt ON provider_events (attempt_id) WHERE attempt_id IS NOT NULL;
CREATE INDEX events_due ON provider_events (next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX events_foreign ON provider_events (received_at, account) WHERE verdict = 'foreign';
-- Without a list of pending entries: each commit in which an attempt gains a name searches this index, and would read the whole
-- list, up to 4 MB, if many events wait.
CREATE INDEX events_unsettled_by_reference ON provider_events USING gin (refs) WITH (fastupdate = off)
    WHERE verdict IN ('unmatched', 'deferred', 'foreign');
CREATE INDEX events_with_bytes ON provider_events (received_at) WHERE body IS NOT NULL;

CREATE TABLE webhook_deliveries (
    account     text NOT NULL,
    delivery_id text NOT NULL,
    body_digest bytea NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT deliveries_one_body_per_id PRIMARY KEY (account, delivery_id)
);

COMMENT ON TABLE webhook_deliveries IS
    'The SHA-256 of the body of each delivery, for providers whose signature covers only a checksum. A row is needed for as '
    'long as the account''s limit on age accepts the delivery.';

CREATE TABLE account_webhooks (
    account         text PRIMARY KEY,
    last_webhook_at timestamptz NOT NULL
);

COMMENT ON TABLE account_webhooks IS
    'The time of each account''s last webhook, written a few times a minute by a worker, so that the intake does not have to.';
