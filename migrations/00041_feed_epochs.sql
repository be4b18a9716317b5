-- +goose Up
CREATE TABLE feed_epochs (
    epoch    bigint CONSTRAINT feed_epochs_pkey PRIMARY KEY,
    shared   bigint NOT NULL CONSTRAINT feed_epochs_shared CHECK (shared >= 0),
    begun_at timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE feed_epochs IS
    'The epochs of the feed after the first one, which has the number 0 and no row. Each began when this database was found to have forgotten commits: it '
    'gives positions out again, with other events.';
COMMENT ON COLUMN feed_epochs.epoch IS
    'The seconds from the beginning of 2026 to the epoch''s. A count would come again after a restore that forgets an epoch.';
COMMENT ON COLUMN feed_epochs.shared IS 'The last position whose event is surely the same as in the epochs before.';

-- The id of an event that is written in an epoch: the forgotten commits may have had another event of the same type, subject and version.
-- +goose StatementBegin
CREATE FUNCTION outbox_id(id uuid, epoch bigint) RETURNS uuid LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN epoch = 0 THEN id
        ELSE encode(set_byte(set_byte(h, 6, (get_byte(h, 6) & 15) | 128), 8, (get_byte(h, 8) & 63) | 128), 'hex')::uuid END
    FROM (SELECT substring(sha256(uuid_send(id) || int8send(epoch)) FROM 1 FOR 16) AS h) hashed
$$;
-- +goose StatementEnd
