-- Looks at the entries of the schedule that are due, the oldest first, and lists
-- those of their attempts that are. An entry that is early is put where its attempt
-- is, one that nobody waits for is taken away; both count as done. One entry too
-- many does no harm, so that several may look at once. Entries are searched by
-- attempt, which has few; many may be due at one time. IS TRUE keeps the pairs in a
-- hash: as a join they could be compared each with each.
-- name: AttemptsDue :one
WITH seen AS MATERIALIZED (
    SELECT c.due_at, c.attempt_id, a.next_check_at
    FROM attempt_checks c LEFT JOIN payment_attempts a ON a.attempt_id = c.attempt_id
    WHERE c.due_at <= now()
    ORDER BY c.due_at LIMIT sqlc.arg(entries)::int
), gone AS (
    DELETE FROM attempt_checks c
    WHERE c.attempt_id = ANY (ARRAY(SELECT attempt_id FROM seen))
        AND ((c.due_at, c.attempt_id) IN (SELECT due_at, attempt_id FROM seen WHERE next_check_at IS NULL OR next_check_at > now())) IS TRUE
    RETURNING 1
), moved AS (
    INSERT INTO attempt_checks (due_at, attempt_id)
    SELECT DISTINCT next_check_at, attempt_id FROM seen WHERE next_check_at > now()
)
SELECT (SELECT count(*) FROM seen)::int AS seen, (SELECT count(*) FROM gone)::int AS done,
    ARRAY(
        SELECT attempt_id FROM seen WHERE next_check_at <= now()
        GROUP BY attempt_id, next_check_at ORDER BY next_check_at LIMIT sqlc.arg(most)::int
    )::uuid[] AS due;

-- Tells for how many seconds that has been due which is due longest, of attempts,
-- refunds and parked events; fewer than none if nothing is due. Each is the first
-- entry of an index. What has nothing to wait for is not listed.
-- name: Overdue :many
SELECT 'attempts' AS what, extract(epoch FROM now() - min(due_at))::float8 AS seconds FROM attempt_checks HAVING min(due_at) IS NOT NULL
UNION ALL
SELECT 'refunds', extract(epoch FROM now() - min(next_check_at))::float8 FROM refunds WHERE next_check_at IS NOT NULL HAVING min(next_check_at) IS NOT NULL
UNION ALL
SELECT 'events', extract(epoch FROM now() - min(next_try_at))::float8 FROM provider_events WHERE next_try_at IS NOT NULL HAVING min(next_try_at) IS NOT NULL;
