-- Counts what an erasure of one user finds; locks nothing.
-- name: ErasureCount :one
SELECT count(*) AS orders,
    count(*) FILTER (WHERE EXISTS (SELECT FROM payment_attempts a WHERE a.order_id = o.order_id AND a.status = 'pending')) AS waiting
FROM orders o WHERE o.user_id COLLATE "C" = @person::text;

-- Reads the open disputes of one user's orders, some of them; locks nothing.
-- name: ErasureDisputes :many
SELECT d.provider_dispute_id, d.account, d.order_id, d.due_by
FROM orders o JOIN disputes d ON d.order_id = o.order_id
WHERE o.user_id COLLATE "C" = @person::text AND d.closed_at IS NULL
ORDER BY d.opened_at, d.dispute_id LIMIT sqlc.arg(most)::int;

-- Begins an erasure, or begins it anew; writes one row and returns the pseudonym.
-- name: ErasureBegin :one
SELECT erasure_begin(@marks::bytea[], @fresh::text)::text AS pseudonym;

-- Ends an erasure; one row.
-- name: ErasureEnd :exec
SELECT erasure_end(@pseudonym::text);

-- Keeps the digests of the requests that made some orders of one user, by id.
-- name: EraseRequests :exec
SELECT erase_requests(@person::text, @behind::text, sqlc.arg(most)::int);

-- Gives some orders of one user, by id, and all that names the user beside them, to the pseudonym. Locks the orders, and passes over those
-- with an attempt that is not over.
-- name: EraseOrders :one
SELECT erase_orders(@person::text, @pseudonym::text, @behind::text, sqlc.arg(most)::int)::jsonb AS step;

-- Erases what providers sent about some orders of the pseudonym, by id, what is sealed of them, and who pressed. Locks the events, then the orders.
-- name: EraseDetails :one
SELECT erase_details(@person::text, @pseudonym::text, @everything::boolean, @behind::text, sqlc.arg(most)::int)::jsonb AS step;

-- Deletes so many keys of one user, and the user's quota. Skips what is locked.
-- name: EraseKeys :one
SELECT erase_keys(@person::text, sqlc.arg(most)::int)::jsonb AS step;

-- Deletes so many entries of the audit log that are older than the age to keep them, the oldest first, once the oldest is a day older. Waits for the lock of the log.
-- name: PurgeAudit :one
SELECT purge_audit(make_interval(secs => @keep::float8), @entry::uuid, sqlc.arg(most)::int)::bigint AS entries;

-- Deletes so many entries of the attempts' log that are older than the age to keep them, once one is a day older; one session at a time.
-- name: PurgeAttemptLog :one
SELECT purge_attempt_log(make_interval(secs => @keep::float8), @entry::uuid, sqlc.arg(most)::int)::bigint AS entries;
