-- Reads the disputes with some names. Locks nothing: the caller has locked the attempt of each dispute that it writes. The pairs
-- are matched by position.
-- name: DisputesNamed :many
SELECT d.* FROM (SELECT unnest(@accounts::text[]) AS account, unnest(@provider_dispute_ids::text[]) AS provider_dispute_id) n
JOIN disputes d ON d.account = n.account AND d.provider_dispute_id = n.provider_dispute_id;

-- Reads the disputes of some attempts, oldest first. Locks nothing.
-- name: DisputesOfAttempts :many
SELECT * FROM disputes WHERE attempt_id = ANY (@attempt_ids::uuid[]) ORDER BY attempt_id, dispute_id;

-- Reads one dispute. Locks nothing.
-- name: DisputeRead :one
SELECT * FROM disputes WHERE dispute_id = @dispute_id;

-- Inserts a dispute. An existing name is a unique violation; the caller decides again.
-- name: DisputeInsert :exec
INSERT INTO disputes (order_id, dispute_id, attempt_id, account, provider_dispute_id, status, reason, amount, currency, due_by, status_at,
    version, opened_at, updated_at, closed_at)
VALUES (@order_id, @dispute_id, @attempt_id, @account, @provider_dispute_id, @status, @reason, sqlc.narg(amount), sqlc.narg(currency),
    sqlc.narg(due_by), sqlc.narg(status_at), @version, @opened_at, @updated_at, sqlc.narg(closed_at));

-- Writes one dispute of a locked attempt, guarded by the version that was read.
-- name: DisputeAdvance :execrows
UPDATE disputes SET status = @status, reason = @reason, amount = sqlc.narg(amount), currency = sqlc.narg(currency), due_by = sqlc.narg(due_by),
    status_at = sqlc.narg(status_at), version = @version, updated_at = @updated_at, closed_at = sqlc.narg(closed_at)
WHERE order_id = @order_id AND dispute_id = @dispute_id AND version = @was;

-- Reads the reported moves of some disputes' money, oldest first. Locks nothing: the caller has locked the attempt of each
-- dispute that it writes. The pairs are matched by position.
-- name: DisputeMovesNamed :many
SELECT d.* FROM (SELECT unnest(@accounts::text[]) AS account, unnest(@disputes::text[]) AS dispute) n
JOIN dispute_moves d ON d.account = n.account AND d.dispute = n.dispute ORDER BY d.account, d.dispute, d.number;

-- Reads the reported moves of the money of some attempts' disputes, oldest first. Locks nothing.
-- name: DisputeMovesOfAttempts :many
SELECT * FROM dispute_moves WHERE attempt_id = ANY (@attempt_ids::uuid[]) ORDER BY attempt_id, dispute, number;

-- Appends a reported move of a dispute's money. An existing number is a unique violation; the caller decides again.
-- name: DisputeMoveInsert :exec
INSERT INTO dispute_moves (order_id, attempt_id, account, dispute, number, kind, entry, amount, currency, whole, at, recorded_at)
VALUES (@order_id, @attempt_id, @account, @dispute, @number, @kind, @entry, sqlc.narg(amount), sqlc.narg(currency), @whole, sqlc.narg(at), @recorded_at);
