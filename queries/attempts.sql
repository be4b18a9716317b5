-- Reads one attempt, locks nothing.
-- name: AttemptRead :one
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings
FROM payment_attempts a WHERE a.attempt_id = @attempt_id;

-- Reads several attempts, locks nothing.
-- name: AttemptsRead :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings
FROM payment_attempts a WHERE a.attempt_id = ANY (@attempt_ids::uuid[]);

-- Lists those of some attempts whose version is above the one beside it, locks
-- nothing.
-- name: AttemptsMoved :many
SELECT a.attempt_id
FROM (SELECT unnest(@attempt_ids::uuid[]) AS attempt_id, unnest(@versions::int[]) AS version) n
JOIN payment_attempts a ON a.attempt_id = n.attempt_id AND a.version > n.version;

-- Tells all who listen; its own commit need not reach the disk.
-- name: AttemptsAnnounce :exec
WITH lax AS (SELECT set_config('synchronous_commit', 'off', true))
SELECT pg_notify(@channel::text, n.notice) FROM lax, (SELECT unnest(@notices::text[]) AS notice) n;

-- Reads the attempts of some requests, locks nothing. The triples are matched by
-- position.
-- name: AttemptsByRequest :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings
FROM payment_attempts a
JOIN (SELECT unnest(@order_ids::text[]) AS order_id, unnest(@user_ids::text[]) AS user_id, unnest(@client_request_ids::text[]) AS client_request_id) n
    ON a.order_id = n.order_id AND a.user_id = n.user_id AND a.client_request_id COLLATE "C" = n.client_request_id;

-- Reads the attempts of some orders, oldest first, locks nothing.
-- name: AttemptsOfOrders :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings
FROM payment_attempts a WHERE a.order_id = ANY (@order_ids::text[])
ORDER BY a.order_id, a.created_at, a.attempt_id;

-- Locks all attempts of one order, which the caller has locked, by id.
-- name: AttemptsOfOrderLock :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at
FROM payment_attempts a WHERE a.order_id = @order_id
ORDER BY a.attempt_id FOR NO KEY UPDATE;

-- Locks one attempt, waiting for whoever has it.
-- name: AttemptLock :one
SELECT sqlc.embed(a), now()::timestamptz AS read_at,
    EXISTS (SELECT FROM payment_attempts s WHERE s.order_id = a.order_id AND s.attempt_id <> a.attempt_id) AS siblings
FROM payment_attempts a WHERE a.attempt_id = @attempt_id
FOR NO KEY UPDATE OF a;

-- Reads the attempts of one attempt's order, oldest first, locks nothing.
-- name: AttemptsBeside :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings
FROM payment_attempts a WHERE a.order_id = (SELECT o.order_id FROM payment_attempts o WHERE o.attempt_id = @attempt_id)
ORDER BY a.created_at, a.attempt_id;

-- Locks the pending or succeeded attempts of some orders, one an order, that nobody
-- else has locked; never waits.
-- name: AttemptsLiveLockFree :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, true AS siblings
FROM payment_attempts a WHERE a.order_id = ANY (@order_ids::text[]) AND a.live
ORDER BY a.attempt_id
FOR NO KEY UPDATE OF a SKIP LOCKED;

-- Locks those of some attempts that nobody else has locked; never waits.
-- name: AttemptsLockFree :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at,
    EXISTS (SELECT FROM payment_attempts s WHERE s.order_id = a.order_id AND s.attempt_id <> a.attempt_id) AS siblings
FROM payment_attempts a WHERE a.attempt_id = ANY (@attempt_ids::uuid[])
ORDER BY a.attempt_id
FOR NO KEY UPDATE OF a SKIP LOCKED;

-- Locks those attempts with one of the ids or names that nobody else has locked;
-- never waits. The pairs are matched by position.
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
INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage,
    amount, currency, capture_manual, return_url, version, fence, lease_until, next_check_at, created_at, updated_at)
SELECT n.order_id, n.attempt_id, n.user_id, n.client_request_id, n.request_hash, n.account, 'pending', 'requested',
    n.amount, n.currency, n.capture_manual, n.return_url, 1, 1,
    NULLIF(n.lease_until, '0001-01-01 00:00:00Z'), NULLIF(n.next_check_at, '0001-01-01 00:00:00Z'), n.created_at, n.created_at
FROM (
    SELECT unnest(@order_ids::text[]) AS order_id,
        unnest(@attempt_ids::uuid[]) AS attempt_id,
        unnest(@user_ids::text[]) AS user_id,
        unnest(@client_request_ids::text[]) AS client_request_id,
        unnest(@request_hashes::bytea[]) AS request_hash,
        unnest(@accounts::text[]) AS account,
        unnest(@amounts::bigint[]) AS amount,
        unnest(@currencies::text[]) AS currency,
        unnest(@captures_manual::bool[]) AS capture_manual,
        unnest(@return_urls::text[]) AS return_url,
        unnest(@lease_untils::timestamptz[]) AS lease_until,
        unnest(@next_check_ats::timestamptz[]) AS next_check_at,
        unnest(@created_ats::timestamptz[]) AS created_at
) n;

