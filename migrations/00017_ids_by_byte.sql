-- +goose Up
-- These ids are compared byte by byte, whatever the database's collation, so that one index serves both the exact lookups of the way in
-- and the prefixes that support searches for.
ALTER TABLE provider_events ALTER COLUMN provider_event_id TYPE text COLLATE "C";
ALTER TABLE provider_events DROP CONSTRAINT events_one_per_id, ADD CONSTRAINT events_one_per_id PRIMARY KEY (provider_event_id, account);
DROP INDEX events_by_text;

ALTER TABLE payment_attempts DROP CONSTRAINT attempts_one_per_request;
CREATE UNIQUE INDEX attempts_one_per_request ON payment_attempts (client_request_id COLLATE "C", order_id, user_id);
COMMENT ON INDEX attempts_one_per_request IS
    'For ever: a purged idempotency key can never cause a second charge.';
DROP INDEX attempts_by_request;
