-- Reads all refunds of some attempts, by id. The caller has locked the attempts.
-- name: RefundsOfAttempts :many
SELECT sqlc.embed(r), now()::timestamptz AS read_at
FROM refunds r WHERE r.attempt_id = ANY (@attempt_ids::uuid[])
ORDER BY r.refund_id;

-- Reads one refund with the lease of its open operation. Locks nothing.
-- name: RefundRead :one
SELECT sqlc.embed(r), now()::timestamptz AS read_at, o.lease_until, o.next_at
FROM refunds r LEFT JOIN operations o ON o.attempt_id = r.attempt_id AND o.slot = r.refund_id::text AND o.open
WHERE r.refund_id = @refund_id;

-- Reads the refund of one request with the lease of its open operation. Locks nothing.
-- name: RefundByRequest :one
SELECT sqlc.embed(r), now()::timestamptz AS read_at, o.lease_until, o.next_at
FROM refunds r LEFT JOIN operations o ON o.attempt_id = r.attempt_id AND o.slot = r.refund_id::text AND o.open
WHERE r.attempt_id = @attempt_id AND r.user_id = @user_id::text AND r.client_request_id = @client_request_id::text;

-- Inserts a refund. A second refund of the same request is a unique violation.
-- name: RefundInsert :exec
INSERT INTO refunds (order_id, refund_id, attempt_id, origin, user_id, client_request_id, request_hash, account, provider_refund_id, provider_payment_id,
    status, amount, currency, reason, failure_code, failure_message, failure_provider_code, version, created_at, updated_at, finalized_at)
VALUES (@order_id, @refund_id, @attempt_id, @origin, sqlc.narg(user_id), sqlc.narg(client_request_id), sqlc.narg(request_hash), @account, @provider_refund_id, @provider_payment_id,
    @status, @amount, @currency, @reason, @failure_code, @failure_message, @failure_provider_code, @version, @created_at, @updated_at, sqlc.narg(finalized_at));

-- Writes one refund of a locked attempt, guarded by the version that was read.
-- name: RefundAdvance :execrows
UPDATE refunds SET provider_refund_id = @provider_refund_id, status = @status, failure_code = @failure_code,
    failure_message = @failure_message, failure_provider_code = @failure_provider_code,
    version = @version, updated_at = @updated_at, finalized_at = sqlc.narg(finalized_at)
WHERE order_id = @order_id AND refund_id = @refund_id AND version = @was;
