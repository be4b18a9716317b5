-- Reads the discrepancies of one attempt, oldest first. Locks nothing.
-- name: DiscrepanciesOfAttempt :many
SELECT sqlc.embed(d), e.event_id
FROM discrepancies d
LEFT JOIN provider_events e ON e.account = d.account AND e.provider_event_id = d.provider_event_id
WHERE d.attempt_id = @attempt_id::uuid ORDER BY d.opened_at, d.discrepancy_id;

-- Counts the open discrepancies of each kind and finds the oldest. Reads only open discrepancies, and locks nothing.
-- name: DiscrepanciesWaiting :many
SELECT kind, count(*) AS waiting, extract(epoch FROM now() - min(opened_at))::float8 AS oldest_seconds
FROM discrepancies WHERE resolved_at IS NULL GROUP BY kind;
