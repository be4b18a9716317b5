-- Writes events for the merchant as one batch. Existing events stay, of this epoch of the feed or an earlier one.
-- name: OutboxInsert :exec
WITH n AS (
    SELECT unnest(@order_ids::text[]) AS order_id,
        unnest(@message_ids::uuid[]) AS message_id,
        generate_subscripts(@message_ids::uuid[], 1) AS nth,
        unnest(@attempt_ids::uuid[]) AS attempt_id,
        unnest(@subjects::text[]) AS subject,
        unnest(@types::text[]) AS type,
        unnest(@versions::int[]) AS version,
        unnest(@payloads::text[]) AS payload,
        unnest(@created_ats::timestamptz[]) AS created_at
), b AS (
    INSERT INTO outbox_batches (events, created_at) SELECT count(*), max(created_at) FROM n RETURNING batch
)
INSERT INTO outbox (batch, nth, order_id, message_id, attempt_id, subject, type, version, payload, created_at)
SELECT b.batch, n.nth, n.order_id, CASE WHEN p.epoch = 0 THEN n.message_id ELSE outbox_id(n.message_id, p.epoch) END, NULLIF(n.attempt_id, '00000000-0000-0000-0000-000000000000'), n.subject, n.type, n.version,
    n.payload::json, n.created_at
FROM n, b, (SELECT COALESCE(max(f.epoch), 0)::bigint AS epoch FROM feed_epochs f) p
WHERE CASE WHEN p.epoch = 0 THEN true ELSE NOT EXISTS (
    SELECT 1 FROM outbox o
    WHERE o.order_id = n.order_id AND o.message_id IN (SELECT n.message_id UNION ALL SELECT outbox_id(n.message_id, e.epoch) FROM feed_epochs e)) END
ON CONFLICT (order_id, message_id) DO NOTHING
RETURNING 1;

-- Writes, as one batch, the events of cancelled orders: orders with a cancel request, without a live attempt and without accepted
-- late money. The caller has locked the order or its last live attempt, so that nothing changes in between.
-- name: OutboxInsertCancelled :exec
WITH n AS (
    SELECT m.order_id, m.message_id, row_number() OVER (ORDER BY m.nth) AS nth, m.type, m.version, m.payload, m.created_at
    FROM (
        SELECT unnest(@order_ids::text[]) AS order_id,
            unnest(@message_ids::uuid[]) AS message_id,
            generate_subscripts(@message_ids::uuid[], 1) AS nth,
            unnest(@types::text[]) AS type,
            unnest(@versions::int[]) AS version,
            unnest(@payloads::text[]) AS payload,
            unnest(@created_ats::timestamptz[]) AS created_at
    ) m
    JOIN orders o ON o.order_id = m.order_id AND o.cancel_requested_at IS NOT NULL AND o.accepted_attempt_id IS NULL
    WHERE NOT EXISTS (SELECT FROM payment_attempts a WHERE a.order_id = m.order_id AND a.live)
), b AS (
    INSERT INTO outbox_batches (events, created_at) SELECT count(*), max(created_at) FROM n HAVING count(*) > 0 RETURNING batch
)
INSERT INTO outbox (batch, nth, order_id, message_id, subject, type, version, payload, created_at)
SELECT b.batch, n.nth, n.order_id, CASE WHEN p.epoch = 0 THEN n.message_id ELSE outbox_id(n.message_id, p.epoch) END, n.order_id, n.type, n.version, n.payload::json, n.created_at
FROM n, b, (SELECT COALESCE(max(f.epoch), 0)::bigint AS epoch FROM feed_epochs f) p
WHERE CASE WHEN p.epoch = 0 THEN true ELSE NOT EXISTS (
    SELECT 1 FROM outbox o
    WHERE o.order_id = n.order_id AND o.message_id IN (SELECT n.message_id UNION ALL SELECT outbox_id(n.message_id, e.epoch) FROM feed_epochs e)) END
ON CONFLICT (order_id, message_id) DO NOTHING
RETURNING 1;

-- Locks the head. Returns no row if another transaction has it.
-- name: OutboxHeadLock :one
SELECT last FROM outbox_head FOR UPDATE SKIP LOCKED;

