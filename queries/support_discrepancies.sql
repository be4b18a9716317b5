-- Lists discrepancies, newest first, from a point on; an empty status or kind is
-- any. Locks nothing.
-- name: DiscrepanciesList :many
SELECT sqlc.embed(d), e.event_id, now()::timestamptz AS read_at
FROM discrepancies d
LEFT JOIN provider_events e ON e.account = d.account AND e.provider_event_id = d.provider_event_id
WHERE (d.opened_at, d.discrepancy_id) < (@before_at::timestamptz, @before_id::uuid)
    AND (@status::text = '' OR (@status::text = 'open') = (d.resolved_at IS NULL))
    AND (@kind::text = '' OR d.kind = @kind::text)
ORDER BY d.opened_at DESC, d.discrepancy_id DESC LIMIT @most::int;

-- Reads one discrepancy; locks nothing.
-- name: DiscrepancyShow :one
SELECT sqlc.embed(d), e.event_id, now()::timestamptz AS read_at
FROM discrepancies d
LEFT JOIN provider_events e ON e.account = d.account AND e.provider_event_id = d.provider_event_id
WHERE d.discrepancy_id = @discrepancy_id;

-- Reads the discrepancies of one attempt, oldest first; locks nothing.
-- name: DiscrepanciesOfAttempt :many
SELECT sqlc.embed(d), e.event_id, now()::timestamptz AS read_at
FROM discrepancies d
LEFT JOIN provider_events e ON e.account = d.account AND e.provider_event_id = d.provider_event_id
WHERE d.attempt_id = @attempt_id::uuid ORDER BY d.opened_at, d.discrepancy_id;

-- Counts the open discrepancies of each kind and finds the oldest; reads only those
-- that are open, and locks nothing.
-- name: DiscrepanciesWaiting :many
SELECT kind, count(*) AS waiting, extract(epoch FROM now() - min(opened_at))::float8 AS oldest_seconds
FROM discrepancies WHERE resolved_at IS NULL GROUP BY kind;
