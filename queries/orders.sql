-- Inserts one order, or nothing if its id or its request is taken.
-- name: OrderInsert :execrows
INSERT INTO orders (order_id, user_id, created_by, client_request_id, request_hash, amount, currency, description, metadata, created_at, updated_at)
VALUES (@order_id, @user_id, @created_by, @client_request_id, @request_hash, @amount, @currency, @description, @metadata, @created_at, @created_at)
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

-- Locks those of some orders that are not locked; never waits.
-- name: OrdersLockFree :many
SELECT * FROM orders WHERE order_id = ANY (@order_ids::text[])
ORDER BY order_id FOR NO KEY UPDATE SKIP LOCKED;

-- Writes the cancel request of one locked order, once.
-- name: OrderCancel :exec
UPDATE orders SET cancel_requested_at = coalesce(cancel_requested_at, @at), updated_at = @at WHERE order_id = @order_id;

-- Reads the order of one attempt, locks nothing.
-- name: OrderBeside :one
SELECT o.* FROM orders o WHERE o.order_id = (SELECT a.order_id FROM payment_attempts a WHERE a.attempt_id = @attempt_id);

-- Writes which attempt's late money pays one locked order.
-- name: OrderAccept :execrows
UPDATE orders SET accepted_attempt_id = @attempt_id::uuid, updated_at = @at WHERE order_id = @order_id;

-- Reads several orders, locks nothing.
-- name: OrdersRead :many
SELECT * FROM orders WHERE order_id = ANY (@order_ids::text[]);
