-- Inserts an order and returns its id. Inserts nothing if the id or the request is taken, or if the request created an order before
-- its user was erased.
-- name: OrderInsert :many
WITH erased AS (
    SELECT count(*) AS n FROM erased_requests WHERE digest = sha256(convert_to(@user_id::text || E'\n' || @client_request_id::text, 'UTF8'))
)
INSERT INTO orders (order_id, user_id, created_by, client_request_id, request_hash, amount, currency, description, metadata, detailed, created_at, updated_at)
SELECT @order_id, @user_id::text, @created_by, @client_request_id::text, @request_hash, @amount, @currency, @description, @metadata, @detailed, @created_at, @created_at
FROM erased WHERE erased.n = 0
ON CONFLICT DO NOTHING
RETURNING order_id;

-- Reads one order. Locks nothing.
-- name: OrderRead :one
SELECT * FROM orders WHERE order_id = @order_id;

-- Reads the order of one request. Locks nothing.
-- name: OrderByRequest :one
SELECT * FROM orders WHERE user_id = @user_id AND client_request_id = @client_request_id;

-- Locks an order, so that its pays and its cancellation follow each other.
-- name: OrderLock :one
SELECT * FROM orders WHERE order_id = @order_id FOR NO KEY UPDATE;

-- Locks the orders that are not locked. Never waits.
-- name: OrdersLockFree :many
SELECT * FROM orders WHERE order_id = ANY (@order_ids::text[])
ORDER BY order_id FOR NO KEY UPDATE SKIP LOCKED;

-- Writes the cancel request of a locked order, once. Its time of change is later than that of its attempts.
-- name: OrderCancel :exec
UPDATE orders SET cancel_requested_at = coalesce(cancel_requested_at, @at::timestamptz), revision = revision + (cancel_requested_at IS NULL)::int,
    updated_at = greatest(@at::timestamptz, (updated_at AT TIME ZONE 'UTC' + interval '1 microsecond') AT TIME ZONE 'UTC',
        (SELECT (max(a.updated_at) AT TIME ZONE 'UTC' + interval '1 microsecond') AT TIME ZONE 'UTC' FROM payment_attempts a WHERE a.order_id = @order_id))
WHERE order_id = @order_id;

-- Writes other terms of a locked order. Its first terms are kept once.
-- name: OrderAmend :execrows
UPDATE orders SET amount = @amount, currency = @currency, description = @description, metadata = @metadata, detailed = @detailed,
    original = coalesce(original, @original::jsonb), revision = @revision, updated_at = @updated_at
WHERE order_id = @order_id AND revision = @was;

-- Appends the amendment of an order to the log of activity.
-- name: OrderAmendLog :exec
INSERT INTO attempt_log (order_id, entry_id, kind, what, actor, key, outcome, at, until)
VALUES (@order_id, @entry_id, 'press', @what, @actor, @key, @outcome, @at, @at);

-- Gives an amended order its words in the search, where it is in it.
-- name: OrderAmendWords :exec
UPDATE search_orders SET words = string_to_array(@words::text, ' ') WHERE order_id = @order_id;

-- Reads the order of one attempt. Locks nothing.
-- name: OrderBeside :one
SELECT o.* FROM orders o WHERE o.order_id = (SELECT a.order_id FROM payment_attempts a WHERE a.attempt_id = @attempt_id);

-- Records the attempt whose late money pays a locked order.
-- name: OrderAccept :execrows
UPDATE orders SET accepted_attempt_id = @attempt_id::uuid, revision = revision + 1,
    updated_at = greatest(@at::timestamptz, (updated_at AT TIME ZONE 'UTC' + interval '1 microsecond') AT TIME ZONE 'UTC',
        (SELECT (max(a.updated_at) AT TIME ZONE 'UTC' + interval '1 microsecond') AT TIME ZONE 'UTC' FROM payment_attempts a WHERE a.order_id = @order_id))
WHERE order_id = @order_id;

-- Reads several orders. Locks nothing.
-- name: OrdersRead :many
SELECT * FROM orders WHERE order_id = ANY (@order_ids::text[]);

-- Inserts the orders of imported payments. Skips orders whose id or request is taken.
-- name: OrdersInsert :exec
INSERT INTO orders (order_id, user_id, created_by, client_request_id, request_hash, amount, currency, created_at, updated_at)
SELECT n.order_id, n.user_id, n.created_by, n.client_request_id, n.request_hash, n.amount, n.currency, n.created_at, n.created_at
FROM (
    SELECT unnest(@order_ids::text[]) AS order_id,
        unnest(@user_ids::text[]) AS user_id,
        unnest(@created_bys::text[]) AS created_by,
        unnest(@client_request_ids::text[]) AS client_request_id,
        unnest(@request_hashes::bytea[]) AS request_hash,
        unnest(@amounts::bigint[]) AS amount,
        unnest(@currencies::text[]) AS currency,
        unnest(@created_ats::timestamptz[]) AS created_at
) n
ORDER BY n.order_id
ON CONFLICT DO NOTHING
RETURNING 1;

-- Locks the existing orders among the given ones, by id. Waits for the locks of others.
-- name: OrdersLock :many
SELECT * FROM orders WHERE order_id = ANY (@order_ids::text[])
ORDER BY order_id FOR NO KEY UPDATE;
