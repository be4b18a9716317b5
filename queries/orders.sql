-- Inserts one order, or nothing if its id or its request is taken.
-- name: OrderInsert :execrows
INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, description, metadata, created_at, updated_at)
VALUES (@order_id, @user_id, @client_request_id, @request_hash, @amount, @currency, @description, @metadata, @created_at, @created_at)
ON CONFLICT DO NOTHING;

-- Reads one order, locks nothing.
-- name: OrderRead :one
SELECT * FROM orders WHERE order_id = @order_id;

-- Reads the order of one request, locks nothing.
-- name: OrderByRequest :one
SELECT * FROM orders WHERE user_id = @user_id AND client_request_id = @client_request_id;

-- Locks one order, so that its pays and its cancellation follow each other.
-- name: OrderLock :one
SELECT * FROM orders WHERE order_id = @order_id FOR NO KEY UPDATE;

-- Locks those of some orders that nobody else has locked; never waits.
-- name: OrdersLockFree :many
SELECT * FROM orders WHERE order_id = ANY (@order_ids::text[])
ORDER BY order_id FOR NO KEY UPDATE SKIP LOCKED;

-- Notes the wish to cancel of one locked order, once.
-- name: OrderCancel :exec
UPDATE orders SET cancel_requested_at = coalesce(cancel_requested_at, @at), updated_at = @at WHERE order_id = @order_id;

-- Reads which of some orders somebody wished to cancel, locks nothing.
-- name: OrdersCancelled :many
SELECT order_id FROM orders WHERE order_id = ANY (@order_ids::text[]) AND cancel_requested_at IS NOT NULL;

-- Reads several orders, locks nothing.
-- name: OrdersRead :many
SELECT * FROM orders WHERE order_id = ANY (@order_ids::text[]);

-- Queues behind every transaction that decides about one of the orders, until it
-- has ended. The lock is nobody's row, so it can't deadlock with those.
-- name: OrdersQueue :exec
SELECT pg_advisory_xact_lock(k) FROM (
    SELECT DISTINCT hashtextextended(unnest(@order_ids::text[]), 0) AS k ORDER BY k
) q;
