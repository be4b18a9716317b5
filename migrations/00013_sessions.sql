-- +goose Up
CREATE TABLE sessions (
    token  text PRIMARY KEY,
    data   bytea NOT NULL,
    expiry timestamptz NOT NULL
);

COMMENT ON TABLE sessions IS
    'The sessions of the support console. The cookie''s value is not in it, so a reader of it gets no session.';
COMMENT ON COLUMN sessions.token IS 'The SHA-256 of the cookie''s value.';
COMMENT ON COLUMN sessions.expiry IS 'The end by idleness or, if sooner, the absolute end.';

CREATE INDEX sessions_by_expiry ON sessions (expiry);