-- Writes locked attempts, each guarded by the version that was read: all of them
-- or none.
-- name: AttemptsAdvance :exec
WITH done AS (
UPDATE payment_attempts a SET
    provider_payment_id = n.provider_payment_id,
    status = n.status,
    stage = n.stage,
    amount_authorized = n.amount_authorized,
    amount_captured = n.amount_captured,
    amount_reversed = n.amount_reversed,
    amount_disputed = n.amount_disputed,
    movements = n.movements,
    amount_refunded = n.amount_refunded,
    next_action_url = n.next_action_url,
    failure_code = n.failure_code,
    failure_message = n.failure_message,
    failure_provider_code = n.failure_provider_code,
    intent = n.intent,
    intent_amount = n.intent_amount,
    intent_number = n.intent_number,
    intent_at = n.intent_at,
    saved_payment_method = CASE n.saved_method WHEN '' THEN a.saved_payment_method ELSE n.saved_method::json END,
    version = n.version,
    fence = n.fence,
    lease_until = n.lease_until,
    checks = n.checks,
    next_check_at = n.next_check_at,
    updated_at = n.updated_at,
    finalized_at = n.finalized_at
FROM (
    SELECT unnest(@order_ids::text[]) AS order_id,
        unnest(@attempt_ids::uuid[]) AS attempt_id,
        unnest(@was::int[]) AS was,
        unnest(@provider_payment_ids::text[]) AS provider_payment_id,
        unnest(@statuses::text[])::attempt_status AS status,
        unnest(@stages::text[])::attempt_stage AS stage,
        unnest(@authorized::bigint[]) AS amount_authorized,
        unnest(@captured::bigint[]) AS amount_captured,
        unnest(@reversed::bigint[]) AS amount_reversed,
        unnest(@disputed::bigint[]) AS amount_disputed,
        unnest(@movements::int[]) AS movements,
        unnest(@refunded::bigint[]) AS amount_refunded,
        unnest(@next_action_urls::text[]) AS next_action_url,
        unnest(@failure_codes::text[]) AS failure_code,
        unnest(@failure_messages::text[]) AS failure_message,
        unnest(@failure_provider_codes::text[]) AS failure_provider_code,
        unnest(@intents::text[]) AS intent,
        unnest(@intent_amounts::bigint[]) AS intent_amount,
        unnest(@intent_numbers::int[]) AS intent_number,
        NULLIF(unnest(@intent_ats::timestamptz[]), '0001-01-01 00:00:00Z') AS intent_at,
        unnest(@saved_methods::text[]) AS saved_method,
        unnest(@versions::int[]) AS version,
        unnest(@fences::bigint[]) AS fence,
        NULLIF(unnest(@lease_untils::timestamptz[]), '0001-01-01 00:00:00Z') AS lease_until,
        unnest(@checks::int[]) AS checks,
        NULLIF(unnest(@next_check_ats::timestamptz[]), '0001-01-01 00:00:00Z') AS next_check_at,
        unnest(@updated_ats::timestamptz[]) AS updated_at,
        NULLIF(unnest(@finalized_ats::timestamptz[]), '0001-01-01 00:00:00Z') AS finalized_at
) n
WHERE a.order_id = n.order_id AND a.attempt_id = n.attempt_id AND a.version = n.was
RETURNING 1
)
SELECT must_touch('attempts_as_read', count(*), cardinality(@attempt_ids::uuid[])) FROM done;

-- Writes what locked attempts hold beside their payment, each guarded by the version
-- that was written before: all of them or none.
-- name: AttemptsHold :exec
WITH done AS (
UPDATE payment_attempts a SET
    foreign_amount = n.foreign_amount,
    foreign_currency = n.foreign_currency,
    foreign_returned = n.foreign_returned,
    hold_told_at = n.hold_told_at
FROM (
    SELECT unnest(@order_ids::text[]) AS order_id,
        unnest(@attempt_ids::uuid[]) AS attempt_id,
        unnest(@versions::int[]) AS version,
        unnest(@foreign_amounts::bigint[]) AS foreign_amount,
        unnest(@foreign_currencies::text[]) AS foreign_currency,
        unnest(@foreign_returned::bigint[]) AS foreign_returned,
        NULLIF(unnest(@hold_told_ats::timestamptz[]), '0001-01-01 00:00:00Z') AS hold_told_at
) n
WHERE a.order_id = n.order_id AND a.attempt_id = n.attempt_id AND a.version = n.version
RETURNING 1
)
SELECT must_touch('attempts_as_written', count(*), cardinality(@attempt_ids::uuid[])) FROM done;
