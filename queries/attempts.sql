-- Reads one attempt. Locks nothing.
-- name: AttemptRead :one
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings,
    EXISTS (SELECT FROM disputes d WHERE d.attempt_id = a.attempt_id) AS has_disputes
FROM payment_attempts a WHERE a.attempt_id = @attempt_id;

-- Reads several attempts. Locks nothing.
-- name: AttemptsRead :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings,
    EXISTS (SELECT FROM disputes d WHERE d.attempt_id = a.attempt_id) AS has_disputes
FROM payment_attempts a WHERE a.attempt_id = ANY (@attempt_ids::uuid[]);

-- Lists the attempts whose version is above the version given for them. Locks nothing.
-- name: AttemptsMoved :many
SELECT a.attempt_id
FROM (SELECT unnest(@attempt_ids::uuid[]) AS attempt_id, unnest(@versions::int[]) AS version) n
JOIN payment_attempts a ON a.attempt_id = n.attempt_id AND a.version > n.version;

-- Reads the name of the channel of this schema. The channels of all schemas of a database are different.
-- name: AttemptsChannel :one
SELECT ('paylatch_attempts_' || quote_ident(current_schema())::regnamespace::oid)::text AS channel;

-- Notifies all listeners of this schema. Its own commit need not reach the disk.
-- name: AttemptsAnnounce :exec
WITH lax AS (SELECT set_config('synchronous_commit', 'off', true))
SELECT pg_notify('paylatch_attempts_' || quote_ident(current_schema())::regnamespace::oid, n.notice)
FROM lax, (SELECT unnest(@notices::text[]) AS notice) n;

-- Reads the attempts of some requests, each with its first charge, in one statement and so in one snapshot. Locks nothing. The
-- triples are matched by position.
-- name: AttemptsByRequest :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings,
    coalesce(o.state, '') AS charge_state, o.lease_until AS charge_lease_until,
    EXISTS (SELECT FROM disputes d WHERE d.attempt_id = a.attempt_id) AS has_disputes
FROM payment_attempts a
JOIN (SELECT unnest(@order_ids::text[]) AS order_id, unnest(@user_ids::text[]) AS user_id, unnest(@client_request_ids::text[]) AS client_request_id) n
    ON a.order_id = n.order_id AND a.user_id = n.user_id AND a.client_request_id COLLATE "C" = n.client_request_id
LEFT JOIN operations o ON o.attempt_id = a.attempt_id AND o.kind = 'charge' AND o.number = 0;

-- Reads the attempts of some orders, oldest first. Locks nothing.
-- name: AttemptsOfOrders :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings,
    EXISTS (SELECT FROM disputes d WHERE d.attempt_id = a.attempt_id) AS has_disputes
FROM payment_attempts a WHERE a.order_id = ANY (@order_ids::text[])
ORDER BY a.order_id, a.created_at, a.attempt_id;

-- Locks all attempts of an order, by id. The caller has locked the order.
-- name: AttemptsOfOrderLock :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at
FROM payment_attempts a WHERE a.order_id = @order_id
ORDER BY a.attempt_id FOR NO KEY UPDATE;

-- Locks all attempts of some orders, by id. The caller has locked the orders.
-- name: AttemptsOfOrdersLock :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at
FROM payment_attempts a WHERE a.order_id = ANY (@order_ids::text[])
ORDER BY a.attempt_id FOR NO KEY UPDATE;

-- Locks an attempt. Waits for another transaction's lock.
-- name: AttemptLock :one
SELECT sqlc.embed(a), now()::timestamptz AS read_at,
    EXISTS (SELECT FROM payment_attempts s WHERE s.order_id = a.order_id AND s.attempt_id <> a.attempt_id) AS siblings
FROM payment_attempts a WHERE a.attempt_id = @attempt_id
FOR NO KEY UPDATE OF a;

-- Reads the attempts of one attempt's order, oldest first. Locks nothing.
-- name: AttemptsBeside :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings
FROM payment_attempts a WHERE a.order_id = (SELECT o.order_id FROM payment_attempts o WHERE o.attempt_id = @attempt_id)
ORDER BY a.created_at, a.attempt_id;

