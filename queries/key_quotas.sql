-- Counts the new keys of users in the present window. Returns each key's number in its user's window, 0 for a stored key, and the
-- seconds until the window ends. Its own commit need not reach the disk.
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
