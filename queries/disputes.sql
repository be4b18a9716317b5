-- Reads the disputes of some names; locks nothing. The caller has locked the attempt of each that it
-- writes. The pairs are matched by position.
-- name: DisputesNamed :many
SELECT d.* FROM (SELECT unnest(@accounts::text[]) AS account, unnest(@provider_dispute_ids::text[]) AS provider_dispute_id) n
JOIN disputes d ON d.account = n.account AND d.provider_dispute_id = n.provider_dispute_id;

-- Reads the disputes of some attempts, oldest first; locks nothing.
-- name: DisputesOfAttempts :many
SELECT * FROM disputes WHERE attempt_id = ANY (@attempt_ids::uuid[]) ORDER BY attempt_id, dispute_id;

-- Reads one dispute; locks nothing.
-- name: DisputeRead :one
SELECT * FROM disputes WHERE dispute_id = @dispute_id;

-- Inserts one dispute; its name twice is a unique violation: the caller decides anew.
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

-- Reads what reports stated that some disputes took and returned, oldest first; locks nothing. The caller has locked the attempt of each
-- that it writes. The pairs are matched by position.
-- name: DisputeMovesNamed :many
SELECT d.* FROM (SELECT unnest(@accounts::text[]) AS account, unnest(@disputes::text[]) AS dispute) n
JOIN dispute_moves d ON d.account = n.account AND d.dispute = n.dispute ORDER BY d.account, d.dispute, d.number;

-- Reads what reports stated that the disputes of some attempts took and returned, oldest first; locks nothing.
-- name: DisputeMovesOfAttempts :many
SELECT * FROM dispute_moves WHERE attempt_id = ANY (@attempt_ids::uuid[]) ORDER BY attempt_id, dispute, number;

-- Appends what a report stated that a dispute took or returned. A number twice is a unique violation: the caller decides anew.
-- name: DisputeMoveInsert :exec
INSERT INTO dispute_moves (order_id, attempt_id, account, dispute, number, kind, entry, amount, currency, whole, at, recorded_at)
VALUES (@order_id, @attempt_id, @account, @dispute, @number, @kind, @entry, sqlc.narg(amount), sqlc.narg(currency), @whole, sqlc.narg(at), @recorded_at);
