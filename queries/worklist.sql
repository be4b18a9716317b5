-- Lists discrepancies behind a point, newest first; an empty text stands for any. Locks nothing.
-- name: WorklistNewest :many
SELECT sqlc.embed(d), now()::timestamptz AS read_at
FROM discrepancies d
WHERE (d.opened_at, d.discrepancy_id) < (@from_at::timestamptz, @from_id::uuid)
    AND (@status::text = '' OR (@status::text = 'open') = (d.resolved_at IS NULL))
    AND (@kind::text = '' OR d.kind = @kind::text)
    AND (@account::text = '' OR coalesce(NULLIF(d.account, ''), d.of_account) = @account::text)
    AND (@assignee::text = '' OR d.assignee = @assignee::text) AND (NOT @unassigned::boolean OR d.assignee = '')
    AND d.opened_at >= @opened_from::timestamptz AND d.opened_at < @opened_to::timestamptz
ORDER BY d.opened_at DESC, d.discrepancy_id DESC LIMIT @most::int;

-- Lists discrepancies as WorklistNewest does, but oldest first. Locks nothing.
-- name: WorklistOldest :many
SELECT sqlc.embed(d), now()::timestamptz AS read_at
FROM discrepancies d
WHERE (d.opened_at, d.discrepancy_id) > (@from_at::timestamptz, @from_id::uuid)
    AND (@status::text = '' OR (@status::text = 'open') = (d.resolved_at IS NULL))
    AND (@kind::text = '' OR d.kind = @kind::text)
    AND (@account::text = '' OR coalesce(NULLIF(d.account, ''), d.of_account) = @account::text)
    AND (@assignee::text = '' OR d.assignee = @assignee::text) AND (NOT @unassigned::boolean OR d.assignee = '')
    AND d.opened_at >= @opened_from::timestamptz AND d.opened_at < @opened_to::timestamptz
ORDER BY d.opened_at, d.discrepancy_id LIMIT @most::int;

-- Reads one discrepancy. Locks nothing.
-- name: WorklistEntry :one
SELECT sqlc.embed(d), now()::timestamptz AS read_at FROM discrepancies d WHERE d.discrepancy_id = @discrepancy_id;

-- Reads the payments of some discrepancies: the customer, the amount and the state. Locks nothing.
-- name: WorklistFacts :many
SELECT d.discrepancy_id, e.event_id, coalesce(e.verdict, '')::text AS verdict, coalesce(o.user_id, '')::text AS user_id,
    coalesce(NULLIF(d.account, ''), a.account, '')::text AS account,
    (a.attempt_id IS NOT NULL)::boolean AS has_attempt, coalesce(a.status::text, '')::text AS status, coalesce(a.stage::text, '')::text AS stage,
    coalesce(a.provider_payment_id, '')::text AS provider_payment_id,
    coalesce((SELECT m.provider_id FROM money_movements m WHERE m.attempt_id = a.attempt_id AND m.kind = 'capture' AND m.source = 'named' ORDER BY m.number LIMIT 1), '')::text AS capture,
    coalesce(r.amount, a.amount, o.amount, 0)::bigint AS expected, coalesce(r.currency, a.currency, o.currency, '')::text AS expected_currency,
    coalesce(a.currency, '')::text AS currency, coalesce(a.amount_captured, 0)::bigint AS captured, coalesce(a.amount_refunded, 0)::bigint AS refunded,
    coalesce(a.amount_disputed, 0)::bigint AS disputed,
    coalesce(greatest(0, a.amount_captured - greatest(0, a.amount_refunded) - greatest(0, a.amount_disputed)), 0)::bigint AS held,
    coalesce(a.foreign_money, false)::boolean AS foreign_held,
    coalesce(a.status = 'failed' AND a.amount_authorized > greatest(0, a.amount_captured), false)::boolean AS may_hold,
    EXISTS (SELECT FROM money_movements m WHERE m.attempt_id = a.attempt_id AND m.kind = 'capture') AS taken,
    EXISTS (SELECT FROM refunds p WHERE p.attempt_id = a.attempt_id AND p.status = 'pending') AS refunding,
    EXISTS (SELECT FROM payment_attempts b WHERE b.order_id = a.order_id AND b.attempt_id <> a.attempt_id
        AND (b.amount_captured - greatest(0, b.amount_refunded) - greatest(0, b.amount_disputed) > 0 OR b.foreign_money)) AS beside,
    coalesce((a.amount <> o.amount OR a.currency <> o.currency) AND (a.currency <> o.currency
        OR greatest(0, a.amount_captured - greatest(0, a.amount_refunded) - greatest(0, a.amount_disputed)) < o.amount), false)::boolean AS underpaid,
    coalesce(r.status::text, '')::text AS refund,
    coalesce((SELECT p.status FROM disputes p WHERE d.about = 'dispute' AND p.attempt_id = d.attempt_id
        AND p.provider_dispute_id = substr(d.about_id, strpos(d.about_id, ' ') + 1) LIMIT 1), '')::text AS dispute,
    coalesce(q.provider_dispute_id, '')::text AS disputed_as, coalesce(q.reason, '')::text AS dispute_reason, coalesce(q.due_by, 'epoch')::timestamptz AS answer_by,
    (SELECT count(*) FROM worklist_comments c WHERE c.discrepancy_id = d.discrepancy_id)::bigint AS comments