-- Locks the pending or succeeded attempts of some orders that are not locked, one for each order. Never waits.
-- name: AttemptsLiveLockFree :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, true AS siblings
FROM payment_attempts a WHERE a.order_id = ANY (@order_ids::text[]) AND a.live
ORDER BY a.attempt_id
FOR NO KEY UPDATE OF a SKIP LOCKED;

-- Locks the attempts that are not locked. Never waits.
-- name: AttemptsLockFree :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at,
    EXISTS (SELECT FROM payment_attempts s WHERE s.order_id = a.order_id AND s.attempt_id <> a.attempt_id) AS siblings
FROM payment_attempts a WHERE a.attempt_id = ANY (@attempt_ids::uuid[])
ORDER BY a.attempt_id
FOR NO KEY UPDATE OF a SKIP LOCKED;

-- Locks the attempts with one of the ids or names that are not locked. Never waits. The pairs are matched by position.
-- name: AttemptsLockNamed :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at,
    EXISTS (SELECT FROM payment_attempts s WHERE s.order_id = a.order_id AND s.attempt_id <> a.attempt_id) AS siblings
FROM payment_attempts a WHERE a.attempt_id IN (
    SELECT unnest(@attempt_ids::uuid[])
    UNION ALL
    SELECT r.attempt_id FROM attempt_references r
    JOIN (SELECT unnest(@accounts::text[]) AS account, unnest(@refs::text[]) AS reference) n
        ON r.account = n.account AND r.reference = n.reference)
ORDER BY a.attempt_id
FOR NO KEY UPDATE OF a SKIP LOCKED;

-- Inserts new attempts.
-- name: AttemptsInsert :exec
INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, origin, status, stage,
    amount, currency, capture_manual, version, created_at, updated_at, expires_at, merchant, split, capture_multiple)
SELECT n.order_id, n.attempt_id, n.user_id, n.client_request_id, n.request_hash, n.account, n.origin, 'pending', n.stage,
    n.amount, n.currency, n.capture_manual, 1, n.created_at, n.created_at, CASE n.origin WHEN 'external' THEN n.expires_at END, n.merchant, n.split, n.capture_multiple
FROM (
    SELECT unnest(@order_ids::text[]) AS order_id,
        unnest(@attempt_ids::uuid[]) AS attempt_id,
        unnest(@user_ids::text[]) AS user_id,
        unnest(@client_request_ids::text[]) AS client_request_id,
        unnest(@request_hashes::bytea[]) AS request_hash,
        unnest(@accounts::text[]) AS account,
        unnest(@origins::text[]) AS origin,
        unnest(@stages::text[])::attempt_stage AS stage,
        unnest(@amounts::bigint[]) AS amount,
        unnest(@currencies::text[]) AS currency,
        unnest(@captures_manual::bool[]) AS capture_manual,
        unnest(@created_ats::timestamptz[]) AS created_at,
        unnest(@expires_ats::timestamptz[]) AS expires_at,
        unnest(@merchants::int[]) AS merchant,
        unnest(@splits::bool[]) AS split,
        unnest(@captures_multiple::bool[]) AS capture_multiple
) n
RETURNING 1;

-- Inserts imported attempts, which are final.
-- name: AttemptsImport :exec
INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, origin, provider_payment_id,
    status, stage, amount, currency, capture_manual, movements, amount_captured, amount_refunded,
    failure_code, failure_message, payments, version, created_at, updated_at, finalized_at, merchant)
SELECT n.order_id, n.attempt_id, n.user_id, n.client_request_id, n.request_hash, n.account, 'imported', n.provider_payment_id,
    n.status, 'final', n.amount, n.currency, n.capture_manual, n.movements, n.amount_captured, n.amount_refunded,
    n.failure_code, n.failure_message, NULLIF(n.payments, '')::json, n.version, n.created_at, n.finalized_at, n.finalized_at, n.merchant
