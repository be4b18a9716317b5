-- Opens one discrepancy; one that was opened for the same cause stays.
-- name: DiscrepancyOpen :exec
INSERT INTO discrepancies (discrepancy_id, kind, order_id, attempt_id, account, provider_event_id, amount, currency, text, opened_at)
VALUES (@discrepancy_id, @kind, sqlc.narg(order_id), sqlc.narg(attempt_id), @account, sqlc.narg(provider_event_id), sqlc.narg(amount), sqlc.narg(currency), @text, @opened_at)
ON CONFLICT DO NOTHING;