FROM discrepancies d
LEFT JOIN orders o ON o.order_id = d.order_id
LEFT JOIN payment_attempts a ON a.order_id = d.order_id AND a.attempt_id = d.attempt_id
LEFT JOIN provider_events e ON e.account = d.account AND e.provider_event_id = d.provider_event_id
LEFT JOIN LATERAL (SELECT f.status, f.amount, f.currency FROM refunds f WHERE f.attempt_id = a.attempt_id AND f.refund_id::text = d.about_id LIMIT 1) r ON true
LEFT JOIN LATERAL (SELECT p.provider_dispute_id, p.reason, p.due_by FROM disputes p
    WHERE p.attempt_id = d.attempt_id AND p.closed_at IS NULL AND CASE WHEN d.about = 'dispute'
        THEN p.provider_dispute_id = substr(d.about_id, strpos(d.about_id, ' ') + 1) ELSE d.kind = 'payment_reversed' END
    ORDER BY p.due_by, p.dispute_id LIMIT 1) q ON true
WHERE d.discrepancy_id = ANY (@discrepancy_ids::uuid[]);

-- Reads the other facts that decide whether some discrepancies are settled. Locks nothing.
-- name: WorklistEvidence :many
SELECT d.discrepancy_id,
    EXISTS (SELECT FROM disputes p WHERE p.attempt_id = d.attempt_id AND p.closed_at IS NULL) AS disputing,
    EXISTS (SELECT FROM money_movements m JOIN payment_attempts a ON a.order_id = d.order_id AND a.attempt_id = d.attempt_id
        WHERE m.attempt_id = d.attempt_id AND m.kind = 'capture' AND m.currency <> a.currency) AS foreign_captured,
    EXISTS (SELECT FROM settlements s WHERE s.attempt_id = d.attempt_id AND s.kind = 'capture' AND s.recorded_at > d.opened_at) AS in_books,
    (d.kind = 'unmatched_event' AND d.about_id <> ''
        AND EXISTS (SELECT FROM attempt_references n WHERE n.account = d.account AND n.reference = d.about_id))::boolean AS known,
    (d.kind = 'unreadable_event' AND d.about_id ~ '^\d{4}-\d\d-\d\dT\d\d ' AND NOT EXISTS (SELECT FROM provider_events u
        WHERE u.verdict = 'unreadable' AND u.account = d.account
            AND u.received_at >= CASE WHEN d.about_id ~ '^\d{4}-\d\d-\d\dT\d\d ' THEN (substr(d.about_id, 1, 13) || ':00:00Z')::timestamptz END
            AND u.received_at < CASE WHEN d.about_id ~ '^\d{4}-\d\d-\d\dT\d\d ' THEN (substr(d.about_id, 1, 13) || ':00:00Z')::timestamptz END + interval '1 hour'))::boolean AS all_read
FROM discrepancies d
WHERE d.discrepancy_id = ANY (@discrepancy_ids::uuid[]);

-- Counts the open discrepancies, by their index only. Locks nothing.
-- name: WorklistOpen :one
SELECT count(*) FROM discrepancies WHERE resolved_at IS NULL;

-- Writes the assignee of a locked, open discrepancy.
-- name: WorklistAssign :execrows
UPDATE discrepancies SET assignee = @assignee, assigned_at = CASE WHEN @assignee = '' THEN NULL ELSE n.at END
FROM (SELECT now()::timestamptz AS at) n
WHERE discrepancy_id = @discrepancy_id AND resolved_at IS NULL;

-- Adds a comment to a discrepancy. Returns no row if its author has already commented under the same key, also in a transaction
-- for which this one waits.
-- name: WorklistComment :execrows
INSERT INTO worklist_comments (comment_id, discrepancy_id, author, text, key, at) VALUES (@comment_id, @discrepancy_id, @author, @text, @key, now())
ON CONFLICT (discrepancy_id, author, key) WHERE key <> '' DO NOTHING;

-- Reads the comment of an author under a key. Locks nothing.
-- name: WorklistCommentOf :one
SELECT * FROM worklist_comments WHERE discrepancy_id = @discrepancy_id AND author = @author AND key = @key AND key <> '';

-- Reads the newest comments of each of some discrepancies, newest first. Locks nothing.
-- name: WorklistComments :many
SELECT c.* FROM unnest(@discrepancy_ids::uuid[]) AS d (id)
CROSS JOIN LATERAL (SELECT n.* FROM worklist_comments n WHERE n.discrepancy_id = d.id ORDER BY n.comment_id DESC LIMIT sqlc.arg(most)::int) c;

-- Locks the stored event of a discrepancy.
-- name: WorklistEventLock :exec
SELECT FROM provider_events WHERE account = @account AND provider_event_id = @provider_event_id FOR NO KEY UPDATE;

-- Takes the next turn of closing settled discrepancies, for a time. Returns no row before the turn begins, or if no discrepancy
-- is open.
-- name: WorklistTurnTake :one
UPDATE worklist_turns SET fence = fence + 1, next_at = now() + make_interval(secs => @seconds::float8)
WHERE next_at <= now() AND EXISTS (SELECT FROM discrepancies WHERE resolved_at IS NULL)
RETURNING *;

-- Ends a turn. Returns no row if another process has taken the next turn.
-- name: WorklistTurnEnd :execrows
UPDATE worklist_turns SET behind_at = @behind_at, behind_id = @behind_id, next_at = now() + make_interval(secs => @seconds::float8) WHERE fence = @fence;

-- Reads the next open discrepancies behind a point, oldest first. Locks nothing.
-- name: WorklistNext :many
SELECT * FROM discrepancies WHERE resolved_at IS NULL AND (opened_at, discrepancy_id) > (@behind_at::timestamptz, @behind_id::uuid)
ORDER BY opened_at, discrepancy_id LIMIT @most::int;
