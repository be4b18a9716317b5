-- Adds new notices at the head of the outbox: they get the events from now on. Locks the rows that it writes.
-- name: NoticesRegister :exec
WITH n AS (
    SELECT n.name, h.last, now() AS at FROM (SELECT unnest(@names::text[]) AS name) n, outbox_head h
)
INSERT INTO notices (name, position, created_at)
SELECT n.name, n.last, n.at FROM n ORDER BY n.name
ON CONFLICT (name) DO NOTHING
RETURNING 1;

-- Takes the lease of a notice that no process has. Returns no row if a process has it.
-- name: NoticeTake :one
UPDATE notices SET fence = fence + 1, lease_until = now() + make_interval(secs => @seconds::float8)
WHERE name = @name AND (lease_until IS NULL OR lease_until < now())
RETURNING fence;

-- Renews a lease for some seconds, or gives it back with 0. Returns no row if another process has it.
-- name: NoticeRenew :execrows
UPDATE notices SET lease_until = now() + make_interval(secs => @seconds::float8) WHERE name = @name AND fence = @fence;

-- Reads a notice under its lease, the head of the outbox, and the seconds since its last mail. Returns no row if another process
-- has the lease. Locks nothing.
-- name: NoticeRead :one
SELECT n.position, h.last AS head, coalesce(extract(epoch FROM now() - n.last_success_at), 1e9)::float8 AS since FROM notices n, outbox_head h
WHERE n.name = @name AND n.fence = @fence;

-- Reads the open refund requests since a notice began that the notice has not sent, oldest first. Locks nothing.
-- name: NoticeRequests :many
SELECT r.* FROM refund_requests r, notices n
WHERE n.name = @name AND r.status = 'open' AND r.created_at >= n.created_at
    AND NOT EXISTS (SELECT 1 FROM noticed_requests d WHERE d.notice = n.name AND d.refund_request_id = r.refund_request_id)
ORDER BY r.refund_request_id LIMIT sqlc.arg(most)::int;

-- Moves a notice under its lease, never back, and records a success or a failure. Returns no row if another process has the
-- lease.
-- name: NoticeAdvance :execrows
UPDATE notices m SET position = GREATEST(m.position, @position),
    last_success_at = CASE WHEN @sent::bool THEN n.at ELSE m.last_success_at END,
    last_failure_at = CASE WHEN @last_failure::text <> '' THEN n.at ELSE m.last_failure_at END,
    last_failure = CASE WHEN @sent::bool OR @last_failure::text <> '' THEN @last_failure::text ELSE m.last_failure END
FROM (SELECT now()::timestamptz AS at) n
WHERE m.name = @name AND m.fence = @fence;

-- Records the refund requests that a notice has sent.
-- name: NoticedInsert :exec
INSERT INTO noticed_requests (notice, refund_request_id) SELECT @notice, unnest(@ids::uuid[]) ORDER BY 2 ON CONFLICT DO NOTHING
RETURNING 1;

-- Reads the endpoints that have dead letters or are gone, if the notice has not sent so since the oldest dead letter. Locks
-- nothing.
-- name: NoticeEndpoints :many
SELECT e.name, f.since::timestamptz AS since,
    (SELECT count(*) FROM endpoint_retries r WHERE r.endpoint = e.name AND r.state = 'dead') AS dead
FROM endpoints e
CROSS JOIN LATERAL (
    SELECT COALESCE(
        (SELECT r.dead_at FROM endpoint_retries r WHERE r.endpoint = e.name AND r.state = 'dead' ORDER BY r.dead_at LIMIT 1),
        CASE WHEN e.state = 'gone' THEN e.last_failure_at END
    ) AS since
) f
WHERE e.name = ANY (@endpoints::text[]) AND f.since IS NOT NULL
    AND NOT EXISTS (SELECT FROM noticed_endpoints d WHERE d.notice = @name AND d.endpoint = e.name AND d.at >= f.since)
ORDER BY e.name;

-- Records the failing endpoints that a notice has sent.
-- name: NoticedEndpointsInsert :exec
INSERT INTO noticed_endpoints (notice, endpoint, at) SELECT @notice, unnest(@endpoints::text[]), now() ORDER BY 2
ON CONFLICT (notice, endpoint) DO UPDATE SET at = EXCLUDED.at
RETURNING 1;

-- Ends the leases of all notices after a restore: what they read before is lost. A position that was written ahead of the head goes back to
-- another one. Locks the rows.
-- name: NoticesTakeBack :exec
UPDATE notices SET fence = fence + 1, lease_until = NULL,
    position = CASE WHEN position > (SELECT h.last FROM outbox_head h) THEN @shared ELSE position END;
