-- Writes news for the merchant. Each is of one version of its attempt, so that the
-- same news can't come twice: the log would have refused that version.
-- name: OutboxInsert :exec
INSERT INTO outbox (message_id, order_id, attempt_id, type, version, payload, created_at)
SELECT unnest(@message_ids::uuid[]), unnest(@order_ids::text[]), unnest(@attempt_ids::uuid[]), unnest(@types::text[]),
    unnest(@versions::int[]), unnest(@payloads::text[])::json, unnest(@created_ats::timestamptz[]);
