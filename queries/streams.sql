-- Adds new streams at the head of the outbox: they get the events from now on. Locks the rows that it writes.
-- name: StreamsRegister :exec
INSERT INTO streams (name, position)
SELECT n.name, h.last FROM (SELECT unnest(@names::text[]) AS name) n, outbox_head h
ORDER BY n.name
ON CONFLICT (name) DO NOTHING
RETURNING 1;

-- Takes the lease of a stream that no process has. Returns no row if a process has it.
-- name: StreamTake :one
UPDATE streams SET fence = fence + 1, lease_until = now() + make_interval(secs => @seconds::float8)
WHERE name = @name AND (lease_until IS NULL OR lease_until < now())
RETURNING fence;

-- Renews a lease for some seconds, or gives it back with 0. Returns no row if another process has it.
-- name: StreamRenew :execrows
UPDATE streams SET lease_until = now() + make_interval(secs => @seconds::float8) WHERE name = @name AND fence = @fence;

-- Reads a stream under its lease, and the head of the outbox. Returns no row if another process has the lease. Locks nothing.
-- name: StreamRead :one
SELECT s.position, h.last AS head FROM streams s, outbox_head h WHERE s.name = @name AND s.fence = @fence;

-- Moves a stream under its lease, never back, and records a success or a failure. Returns no row if another process has the
-- lease.
-- name: StreamAdvance :execrows
UPDATE streams SET position = GREATEST(position, @position),
    last_success_at = COALESCE(sqlc.narg(last_success_at), last_success_at),
    last_failure_at = COALESCE(sqlc.narg(last_failure_at), last_failure_at),
    last_failure = CASE WHEN sqlc.narg(last_failure_at)::timestamptz IS NULL AND sqlc.narg(last_success_at)::timestamptz IS NULL
        THEN last_failure ELSE @last_failure::text END
WHERE name = @name AND fence = @fence;

-- Reads the progress of the streams. oldest is the time of the first batch with an unpublished event, or the epoch. Locks
-- nothing.
-- name: StreamsStatus :many
SELECT s.name, (h.last - s.position)::bigint AS behind, s.last_success_at, s.last_failure_at, s.last_failure,
    COALESCE((SELECT b.created_at FROM outbox_batches b WHERE b.last > s.position ORDER BY b.last LIMIT 1), 'epoch')::timestamptz AS oldest
FROM streams s, outbox_head h
WHERE s.name = ANY (@names::text[]) ORDER BY s.name;

-- Ends the leases of all streams after a restore: what they read before is lost. A position that was written ahead of the head goes back to
-- another one. Locks the rows.
-- name: StreamsTakeBack :exec
UPDATE streams SET fence = fence + 1, lease_until = NULL,
    position = CASE WHEN position > (SELECT h.last FROM outbox_head h) THEN @shared ELSE position END;
