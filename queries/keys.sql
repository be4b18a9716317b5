-- Claims one key that is new, expired, released, or whose runner's lease ran out with
-- the same request, which then keeps its time; else touches nothing. Waits for a
-- transaction that claims it.
-- name: KeyClaim :one
INSERT INTO idempotency_keys AS k (user_id, endpoint, key, request_hash, lease_until, created_at, expires_at)
VALUES (@user_id, @endpoint, @key, @request_hash, now() + make_interval(secs => @lease::float8), now(), now() + make_interval(secs => @keep::float8))
ON CONFLICT (user_id, endpoint, key) DO UPDATE SET
    request_hash = EXCLUDED.request_hash,
    answered = false, status = 0, headers = '{}', body = NULL,
    subject = CASE WHEN k.expires_at <= now() THEN '' ELSE k.subject END,
    fence = k.fence + 1,
    lease_until = EXCLUDED.lease_until,
    created_at = CASE WHEN k.expires_at <= now() THEN EXCLUDED.created_at ELSE k.created_at END,
    expires_at = EXCLUDED.expires_at
WHERE k.expires_at <= now() OR (NOT k.answered AND k.lease_until <= now() AND k.request_hash IN (EXCLUDED.request_hash, ''))
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

-- Ends the lease of a runner without an answer, so that the key is unused again, by
-- any request. The row stays: its fence must not start anew while a runner may wake.
-- name: KeyRelease :execrows
UPDATE idempotency_keys SET lease_until = now(), request_hash = ''
WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key AND fence = @fence AND NOT answered;

-- Deletes expired keys, as many as given; skips what is locked.
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

-- Counts keys of users in the window of now, except those that are there
-- already, and returns of each which one of its user's it is (0: there) and how long
-- the window still lasts. Its own commit need not reach the disk.
-- name: QuotasTake :many
WITH lax AS (SELECT set_config('synchronous_commit', 'off', true)),
asked AS (
    SELECT n.ord, n.user_id, (k.key IS NULL OR k.expires_at <= now()) AS fresh
    FROM (SELECT unnest(@ords::int[]) AS ord, unnest(@user_ids::text[]) AS user_id,
        unnest(@endpoints::text[]) AS endpoint, unnest(@keys::text[]) AS key) n
    LEFT JOIN idempotency_keys k ON k.user_id = n.user_id AND k.endpoint = n.endpoint AND k.key = n.key
),
counted AS (
    INSERT INTO key_quotas AS q (user_id, window_at, used)
    SELECT a.user_id, date_bin(make_interval(secs => @per::float8), now(), '2000-01-01'), count(*)
    FROM asked a, lax WHERE a.fresh GROUP BY a.user_id ORDER BY a.user_id
    ON CONFLICT (user_id) DO UPDATE SET
        used = CASE WHEN q.window_at = EXCLUDED.window_at THEN q.used + EXCLUDED.used ELSE EXCLUDED.used END,
        window_at = EXCLUDED.window_at
    RETURNING q.user_id, q.used, extract(epoch FROM q.window_at + make_interval(secs => @per::float8) - now())::float8 AS seconds_left
)
SELECT a.ord::int AS ord,
    (CASE WHEN a.fresh THEN c.used - count(*) OVER (PARTITION BY a.user_id, a.fresh)
        + row_number() OVER (PARTITION BY a.user_id, a.fresh ORDER BY a.ord) ELSE 0 END)::bigint AS nth,
    coalesce(c.seconds_left, 0)::float8 AS seconds_left
FROM asked a LEFT JOIN counted c ON c.user_id = a.user_id;

-- Reads keys, expired ones included, locks nothing. The triples are matched by
-- position.
-- name: KeysRead :many
SELECT sqlc.embed(k), (k.expires_at <= now())::boolean AS expired FROM idempotency_keys k
JOIN (SELECT unnest(@user_ids::text[]) AS user_id, unnest(@endpoints::text[]) AS endpoint, unnest(@keys::text[]) AS key) n
    ON k.user_id = n.user_id AND k.endpoint = n.endpoint AND k.key = n.key;

-- Stores the responses of keys that are new, expired, or left by their runner: all
-- of them or none, in the order of their names.
-- name: KeysStore :exec
WITH done AS (
INSERT INTO idempotency_keys AS k (user_id, endpoint, key, request_hash, answered, status, headers, body, subject, lease_until, created_at, expires_at)
SELECT n.user_id, n.endpoint, n.key, n.request_hash, true, n.status, n.headers::jsonb, NULLIF(n.body, ''::bytea), n.subject, now(), now(), now() + make_interval(secs => n.keep)
FROM (
    SELECT unnest(@user_ids::text[]) AS user_id, unnest(@endpoints::text[]) AS endpoint, unnest(@keys::text[]) AS key,
        unnest(@request_hashes::bytea[]) AS request_hash, unnest(@statuses::int[]) AS status, unnest(@headers::text[]) AS headers,
        unnest(@bodies::bytea[]) AS body, unnest(@subjects::text[]) AS subject, unnest(@keeps::float8[]) AS keep
) n
ORDER BY n.user_id, n.endpoint, n.key
ON CONFLICT (user_id, endpoint, key) DO UPDATE SET
    request_hash = EXCLUDED.request_hash, answered = true, status = EXCLUDED.status, headers = EXCLUDED.headers, body = EXCLUDED.body,
    subject = EXCLUDED.subject, fence = k.fence + 1, lease_until = EXCLUDED.lease_until, created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at
WHERE k.expires_at <= now() OR (NOT k.answered AND k.lease_until <= now() AND k.request_hash = EXCLUDED.request_hash)
RETURNING 1
)
SELECT must_touch('keys_as_read', count(*), cardinality(@keys::text[])) FROM done;

-- Reads one key that is not expired, locks nothing.
-- name: KeyReadLive :one
SELECT * FROM idempotency_keys
WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key AND expires_at > now();