-- Gives positions behind the head to the events of a limited number of committed batches, and moves the head. Returns the head and
-- the last of these batches, 0 for none. The caller locked the head before this statement began.
-- name: OutboxNumber :one
WITH numbered AS (
    UPDATE outbox_batches b SET last = n.upto + @behind::bigint
    FROM (
        SELECT d.batch, sum(d.events) OVER (ORDER BY d.batch) AS upto
        FROM (SELECT u.batch, u.events FROM outbox_batches u WHERE u.last IS NULL ORDER BY u.batch LIMIT @at_most::int) d
    ) n
    WHERE b.batch = n.batch
    RETURNING b.batch, b.last
), latest AS (
    SELECT n.batch, n.last FROM numbered n ORDER BY n.last DESC LIMIT 1
)
UPDATE outbox_head SET last = GREATEST(outbox_head.last, (SELECT l.last FROM latest l))
RETURNING outbox_head.last, coalesce((SELECT l.batch FROM latest l), 0)::bigint AS batch;

-- Reads the head. Locks nothing.
-- name: OutboxHead :one
SELECT last FROM outbox_head;

-- Reads the head, and the epochs, oldest first. Locks nothing.
-- name: OutboxLine :one
SELECT h.last, ARRAY(SELECT e.epoch FROM feed_epochs e ORDER BY e.epoch)::bigint[] AS epochs,
    ARRAY(SELECT e.shared FROM feed_epochs e ORDER BY e.epoch)::bigint[] AS shared
FROM outbox_head h;

-- Locks the head, and waits for it.
-- name: OutboxHeadHold :exec
SELECT last FROM outbox_head FOR UPDATE;

-- Begins an epoch of the feed, behind the last position that is of before a time; no row where one has
-- begun since another time. The caller has locked the head before this statement began.
-- name: FeedEpochBegin :one
WITH next AS (
    SELECT GREATEST(extract(epoch FROM now() - timestamptz '2026-01-01T00:00:00Z')::bigint, (SELECT max(l.epoch) FROM feed_epochs l) + 1) AS epoch,
        LEAST(h.last, (SELECT min(b.last - b.events) FROM outbox_batches b
            WHERE b.last IS NOT NULL AND b.created_at >= @since::timestamptz)) AS shared
    FROM outbox_head h
    WHERE NOT EXISTS (SELECT FROM feed_epochs e WHERE e.begun_at > @seen::timestamptz)
)
INSERT INTO feed_epochs (epoch, shared) SELECT next.epoch, next.shared FROM next
RETURNING shared;

-- Reads a limited number of events between two positions, oldest first, of some types, or of all types if no type is given. The
-- inner order makes the planner read each batch by its index even without statistics. Locks nothing.
-- name: OutboxAfter :many
SELECT (b.last - b.events + e.nth)::bigint AS position, e.message_id, e.order_id, e.subject, e.type, e.version, e.payload, e.created_at
FROM outbox_batches b CROSS JOIN LATERAL (
    SELECT o.nth, o.message_id, o.order_id, o.subject, o.type, o.version, o.payload, o.created_at FROM outbox o
    WHERE o.batch = b.batch AND o.nth > b.events - b.last + @after::bigint AND (cardinality(@types::text[]) = 0 OR o.type = ANY (@types::text[]))
    ORDER BY o.batch, o.nth
) e
WHERE b.last > @after::bigint AND b.last <= @until::bigint
ORDER BY b.last, e.nth LIMIT @at_most::int;

-- Reads the position of the oldest event that is kept. Returns no row if no event is kept.
-- name: OutboxOldest :one
SELECT (last - events + 1)::bigint AS position FROM outbox_batches WHERE last IS NOT NULL ORDER BY last LIMIT 1;

-- Deletes, of the oldest numbered batches with about @at_most events, the batches before a time. The batches' numbers are an
-- array, so that the planner finds the rows by an index.
-- name: OutboxPurge :execrows
WITH old AS (
    DELETE FROM outbox_batches b
    WHERE b.created_at < @before AND b.batch = ANY (ARRAY(
        SELECT o.batch
        FROM (
            SELECT d.batch, sum(d.events) OVER (ORDER BY d.last) - d.events AS behind
            FROM (SELECT p.batch, p.events, p.last FROM outbox_batches p WHERE p.last IS NOT NULL ORDER BY p.last LIMIT @at_most::int) d
        ) o
        WHERE o.behind < @at_most::int
    ))
    RETURNING b.batch
)
DELETE FROM outbox o WHERE o.batch = ANY (ARRAY(SELECT old.batch FROM old));
