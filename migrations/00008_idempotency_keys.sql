-- +goose Up
CREATE TABLE idempotency_keys (
    user_id      text NOT NULL,
    endpoint     text NOT NULL,
    key          text NOT NULL CONSTRAINT keys_length CHECK (length(key) BETWEEN 8 AND 200),
    request_hash bytea NOT NULL,
    answered     boolean NOT NULL DEFAULT false,
    status       integer NOT NULL DEFAULT 0,
    headers      jsonb NOT NULL DEFAULT '{}',
    body         bytea,
    subject      text NOT NULL DEFAULT '',
    fence        bigint NOT NULL DEFAULT 1,
    lease_until  timestamptz NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    CONSTRAINT keys_one_per_command PRIMARY KEY (user_id, endpoint, key),
    CONSTRAINT keys_answer_has_status CHECK (answered = (status <> 0)),
    CONSTRAINT keys_body_small CHECK (body IS NULL OR octet_length(body) <= 65536)
);

COMMENT ON COLUMN idempotency_keys.subject IS
    'The entity that the command made or moved. A response without a stored body is rendered from its present state.';
COMMENT ON COLUMN idempotency_keys.fence IS
    'Rises when another runner takes the key over; only its holder may store the response.';

CREATE INDEX keys_expired ON idempotency_keys (expires_at);

CREATE TABLE key_quotas (
    user_id   text PRIMARY KEY,
    window_at timestamptz NOT NULL,
    used      integer NOT NULL CONSTRAINT quotas_count CHECK (used > 0)
);

COMMENT ON TABLE key_quotas IS
    'How many new keys a user has used in the window that began at window_at. A lost row only loses a count.';
