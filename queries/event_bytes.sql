-- Reads all data keys, the oldest first. Locks nothing.
-- name: DataKeys :many
SELECT key_id, month, wrapped FROM data_keys ORDER BY created_at, key_id;

-- Reads the database's clock. Locks nothing.
-- name: Clock :one
SELECT clock_timestamp()::timestamptz AS now;

-- Adds a data key. Returns no row if the key exists.
-- name: DataKeyAdd :exec
INSERT INTO data_keys (key_id, month, wrapped) VALUES (@key_id, @month, @wrapped) ON CONFLICT (key_id) DO NOTHING;

-- Writes a data key as it is encrypted now. Writes one row.
-- name: DataKeyWrap :exec
UPDATE data_keys SET wrapped = @wrapped WHERE key_id = @key_id;

-- Stores the bytes of webhooks, one row for each event.
-- name: EventBytesInsert :exec
INSERT INTO event_bytes (event_id, sealed_at, sealed)
SELECT n.event_id, @sealed_at, n.sealed FROM (SELECT unnest(@event_ids::uuid[]) AS event_id, unnest(@sealeds::bytea[]) AS sealed) n
RETURNING 1;

-- Reads the bytes of webhooks. Locks nothing.
-- name: EventBytes :many
SELECT sealed FROM event_bytes WHERE event_id = @event_id ORDER BY sealed_at DESC LIMIT 1;

-- Makes the partitions of this month and the next. Runs in one session at a time.
-- name: EventBytesMake :one
SELECT make_event_bytes()::int AS made;

-- Lists the months that are due to be dropped, the oldest first. Locks nothing.
-- name: EventBytesOld :many
SELECT old_event_bytes(make_interval(secs => @keep::float8))::date AS month;

-- Deletes from a month, and returns, the bytes of a limited number of events that wait or that no version could read yet. Locks
-- the events, and skips events that another transaction has locked.
-- name: EventBytesNeeded :many
DELETE FROM event_bytes b
WHERE b.sealed_at >= @begins::timestamptz AND b.sealed_at < @ends::timestamptz AND b.event_id = ANY (ARRAY(
    SELECT e.event_id FROM provider_events e
    WHERE e.next_try_at IS NOT NULL
        AND EXISTS (SELECT FROM event_bytes o WHERE o.event_id = e.event_id AND o.sealed_at >= @begins::timestamptz AND o.sealed_at < @ends::timestamptz)
    LIMIT sqlc.arg(most)::int FOR SHARE OF e SKIP LOCKED
) || ARRAY(
    SELECT e.event_id FROM provider_events e
    WHERE e.verdict = 'unreadable'
        AND EXISTS (SELECT FROM event_bytes o WHERE o.event_id = e.event_id AND o.sealed_at >= @begins::timestamptz AND o.sealed_at < @ends::timestamptz)
    LIMIT sqlc.arg(most)::int FOR SHARE OF e SKIP LOCKED
))
RETURNING b.event_id, b.sealed;

-- Gives the statements of a transaction more time than statements of a request have.
-- name: MoreTime :exec
SELECT set_config('statement_timeout', '60s', true);

-- Drops a month with its keys, if its bytes are not needed any more. Runs in one session at a time.
-- name: EventBytesDrop :one
SELECT drop_event_bytes(@month::date, make_interval(secs => @keep::float8))::boolean AS gone;

-- Deletes the bytes of events, and the payment method in their meaning. Writes the locked events.
-- name: EventsErase :exec
WITH gone AS (DELETE FROM event_bytes WHERE event_id = ANY (@event_ids::uuid[]) RETURNING 1)
UPDATE provider_events SET news = (news::jsonb - 'method')::json
WHERE event_id = ANY (@event_ids::uuid[]) AND kind IN ('method_updated', 'method_removed');
