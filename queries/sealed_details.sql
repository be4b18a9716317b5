-- Keeps the details of orders and of attempts, each once.
-- name: SealedDetailsInsert :exec
INSERT INTO sealed_details (order_id, attempt_id, sealed, created_at, check_at)
SELECT n.order_id, n.attempt_id, n.sealed, n.created_at, n.created_at + interval '1 hour'
FROM (SELECT unnest(@order_ids::text[]) AS order_id, unnest(@attempt_ids::uuid[]) AS attempt_id, unnest(@sealed::bytea[]) AS sealed,
    unnest(@created_ats::timestamptz[]) AS created_at) n
RETURNING 1;

-- Reads the details of an order, or of one of its attempts. Locks nothing.
-- name: SealedDetailsRead :one
SELECT sealed FROM sealed_details WHERE order_id = @order_id AND attempt_id = @attempt_id;

-- Reads the details of an order with the revision that has them. Locks nothing.
-- name: OrderDetailsRead :one
SELECT o.revision, d.sealed FROM orders o
LEFT JOIN sealed_details d ON d.order_id = o.order_id AND d.attempt_id = '00000000-0000-0000-0000-000000000000'
WHERE o.order_id = @order_id;

-- Replaces the details of an amended order.
-- name: OrderDetailsReplace :exec
INSERT INTO sealed_details AS d (order_id, attempt_id, sealed, created_at, check_at)
SELECT n.order_id, n.attempt_id, n.sealed, n.at, n.at + interval '1 hour'
FROM (SELECT @order_id::text AS order_id, @attempt_id::uuid AS attempt_id, @sealed::bytea AS sealed, @at::timestamptz AS at) n
ON CONFLICT (order_id, attempt_id) DO UPDATE SET sealed = excluded.sealed, created_at = excluded.created_at, check_at = excluded.check_at
RETURNING 1;

-- Removes the details of an amended order.
-- name: OrderDetailsRemove :exec
DELETE FROM sealed_details WHERE order_id = @order_id AND attempt_id = '00000000-0000-0000-0000-000000000000';

-- Erases the due details that are not needed any more, and makes the others due again at twice their age. Returns how many were
-- due. Skips locked rows.
-- name: SealedDetailsPurge :one
WITH due AS (
    SELECT d.order_id, d.attempt_id, now() + (now() - d.created_at) AS next_at, d.created_at < now() - make_interval(secs => @keep::float8)
        OR d.attempt_id = '00000000-0000-0000-0000-000000000000' AND (
            EXISTS (SELECT FROM orders o WHERE o.order_id = d.order_id AND (o.cancel_requested_at IS NOT NULL OR o.accepted_attempt_id IS NOT NULL))
            OR EXISTS (SELECT FROM payment_attempts a WHERE a.order_id = d.order_id AND a.status = 'succeeded'))
        OR EXISTS (SELECT FROM payment_attempts a WHERE a.order_id = d.order_id AND a.attempt_id = d.attempt_id
            AND a.status <> 'pending' AND a.amount_captured <= a.amount_refunded + a.amount_disputed) AS needless
    FROM sealed_details d WHERE d.check_at <= now()
    ORDER BY d.check_at LIMIT sqlc.arg(most)::int
    FOR UPDATE OF d SKIP LOCKED
), erased AS (
    DELETE FROM sealed_details d USING due n WHERE n.needless AND d.order_id = n.order_id AND d.attempt_id = n.attempt_id
), later AS (
    UPDATE sealed_details d SET check_at = n.next_at
    FROM due n WHERE NOT n.needless AND d.order_id = n.order_id AND d.attempt_id = n.attempt_id
)
SELECT count(*) FROM due;
