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

-- Reads what the possible resolutions of some discrepancies depend on; locks nothing.
-- name: DiscrepanciesCircumstances :many
SELECT d.discrepancy_id, a.status, a.stage,
    greatest(0, a.amount_captured - greatest(0, a.amount_refunded) - greatest(0, a.amount_disputed))::bigint AS held,
    a.foreign_money AS foreign_held, (a.status = 'failed' AND a.amount_authorized > greatest(0, a.amount_captured))::boolean AS may_hold,
    EXISTS (SELECT FROM refunds r WHERE r.attempt_id = a.attempt_id AND r.status = 'pending') AS refunding,
    EXISTS (SELECT FROM payment_attempts o WHERE o.order_id = a.order_id AND o.attempt_id <> a.attempt_id
        AND (o.amount_captured - greatest(0, o.amount_refunded) - greatest(0, o.amount_disputed) > 0 OR o.foreign_money)) AS beside,
    coalesce((SELECT r.status::text FROM refunds r
        WHERE r.attempt_id = a.attempt_id AND d.about IN ('refund_unknown', 'refund_slow') AND d.about_id = r.refund_id::text LIMIT 1), '')::text AS refund
FROM discrepancies d
JOIN payment_attempts a ON a.order_id = d.order_id AND a.attempt_id = d.attempt_id
WHERE d.discrepancy_id = ANY (@discrepancy_ids::uuid[]);

-- Counts the open discrepancies of each kind and finds the oldest; reads only those
-- that are open, and locks nothing.
-- name: DiscrepanciesWaiting :many
SELECT kind, count(*) AS waiting, extract(epoch FROM now() - min(opened_at))::float8 AS oldest_seconds
FROM discrepancies WHERE resolved_at IS NULL GROUP BY kind;
