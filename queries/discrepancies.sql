-- Opens a discrepancy and publishes it. A discrepancy with the same cause stays, and so does an open dispute. The discrepancy of
-- an event with changed content belongs to the attempt of the event's first content.
-- name: DiscrepancyOpen :exec
WITH opened AS (
INSERT INTO discrepancies (discrepancy_id, kind, order_id, attempt_id, account, provider_event_id, about, about_id, amount, currency, text, caused_by, opened_at, of_account)
SELECT @discrepancy_id, @kind, coalesce(sqlc.narg(order_id)::text, e.order_id), coalesce(sqlc.narg(attempt_id)::uuid, e.attempt_id), @account,
    sqlc.narg(provider_event_id)::text, @about, @about_id, sqlc.narg(amount), sqlc.narg(currency), @text, @caused_by, @opened_at,
    a.account
FROM (SELECT 1) one
LEFT JOIN provider_events e ON @kind::text = 'event_changed' AND e.account = @account::text AND e.provider_event_id = sqlc.narg(provider_event_id)::text
LEFT JOIN payment_attempts a ON @account::text = '' AND a.order_id = sqlc.narg(order_id)::text AND a.attempt_id = sqlc.narg(attempt_id)::uuid
ON CONFLICT DO NOTHING
RETURNING order_id
), batch AS (
INSERT INTO outbox_batches (events, created_at) SELECT 1, @opened_at FROM opened RETURNING batch
)
INSERT INTO outbox (batch, nth, order_id, message_id, subject, type, version, payload, created_at)
SELECT batch.batch, 1, coalesce(opened.order_id, ''), @message_id, @subject, @type, @version, @payload::json, @opened_at FROM opened, batch
ON CONFLICT (order_id, message_id) DO NOTHING
RETURNING 1;

-- Reads one discrepancy. Locks nothing.
-- name: DiscrepancyRead :one
SELECT * FROM discrepancies WHERE discrepancy_id = @discrepancy_id;

-- Locks one discrepancy.
-- name: DiscrepancyLock :one
SELECT * FROM discrepancies WHERE discrepancy_id = @discrepancy_id FOR NO KEY UPDATE;

-- Writes the proposal of the first of two persons into a locked, open discrepancy.
-- name: DiscrepancyPropose :execrows
UPDATE discrepancies SET proposed_at = @proposed_at, proposed_by = @proposed_by, proposed_payment_id = @proposed_payment_id,
    proposed_reason = @proposed_reason, proposed_resolution = @proposed_resolution
WHERE discrepancy_id = @discrepancy_id AND resolved_at IS NULL;

-- Closes a locked, open discrepancy.
-- name: DiscrepancyResolve :execrows
UPDATE discrepancies SET resolved_at = @resolved_at, resolved_by = @resolved_by, resolution = @resolution, reason = @reason,
    provider_payment_id = @provider_payment_id
WHERE discrepancy_id = @discrepancy_id AND resolved_at IS NULL;
