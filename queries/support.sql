-- Reads the newest requests of callers and calls of providers around an attempt or its order. Locks nothing.
-- name: LogOfAttempt :many
SELECT * FROM attempt_log
WHERE order_id = @order_id AND (attempt_id = @attempt_id::uuid OR attempt_id IS NULL)
ORDER BY entry_id DESC LIMIT 1000;

-- Appends to the log of activity. A provider's name may stand for an attempt. Entries without an attempt and an order are left
-- out. Its own commit need not reach the disk.
-- name: LogInsert :exec
WITH lax AS (SELECT set_config('synchronous_commit', 'off', true)), n AS (
    SELECT unnest(@entry_ids::uuid[]) AS entry_id,
        unnest(@order_ids::text[]) AS order_id,
        NULLIF(unnest(@attempt_ids::uuid[]), '00000000-0000-0000-0000-000000000000') AS attempt_id,
        unnest(@accounts::text[]) AS account,
        unnest(@refs::text[]) AS reference,
        NULLIF(unnest(@refund_ids::uuid[]), '00000000-0000-0000-0000-000000000000') AS refund_id,
        unnest(@provider_event_ids::text[]) AS provider_event_id,
        unnest(@kinds::text[]) AS kind,
        unnest(@whats::text[]) AS what,
        unnest(@actors::text[]) AS actor,
        unnest(@keys::text[]) AS key,
        unnest(@outcomes::text[]) AS outcome,
        unnest(@times::int[]) AS times,
        unnest(@ats::timestamptz[]) AS at,
        unnest(@untils::timestamptz[]) AS until
)
INSERT INTO attempt_log (order_id, entry_id, attempt_id, kind, what, actor, key, outcome, refund_id, times, at, until)
SELECT coalesce(a.order_id, n.order_id), n.entry_id, a.attempt_id, n.kind, n.what, n.actor, n.key, n.outcome, n.refund_id, n.times, n.at, n.until
FROM lax, n LEFT JOIN LATERAL (
    SELECT p.order_id, p.attempt_id FROM payment_attempts p
    WHERE p.attempt_id = coalesce(n.attempt_id,
        (SELECT r.attempt_id FROM attempt_references r WHERE r.account = n.account AND r.reference = n.reference),
        (SELECT f.attempt_id FROM refunds f WHERE f.refund_id = n.refund_id LIMIT 1),
        (SELECT e.attempt_id FROM provider_events e WHERE e.account = n.account AND e.provider_event_id = n.provider_event_id))
    LIMIT 1
) a ON true
WHERE coalesce(a.order_id, n.order_id) <> ''
ON CONFLICT DO NOTHING
RETURNING 1;

-- Reads the events of an attempt, oldest first, without the bytes of large ones. Of more than 200 events it reads the newest, and
-- repeats last. Locks nothing.
-- name: EventsOfAttempt :many
SELECT e.event_id, e.account, e.provider_event_id, e.event_type, e.kind, e.verdict, e.order_id, e.attempt_id, e.news, e.taken, e.received_at,
    e.occurred_at, (b.sealed IS NOT NULL)::boolean AS kept, (CASE WHEN octet_length(b.sealed) <= 66000 THEN b.sealed END)::bytea AS sealed
FROM (
    SELECT * FROM provider_events WHERE attempt_id = @attempt_id::uuid
    ORDER BY verdict = 'repeat', received_at DESC, event_id DESC LIMIT 200
) e
LEFT JOIN event_bytes b ON b.event_id = e.event_id
ORDER BY e.received_at, e.event_id;

-- Reads one event. Locks nothing.
-- name: EventRead :one
SELECT e.event_id, e.account, e.provider_event_id, e.event_type, e.kind, e.verdict, e.order_id, e.attempt_id, e.news, e.taken, e.received_at,
    e.occurred_at, (b.sealed IS NOT NULL)::boolean AS kept, b.sealed::bytea AS sealed
FROM provider_events e LEFT JOIN event_bytes b ON b.event_id = e.event_id
WHERE e.event_id = @event_id ORDER BY b.sealed_at DESC LIMIT 1;

-- Reads the merchant's events of an attempt, oldest first. Locks nothing.
-- name: OutboxOfAttempt :many
SELECT message_id, type, version, created_at FROM outbox
WHERE order_id = @order_id AND attempt_id = @attempt_id ORDER BY batch, nth;

-- Reads the state of an order's events at each endpoint: whether the endpoint has not reached them yet, the retry, and the first
-- delivery, or the epoch. Locks nothing.
-- name: OutboxDeliveries :many
SELECT o.message_id, e.name AS endpoint, e.state, (b.last IS NULL OR b.last - b.events + o.nth > e.position)::bool AS ahead,
    COALESCE(r.state, '') AS retry, COALESCE(r.tries, 0) AS tries,
    COALESCE((SELECT min(d.at) FROM endpoint_deliveries d
        WHERE d.message_id = o.message_id AND d.endpoint = e.name AND d.error = ''), 'epoch')::timestamptz AS delivered_at
FROM outbox o JOIN outbox_batches b ON b.batch = o.batch CROSS JOIN endpoints e
LEFT JOIN LATERAL (
    SELECT q.state, q.tries FROM endpoint_retries q WHERE q.endpoint = e.name AND q.position = b.last - b.events + o.nth LIMIT 1
) r ON true
WHERE o.order_id = @order_id AND o.message_id = ANY (@message_ids::uuid[])
ORDER BY o.message_id, e.name;

-- Reads the refunds of one attempt, oldest first. Locks nothing.
-- name: RefundsOfAttempt :many
SELECT sqlc.embed(r), now()::timestamptz AS read_at FROM refunds r WHERE r.attempt_id = @attempt_id ORDER BY r.created_at, r.refund_id;
