-- +goose Up
CREATE TABLE accounts_heard (
    account  text PRIMARY KEY,
    heard_at timestamptz NOT NULL
);

COMMENT ON TABLE accounts_heard IS
    'When each account last sent a webhook, noted a few times a minute by whoever took one: no work for the intake itself.';
