-- Claims a key that is new, expired or released, or whose runner's lease has ended with the same request; such a key keeps its
-- creation time. Otherwise writes nothing. Waits for a transaction that claims the key.
-- name: KeyClaim :one
INSERT INTO idempotency_keys AS k (user_id, endpoint, key, request_hash, lease_until, created_at, expires_at)
VALUES (@user_id, @endpoint, @key, @request_hash, now() + make_interval(secs => @lease::float8), now(), now() + make_interval(secs => @keep::float8))
ON CONFLICT (user_id, endpoint, key) DO UPDATE SET
    request_hash = EXCLUDED.request_hash,
    answered = false, status = 0, headers = '{}', body = NULL,
    subject = CASE WHEN k.expires_at <= EXCLUDED.created_at THEN '' ELSE k.subject END,
    fence = k.fence + 1,
    lease_until = EXCLUDED.lease_until,
    created_at = CASE WHEN k.expires_at <= EXCLUDED.created_at THEN EXCLUDED.created_at ELSE k.created_at END,
    expires_at = EXCLUDED.expires_at
WHERE k.expires_at <= EXCLUDED.created_at OR (NOT k.answered AND k.lease_until <= EXCLUDED.created_at AND k.request_hash IN (EXCLUDED.request_hash, ''))
RETURNING *;

-- Reads one key. Locks nothing.
-- name: KeyRead :one
SELECT * FROM idempotency_keys WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key;

-- Stores the response of the runner that holds the fence.
-- name: KeyRespond :execrows
UPDATE idempotency_keys SET answered = true, status = @status, headers = @headers, body = sqlc.narg(body), subject = @subject,
    expires_at = now() + make_interval(secs => @keep::float8)
WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key AND fence = @fence AND NOT answered;

-- Extends the lease of the runner that holds the fence.
-- name: KeyExtend :execrows
UPDATE idempotency_keys SET lease_until = now() + make_interval(secs => @lease::float8)
WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key AND fence = @fence AND NOT answered;

-- Ends the lease of a runner without a response, so that any request may use the key again. The row stays, because its fence must
-- not begin again while a frozen runner may wake.
-- name: KeyRelease :execrows
UPDATE idempotency_keys SET lease_until = now(), request_hash = ''
WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key AND fence = @fence AND NOT answered;

-- Deletes a limited number of expired keys. Skips locked rows.
-- name: KeysPurge :execrows
DELETE FROM idempotency_keys k USING (
    SELECT user_id, endpoint, key FROM idempotency_keys
    WHERE expires_at <= now() ORDER BY expires_at LIMIT sqlc.arg(most)::int
    FOR UPDATE SKIP LOCKED
) old
WHERE k.user_id = old.user_id AND k.endpoint = old.endpoint AND k.key = old.key;
