-- Opens one discrepancy; one that was opened for the same cause stays, and so
-- does an open dispute.
-- name: DiscrepancyOpen :exec
INSERT INTO discrepancies (discrepancy_id, kind, order_id, attempt_id, account, provider_event_id, about, amount, currency, text, opened_at)
VALUES (@discrepancy_id, @kind, sqlc.narg(order_id), sqlc.narg(attempt_id), @account, sqlc.narg(provider_event_id), @about, sqlc.narg(amount), sqlc.narg(currency), @text, @opened_at)
ON CONFLICT DO NOTHING;

-- Reads one discrepancy, locks nothing.
-- name: DiscrepancyRead :one
SELECT * FROM discrepancies WHERE discrepancy_id = @discrepancy_id;

-- Locks one discrepancy.
-- name: DiscrepancyLock :one
SELECT * FROM discrepancies WHERE discrepancy_id = @discrepancy_id FOR NO KEY UPDATE;

-- Closes one locked discrepancy that is open.
-- name: DiscrepancyResolve :execrows
UPDATE discrepancies SET resolved_at = @resolved_at, resolved_by = @resolved_by, resolution = @resolution, reason = @reason,
    provider_payment_id = @provider_payment_id
WHERE discrepancy_id = @discrepancy_id AND resolved_at IS NULL;
