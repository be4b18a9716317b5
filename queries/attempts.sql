-- Reads one attempt, locks nothing.
-- name: AttemptRead :one
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings
FROM payment_attempts a WHERE a.attempt_id = @attempt_id;

-- Reads the attempt of one request, locks nothing.
-- name: AttemptByRequest :one
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings
FROM payment_attempts a
WHERE a.order_id = @order_id AND a.user_id = @user_id AND a.client_request_id = @client_request_id;

-- Reads the attempts of some orders, oldest first, locks nothing.
-- name: AttemptsOfOrders :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings
FROM payment_attempts a WHERE a.order_id = ANY (@order_ids::text[])
ORDER BY a.order_id, a.created_at, a.attempt_id;

-- Locks all attempts of one order, which the caller has locked, by id.
-- name: AttemptsOfOrderLock :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at, false AS siblings
FROM payment_attempts a WHERE a.order_id = @order_id
ORDER BY a.attempt_id FOR NO KEY UPDATE;

-- Locks one attempt, waiting for whoever has it.
-- name: AttemptLock :one
SELECT sqlc.embed(a), now()::timestamptz AS read_at,
    EXISTS (SELECT FROM payment_attempts s WHERE s.order_id = a.order_id AND s.attempt_id <> a.attempt_id) AS siblings
FROM payment_attempts a WHERE a.attempt_id = @attempt_id
FOR NO KEY UPDATE OF a;

-- Locks those of some attempts that nobody else has locked; never waits.
-- name: AttemptsLockFree :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at,
    EXISTS (SELECT FROM payment_attempts s WHERE s.order_id = a.order_id AND s.attempt_id <> a.attempt_id) AS siblings
FROM payment_attempts a WHERE a.attempt_id = ANY (@attempt_ids::uuid[])
ORDER BY a.attempt_id
FOR NO KEY UPDATE OF a SKIP LOCKED;

-- Lists attempts that are due to be asked about; locks nothing.
-- name: AttemptsDue :many
SELECT attempt_id FROM payment_attempts
WHERE next_check_at <= now()
ORDER BY next_check_at LIMIT sqlc.arg(most)::int;

-- Inserts one attempt.
-- name: AttemptInsert :exec
INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage,
    amount, currency, capture_manual, return_url, sealed_token, version, fence, lease_until, next_check_at, created_at, updated_at)
VALUES (@order_id, @attempt_id, @user_id, @client_request_id, @request_hash, @account, 'pending', 'requested',
    @amount, @currency, @capture_manual, @return_url, @sealed_token, 1, 1, @lease_until, @next_check_at, @created_at, @created_at);

-- Writes locked attempts, each guarded by the version that was read.
-- name: AttemptsAdvance :execrows
UPDATE payment_attempts a SET
    provider_payment_id = n.provider_payment_id,
    status = n.status,
    stage = n.stage,
    amount_authorized = n.amount_authorized,
    amount_captured = n.amount_captured,
    amount_reversed = n.amount_reversed,
    amount_refunded = n.amount_refunded,
    next_action_url = n.next_action_url,
    failure_code = n.failure_code,
    failure_message = n.failure_message,
    failure_provider_code = n.failure_provider_code,
    intent = n.intent,
    intent_amount = n.intent_amount,
    intent_number = n.intent_number,
    intent_at = n.intent_at,
    sealed_token = CASE WHEN n.keep_token THEN a.sealed_token END,
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
        unnest(@refunded::bigint[]) AS amount_refunded,
        unnest(@next_action_urls::text[]) AS next_action_url,
        unnest(@failure_codes::text[]) AS failure_code,
        unnest(@failure_messages::text[]) AS failure_message,
        unnest(@failure_provider_codes::text[]) AS failure_provider_code,
        unnest(@intents::text[]) AS intent,
        unnest(@intent_amounts::bigint[]) AS intent_amount,
        unnest(@intent_numbers::int[]) AS intent_number,
        NULLIF(unnest(@intent_ats::timestamptz[]), '0001-01-01 00:00:00Z') AS intent_at,
        unnest(@keep_tokens::bool[]) AS keep_token,
        unnest(@versions::int[]) AS version,
        unnest(@fences::bigint[]) AS fence,
        NULLIF(unnest(@lease_untils::timestamptz[]), '0001-01-01 00:00:00Z') AS lease_until,
        unnest(@checks::int[]) AS checks,
        NULLIF(unnest(@next_check_ats::timestamptz[]), '0001-01-01 00:00:00Z') AS next_check_at,
        unnest(@updated_ats::timestamptz[]) AS updated_at,
        NULLIF(unnest(@finalized_ats::timestamptz[]), '0001-01-01 00:00:00Z') AS finalized_at
) n
WHERE a.order_id = n.order_id AND a.attempt_id = n.attempt_id AND a.version = n.was;
