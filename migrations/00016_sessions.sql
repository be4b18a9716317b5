-- +goose Up
CREATE TABLE sessions (
    token  text PRIMARY KEY,
    data   bytea NOT NULL,
    expiry timestamptz NOT NULL
);

COMMENT ON TABLE sessions IS
    'Who is signed in to the support console. Nobody can become somebody else by reading it: the cookie is not in it.';
COMMENT ON COLUMN sessions.token IS 'The SHA-256 of the cookie''s value.';
COMMENT ON COLUMN sessions.expiry IS 'The end by idleness or, if that is sooner, the absolute one.';

CREATE INDEX sessions_by_expiry ON sessions (expiry);
