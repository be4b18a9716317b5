-- Inserts the cursors that an account lacks. Existing cursors stay. The pairs are matched by position.
-- name: FinalCursorsBegin :exec
INSERT INTO final_cursors (account, horizon_days, after, next_at)
SELECT @account::text, n.horizon_days, n.after, now()
FROM (SELECT unnest(@horizons::int[]) AS horizon_days, unnest(@afters::uuid[]) AS after) n
ON CONFLICT DO NOTHING
RETURNING 1;

-- Takes all cursors of an account for a turn. Returns no row while another process has them.
-- name: FinalCursorsTake :many
WITH taken AS (
    UPDATE final_cursors SET next_at = now() + make_interval(secs => @turn::float8)
    WHERE account = @account AND next_at <= now()
    RETURNING horizon_days, after, misses
)
SELECT t.horizon_days, t.after, t.misses, now()::timestamptz AS taken_at FROM taken t;

-- Moves a cursor, guarded by its old place. Returns 0 rows if another process has moved it.
-- name: FinalCursorMove :execrows
UPDATE final_cursors SET after = @after, misses = @misses
WHERE account = @account AND horizon_days = @horizon_days AND after = @was;

-- Lists the account's next final attempts whose money moved or could move: at most @most of the next @scan attempts of all
-- accounts, in the order of their ids. The last row is the last scanned attempt, final or not. Locks nothing.
-- name: FinalAttempts :many
WITH scanned AS MATERIALIZED (
    SELECT a.attempt_id, a.version,
        a.account = @account::text AND a.status <> 'pending'
            AND (a.provider_payment_id <> '' OR a.amount_captured <> 0 OR a.amount_authorized <> 0 OR a.foreign_money) AS wanted
    FROM payment_attempts a WHERE a.attempt_id > @after AND a.attempt_id < @until
    ORDER BY a.attempt_id LIMIT @scan::int
), found AS (
    SELECT s.attempt_id, s.version FROM scanned s WHERE s.wanted ORDER BY s.attempt_id LIMIT @most::int
), last AS (
    SELECT s.attempt_id, s.version FROM scanned s ORDER BY s.attempt_id DESC LIMIT 1
)
SELECT n.attempt_id::uuid AS attempt_id, n.version::int AS version, n.is_last::bool AS is_last FROM (
    SELECT attempt_id, version, false AS is_last FROM found
    UNION ALL
    SELECT attempt_id, version, true AS is_last FROM last
) n ORDER BY n.is_last, n.attempt_id;

-- Reserves a lookup of a final attempt. Returns 0 rows if a lookup was reserved less than @every seconds ago. Deletes some old
-- reservations.
-- name: FinalLookupReserve :execrows
WITH over AS (
    DELETE FROM final_lookups WHERE attempt_id IN (
        SELECT l.attempt_id FROM final_lookups l
        WHERE l.looked_up_at < now() - interval '1 minute' AND l.attempt_id <> @attempt_id
        LIMIT 100 FOR UPDATE SKIP LOCKED)
)
INSERT INTO final_lookups AS l (attempt_id, looked_up_at) VALUES (@attempt_id, now())
ON CONFLICT (attempt_id) DO UPDATE SET looked_up_at = EXCLUDED.looked_up_at
WHERE EXCLUDED.looked_up_at - l.looked_up_at >= make_interval(secs => @every::float8);

-- Reads, for each account whose lookups go on, how many seconds its next attempts are older than the age of their lookup. Locks
-- nothing.
-- name: FinalCursorsBehind :many
SELECT account, max(extract(epoch FROM now()) - horizon_days * 86400.0
    - ('x' || left(replace(after::text, '-', ''), 12))::bit(48)::bigint / 1000.0)::float8 AS seconds
FROM final_cursors WHERE next_at > now() - interval '1 hour' GROUP BY account ORDER BY account;
