-- Reads a key that has not expired. Locks nothing.
-- name: KeyReadLive :one
SELECT * FROM idempotency_keys
WHERE user_id = @user_id AND endpoint = @endpoint AND key = @key AND expires_at > now();

-- Reads keys, also expired ones. Locks nothing. The triples are matched by position.
-- name: KeysRead :many
SELECT sqlc.embed(k), (k.expires_at <= now())::boolean AS expired FROM idempotency_keys k
JOIN (SELECT unnest(@user_ids::text[]) AS user_id, unnest(@endpoints::text[]) AS endpoint, unnest(@keys::text[]) AS key) n
    ON k.user_id = n.user_id AND k.endpoint = n.endpoint AND k.key = n.key;

-- Stores the responses of new or expired keys, and of keys that their runner has left: all keys or no key, in the order of their
-- names.
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
WHERE k.expires_at <= EXCLUDED.created_at OR (NOT k.answered AND k.lease_until <= EXCLUDED.created_at AND k.request_hash = EXCLUDED.request_hash)
RETURNING 1
)
SELECT must_touch('keys_as_read', count(*), cardinality(@keys::text[])) FROM done;

-- Estimates the number of keys from the statistics. Counts few keys if the table was never analyzed; a table that is on another
-- server looks so from here. Locks nothing.
-- name: KeysEstimate :one
SELECT (CASE WHEN c.reltuples >= 0 THEN c.reltuples ELSE greatest(
    (SELECT count(*) FROM (SELECT 1 FROM idempotency_keys LIMIT 1000) few),
    (SELECT pg_stat_get_live_tuples(k.tableoid) FROM idempotency_keys k LIMIT 1)) END)::bigint AS keys
FROM pg_catalog.pg_class c WHERE c.oid = 'idempotency_keys'::regclass;
