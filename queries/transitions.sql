-- Appends to the log of attempts.
-- name: TransitionsInsert :exec
INSERT INTO attempt_transitions (order_id, attempt_id, version, from_stage, to_stage, cause, cause_id, detail, at)
SELECT unnest(@order_ids::text[]), unnest(@attempt_ids::uuid[]), unnest(@versions::int[]), unnest(@from_stages::text[]),
    unnest(@to_stages::text[]), unnest(@causes::text[]), unnest(@cause_ids::text[]), unnest(@details::text[])::json,
    unnest(@ats::timestamptz[])
RETURNING 1;

-- Reads the log of one attempt, oldest first.
-- name: TransitionsOfAttempt :many
SELECT * FROM attempt_transitions WHERE order_id = @order_id AND attempt_id = @attempt_id ORDER BY version;
