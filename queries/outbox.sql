-- Writes events for the merchant; one that is there stays.
-- name: OutboxInsert :exec
INSERT INTO outbox (order_id, message_id, attempt_id, subject, type, version, payload, created_at)
SELECT n.order_id, n.message_id, NULLIF(n.attempt_id, '00000000-0000-0000-0000-000000000000'), n.subject, n.type, n.version,
    n.payload::json, n.created_at
FROM (
    SELECT unnest(@order_ids::text[]) AS order_id,
        unnest(@message_ids::uuid[]) AS message_id,
        unnest(@attempt_ids::uuid[]) AS attempt_id,
        unnest(@subjects::text[]) AS subject,
        unnest(@types::text[]) AS type,
        unnest(@versions::int[]) AS version,
        unnest(@payloads::text[]) AS payload,
        unnest(@created_ats::timestamptz[]) AS created_at
) n
ON CONFLICT DO NOTHING;

-- Writes that orders are cancelled: those with a cancel request and neither a live attempt nor accepted late money. The caller
-- has locked the order or its last live attempt, so that nothing changes in between.
-- name: OutboxInsertCancelled :exec
INSERT INTO outbox (order_id, message_id, subject, type, version, payload, created_at)
SELECT n.order_id, n.message_id, n.order_id, n.type, n.version, n.payload::json, n.created_at
FROM (
    SELECT unnest(@order_ids::text[]) AS order_id,
        unnest(@message_ids::uuid[]) AS message_id,
        unnest(@types::text[]) AS type,
        unnest(@versions::int[]) AS version,
        unnest(@payloads::text[]) AS payload,
        unnest(@created_ats::timestamptz[]) AS created_at
) n
JOIN orders o ON o.order_id = n.order_id AND o.cancel_requested_at IS NOT NULL AND o.accepted_attempt_id IS NULL
WHERE NOT EXISTS (SELECT FROM payment_attempts a WHERE a.order_id = n.order_id AND a.live)
ON CONFLICT DO NOTHING;

-- Locks the head, or returns no row where another transaction has it.
-- name: OutboxHeadLock :one
SELECT last FROM outbox_head FOR UPDATE SKIP LOCKED;

-- Numbers at most so many committed events behind the head, which the caller has locked before this statement began, and
-- moves it.
-- name: OutboxNumber :one
WITH numbered AS (
    UPDATE outbox o SET position = n.nth + @behind::bigint
    FROM (
        SELECT d.order_id, d.message_id, row_number() OVER (ORDER BY d.seq) AS nth
        FROM (SELECT u.order_id, u.message_id, u.seq FROM outbox u WHERE u.position IS NULL ORDER BY u.seq LIMIT @at_most::int) d
    ) n
    WHERE o.order_id = n.order_id AND o.message_id = n.message_id
    RETURNING 1
)
UPDATE outbox_head SET last = last + (SELECT count(*) FROM numbered) RETURNING last;

-- Reads the head, locks nothing.
-- name: OutboxHead :one
SELECT last FROM outbox_head;

-- Reads at most so many events behind a position, up to another one, oldest first; of some types, or of all where none is
-- given. Locks nothing.
-- name: OutboxAfter :many
SELECT position::bigint AS position, message_id, order_id, subject, type, version, payload, created_at
FROM outbox
WHERE position > @after::bigint AND position <= @until::bigint
    AND (cardinality(@types::text[]) = 0 OR type = ANY (@types::text[]))
ORDER BY position LIMIT @at_most::int;

-- Reads the position of the oldest event that is kept; no row where none is.
-- name: OutboxOldest :one
SELECT position::bigint AS position FROM outbox WHERE position IS NOT NULL ORDER BY position LIMIT 1;

-- Deletes those of the oldest so many numbered events that are of before a time.
-- name: OutboxPurge :execrows
DELETE FROM outbox o USING (
    SELECT d.order_id, d.message_id FROM outbox d WHERE d.position IS NOT NULL ORDER BY d.position LIMIT @at_most::int
) old
WHERE o.order_id = old.order_id AND o.message_id = old.message_id AND o.created_at < @before;
