-- +goose Up
CREATE TABLE provider_events (
    event_id            uuid NOT NULL,
    account             text NOT NULL,
    provider_event_id   text NOT NULL,
    id_derived          boolean NOT NULL,
    event_type          text NOT NULL,
    kind                text NOT NULL,
    digest              bytea NOT NULL,
    news                jsonb NOT NULL,
    refs                text[] NOT NULL,
    order_id            text,
    attempt_id          uuid,
    verdict             text NOT NULL CONSTRAINT events_verdict_known
        CHECK (verdict IN ('applied', 'repeat', 'stale', 'conflict', 'unmatched', 'deferred', 'ignored')),
    tries               integer NOT NULL DEFAULT 0,
    next_try_at         timestamptz,
    secret_index        integer NOT NULL DEFAULT -1,
    headers             jsonb NOT NULL,
    body                bytea,
    occurred_at         timestamptz,
    received_at         timestamptz NOT NULL,
    CONSTRAINT events_one_per_id PRIMARY KEY (account, provider_event_id),
    CONSTRAINT events_parked_are_tried CHECK (next_try_at IS NULL OR verdict IN ('unmatched', 'deferred'))
);

COMMENT ON TABLE provider_events IS
    'The inbox: what providers said, as they said it. The bytes go after the retention time, the id and the digest stay.';
COMMENT ON COLUMN provider_events.news IS
    'What the verified event says in our terms, so that a parked one can be applied without its secret.';
COMMENT ON COLUMN provider_events.next_try_at IS
    'When a parked event is tried again; NULL for one that is settled, or left to a person.';

CREATE INDEX events_by_id ON provider_events (event_id);
CREATE INDEX events_by_attempt ON provider_events (attempt_id) WHERE attempt_id IS NOT NULL;
CREATE INDEX events_due ON provider_events (next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX events_parked_by_reference ON provider_events USING gin (refs) WHERE next_try_at IS NOT NULL;
