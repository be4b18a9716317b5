-- Claims one key that is new, expired, or whose runner's lease ran out with the
-- same request; else touches nothing. Waits for a transaction that claims it.
-- name: KeyClaim :one
INSERT INTO idempotency_keys AS k (user_id, endpoint, key, request_hash, lease_until, created_at, expires_at)
VALUES (@user_id, @endpoint, @key, @request_hash, now() + make_interval(secs => @lease::float8), now(), now() + make_interval(secs => @keep::float8))
ON CONFLICT (user_id, endpoint, key) DO UPDATE SET
    request_hash = EXCLUDED.request_hash,
    answered = false, status = 0, headers = '{}', body = NULL,
    subject = CASE WHEN k.expires_at <= now() THEN '' ELSE k.subject END,
    fence = k.fence + 1,
    lease_until = EXCLUDED.lease_until,
    created_at = EXCLUDED.created_at,
    expires_at = EXCLUDED.expires_at
WHERE k.expires_at <= now() OR (NOT k.answered AND k.lease_until <= now() AND k.request_hash = EXCLUDED.request_hash)
RETURNING *;

-- Reads one key, locks nothing.
-- name: KeyRead :one
SELECT * FROM idempotency_keys WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key;

-- Stores the answer of the runner that holds the fence.
-- name: KeyAnswer :execrows
UPDATE idempotency_keys SET answered = true, status = @status, headers = @headers, body = sqlc.narg(body), subject = @subject,
    expires_at = now() + make_interval(secs => @keep::float8)
WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key AND fence = @fence AND NOT answered;

-- Extends the lease of the runner that holds the fence.
-- name: KeyExtend :execrows
UPDATE idempotency_keys SET lease_until = now() + make_interval(secs => @lease::float8)
WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key AND fence = @fence AND NOT answered;

-- Ends the lease of a runner without an answer, so that the key may be tried
-- again. The row stays: its fence must not start anew while a runner may wake.
-- name: KeyRelease :execrows
UPDATE idempotency_keys SET lease_until = now()
WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key AND fence = @fence AND NOT answered;

-- Deletes expired keys, as many as are asked for; skips what is locked.
-- name: KeysPurge :execrows
DELETE FROM idempotency_keys k USING (
    SELECT user_id, endpoint, key FROM idempotency_keys
    WHERE expires_at <= now() ORDER BY expires_at LIMIT sqlc.arg(most)::int
    FOR UPDATE SKIP LOCKED
) old
WHERE k.user_id = old.user_id AND k.endpoint = old.endpoint AND k.key = old.key;

-- Estimates how many keys there are, from the statistics; counts them while
-- there are none, which is while they are few. Locks nothing.
-- name: KeysEstimate :one
SELECT (CASE WHEN c.reltuples < 0 THEN (SELECT count(*) FROM idempotency_keys) ELSE c.reltuples END)::bigint AS keys
FROM pg_catalog.pg_class c WHERE c.oid = 'idempotency_keys'::regclass;

-- Counts one key of a user in the window of now, unless it is known already (then
-- there is no row), and returns the count and how long the window still lasts. Its own commit need not reach the disk.
-- name: QuotaTake :one
WITH lax AS (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO key_quotas AS q (user_id, window_at, used)
SELECT @user_id::text, date_bin(make_interval(secs => @per::float8), now(), '2000-01-01'), 1 FROM lax
WHERE NOT EXISTS (
    SELECT FROM idempotency_keys k
    WHERE k.user_id = @user_id::text AND k.endpoint = @endpoint AND k.key = @key AND k.expires_at > now())
ON CONFLICT (user_id) DO UPDATE SET
    used = CASE WHEN q.window_at = EXCLUDED.window_at THEN q.used + 1 ELSE 1 END,
    window_at = EXCLUDED.window_at
RETURNING used, extract(epoch FROM window_at + make_interval(secs => @per::float8) - now())::float8 AS seconds_left;

-- Reads one key that is not expired, locks nothing.
-- name: KeyReadLive :one
SELECT * FROM idempotency_keys
WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key AND expires_at > now();
