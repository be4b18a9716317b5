-- Locks all refunds of some attempts, which the caller has locked, by id.
-- name: RefundsLock :many
SELECT sqlc.embed(r), now()::timestamptz AS read_at
FROM refunds r WHERE r.attempt_id = ANY (@attempt_ids::uuid[])
ORDER BY r.refund_id FOR NO KEY UPDATE;

-- Reads one refund, locks nothing.
-- name: RefundRead :one
SELECT sqlc.embed(r), now()::timestamptz AS read_at FROM refunds r WHERE r.refund_id = @refund_id;

-- Reads the refund of one request, locks nothing.
-- name: RefundByRequest :one
SELECT sqlc.embed(r), now()::timestamptz AS read_at
FROM refunds r WHERE r.attempt_id = @attempt_id AND r.user_id = @user_id::text AND r.client_request_id = @client_request_id::text;

-- Lists refunds of an account that are due to be asked about; locks nothing.
-- name: RefundsDue :many
SELECT refund_id FROM refunds WHERE account = @account AND next_check_at <= now() ORDER BY next_check_at LIMIT sqlc.arg(most)::int;

-- Inserts one refund; the same request twice is a unique violation.
-- name: RefundInsert :exec
INSERT INTO refunds (order_id, refund_id, attempt_id, origin, user_id, client_request_id, request_hash, account, provider_refund_id,
    status, amount, currency, reason, failure_code, failure_message, failure_provider_code, reversed, version, fence,
    lease_until, checks, next_check_at, created_at, updated_at, finalized_at)
VALUES (@order_id, @refund_id, @attempt_id, @origin, sqlc.narg(user_id), sqlc.narg(client_request_id), sqlc.narg(request_hash), @account, @provider_refund_id,
    @status, @amount, @currency, @reason, @failure_code, @failure_message, @failure_provider_code, @reversed, @version, @fence,
    sqlc.narg(lease_until), @checks, sqlc.narg(next_check_at), @created_at, @updated_at, sqlc.narg(finalized_at));

-- Writes one locked refund, guarded by the version that was read.
-- name: RefundAdvance :execrows
UPDATE refunds SET provider_refund_id = @provider_refund_id, former_provider_refund_id = @former_provider_refund_id, status = @status, failure_code = @failure_code,
    failure_message = @failure_message, failure_provider_code = @failure_provider_code, reversed = @reversed,
    version = @version, fence = @fence, lease_until = sqlc.narg(lease_until), checks = @checks,
    next_check_at = sqlc.narg(next_check_at), updated_at = @updated_at, finalized_at = sqlc.narg(finalized_at)
WHERE order_id = @order_id AND refund_id = @refund_id AND version = @was;