FROM (
    SELECT unnest(@order_ids::text[]) AS order_id,
        unnest(@attempt_ids::uuid[]) AS attempt_id,
        unnest(@user_ids::text[]) AS user_id,
        unnest(@client_request_ids::text[]) AS client_request_id,
        unnest(@request_hashes::bytea[]) AS request_hash,
        unnest(@accounts::text[]) AS account,
        unnest(@provider_payment_ids::text[]) AS provider_payment_id,
        unnest(@statuses::text[])::attempt_status AS status,
        unnest(@amounts::bigint[]) AS amount,
        unnest(@currencies::text[]) AS currency,
        unnest(@captures_manual::bool[]) AS capture_manual,
        unnest(@movements::int[]) AS movements,
        unnest(@captured::bigint[]) AS amount_captured,
        unnest(@refunded::bigint[]) AS amount_refunded,
        unnest(@failure_codes::text[]) AS failure_code,
        unnest(@failure_messages::text[]) AS failure_message,
        unnest(@payments::text[]) AS payments,
        unnest(@versions::int[]) AS version,
        unnest(@created_ats::timestamptz[]) AS created_at,
        unnest(@finalized_ats::timestamptz[]) AS finalized_at,
        unnest(@merchants::int[]) AS merchant
) n
RETURNING 1;

-- Writes locked attempts, each guarded by the version that was read: all attempts or no attempt.
-- name: AttemptsAdvance :exec
WITH done AS (
UPDATE payment_attempts a SET
    provider_payment_id = n.provider_payment_id,
    status = n.status,
    stage = n.stage,
    amount_authorized = n.amount_authorized,
    amount_captured = n.amount_captured,
    amount_refunded = n.amount_refunded,
    amount_disputed = n.amount_disputed,
    foreign_money = n.foreign_money,
    movements = n.movements,
    next_action = n.next_action,
    failure_code = n.failure_code,
    failure_message = n.failure_message,
    failure_provider_code = n.failure_provider_code,
    saved_payment_method = coalesce(n.saved_method, a.saved_payment_method),
    review = coalesce(n.review, a.review),
    payments = n.payments,
    version = n.version,
    updated_at = n.updated_at,
    finalized_at = n.finalized_at
FROM (
    SELECT u.order_id, u.attempt_id, u.was, u.provider_payment_id, u.status::attempt_status AS status, u.stage::attempt_stage AS stage,
        u.amount_authorized, u.amount_captured, u.amount_refunded, u.amount_disputed, u.foreign_money, u.movements, u.next_action,
        u.failure_code, u.failure_message, u.failure_provider_code, NULLIF(u.saved_method, '')::json AS saved_method, NULLIF(u.payments, '')::json AS payments,
        NULLIF(u.review, '')::json AS review,
        u.version, u.updated_at, NULLIF(u.finalized_at, '0001-01-01 00:00:00Z') AS finalized_at
    FROM (SELECT unnest(@order_ids::text[]) AS order_id,
        unnest(@attempt_ids::uuid[]) AS attempt_id,
        unnest(@was::int[]) AS was,
        unnest(@provider_payment_ids::text[]) AS provider_payment_id,
        unnest(@statuses::text[]) AS status,
        unnest(@stages::text[]) AS stage,
        unnest(@authorized::bigint[]) AS amount_authorized,
        unnest(@captured::bigint[]) AS amount_captured,
        unnest(@refunded::bigint[]) AS amount_refunded,
        unnest(@disputed::bigint[]) AS amount_disputed,
        unnest(@foreign_money::bool[]) AS foreign_money,
        unnest(@movements::int[]) AS movements,
        unnest(@next_actions::text[]) AS next_action,
        unnest(@failure_codes::text[]) AS failure_code,
        unnest(@failure_messages::text[]) AS failure_message,
        unnest(@failure_provider_codes::text[]) AS failure_provider_code,
        unnest(@saved_methods::text[]) AS saved_method,
        unnest(@reviews::text[]) AS review,
        unnest(@payments::text[]) AS payments,
        unnest(@versions::int[]) AS version,
        unnest(@updated_ats::timestamptz[]) AS updated_at,
        unnest(@finalized_ats::timestamptz[]) AS finalized_at) u
) n
WHERE a.order_id = n.order_id AND a.attempt_id = n.attempt_id AND a.version = n.was
RETURNING 1
)
SELECT must_touch('attempts_as_read', count(*), cardinality(@attempt_ids::uuid[])) FROM done;
