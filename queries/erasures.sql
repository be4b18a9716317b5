-- Counts the rows that an erasure of a user would change. Locks nothing.
-- name: ErasureCount :one
SELECT count(*) AS orders,
    count(*) FILTER (WHERE EXISTS (SELECT FROM payment_attempts a WHERE a.order_id = o.order_id AND a.status = 'pending')) AS waiting
FROM orders o WHERE o.user_id COLLATE "C" = @person::text;

-- Reads a limited number of the open disputes of a user's orders. Locks nothing.
-- name: ErasureDisputes :many
SELECT d.provider_dispute_id, d.account, d.order_id, d.due_by
FROM orders o JOIN disputes d ON d.order_id = o.order_id
WHERE o.user_id COLLATE "C" = @person::text AND d.closed_at IS NULL
ORDER BY d.opened_at, d.dispute_id LIMIT sqlc.arg(most)::int;

-- Begins an erasure, or begins it again. Writes one row and returns the pseudonym.
-- name: ErasureBegin :one
SELECT erasure_begin(@marks::bytea[], @fresh::text)::text AS pseudonym;

-- Ends an erasure. Writes one row.
-- name: ErasureEnd :exec
SELECT erasure_end(@pseudonym::text);

-- Keeps the digests of the requests that created some orders of a user, by id.
-- name: EraseRequests :exec
SELECT erase_requests(@person::text, @behind::text, sqlc.arg(most)::int);

-- Gives some orders of a user, by id, to the pseudonym, with all other rows that name the user. Locks the orders, and skips
-- orders with an unfinished attempt.
-- name: EraseOrders :one
SELECT erase_orders(@person::text, @pseudonym::text, @behind::text, sqlc.arg(most)::int)::jsonb AS step;

-- Erases, for some orders of the pseudonym, by id, the bytes of webhooks, the sealed content, and the customer's name in the log.
-- Locks the events, then the orders.
-- name: EraseDetails :one
SELECT erase_details(@person::text, @pseudonym::text, @everything::boolean, @behind::text, sqlc.arg(most)::int)::jsonb AS step;

-- Deletes some keys of a user, and the user's quota. Skips locked rows.
-- name: EraseKeys :one
SELECT erase_keys(@person::text, sqlc.arg(most)::int)::jsonb AS step;

-- Deletes a limited number of audit entries that are older than the age to keep, the oldest first, once the oldest is a day
-- older. Waits for the lock of the log.
-- name: PurgeAudit :one
SELECT purge_audit(make_interval(secs => @keep::float8), @entry::uuid, sqlc.arg(most)::int)::bigint AS entries;

-- Deletes a limited number of entries of the attempts' log that are older than the age to keep, once one is a day older. Runs in
-- one session at a time.
-- name: PurgeAttemptLog :one
SELECT purge_attempt_log(make_interval(secs => @keep::float8), @entry::uuid, sqlc.arg(most)::int)::bigint AS entries;
