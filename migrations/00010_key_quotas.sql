-- +goose Up
CREATE TABLE key_quotas (
    user_id   text PRIMARY KEY,
    window_at timestamptz NOT NULL,
    used      integer NOT NULL CHECK (used > 0)
);

COMMENT ON TABLE key_quotas IS
    'How many new keys a user has used in the window that began at window_at. Losing a row costs nothing but a count.';
