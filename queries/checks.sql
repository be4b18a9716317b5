-- Lists the accounts that have an attempt or a refund to be asked about now; reads
-- the first entry of each account's schedule alone.
-- name: AccountsDue :many
WITH RECURSIVE checked (account, at) AS (
    (SELECT account, due_at FROM attempt_checks ORDER BY account, due_at LIMIT 1)
    UNION ALL
    SELECT n.account, n.due_at FROM checked p CROSS JOIN LATERAL (
        SELECT c.account, c.due_at FROM attempt_checks c WHERE c.account > p.account ORDER BY c.account, c.due_at LIMIT 1
    ) n
), refunding (account, at) AS (
    (SELECT account, next_check_at FROM refunds WHERE next_check_at IS NOT NULL ORDER BY account, next_check_at LIMIT 1)
    UNION ALL
    SELECT n.account, n.next_check_at FROM refunding p CROSS JOIN LATERAL (
        SELECT r.account, r.next_check_at FROM refunds r WHERE r.next_check_at IS NOT NULL AND r.account > p.account
        ORDER BY r.account, r.next_check_at LIMIT 1
    ) n
)
SELECT account::text FROM checked WHERE at <= now()
UNION
SELECT account::text FROM refunding WHERE at <= now();

-- Looks at an account's entries of the schedule that are due, the oldest first, and
-- lists those of their attempts that are. An entry that is early is put where its attempt
-- is, one that nobody waits for is taken away; both count as done. One entry too
-- many does no harm, so that several may look at once. Entries are searched by
-- attempt, which has few; many may be due at one time. IS TRUE keeps the pairs in a
-- hash: as a join they could be compared each with each.
-- name: AttemptsDue :one
WITH seen AS MATERIALIZED (
    SELECT c.due_at, c.attempt_id, a.next_check_at
    FROM attempt_checks c LEFT JOIN payment_attempts a ON a.attempt_id = c.attempt_id
    WHERE c.account = @account AND c.due_at <= now()
    ORDER BY c.due_at LIMIT sqlc.arg(entries)::int
), gone AS (
    DELETE FROM attempt_checks c
    WHERE c.attempt_id = ANY (ARRAY(SELECT attempt_id FROM seen))
        AND ((c.due_at, c.attempt_id) IN (SELECT due_at, attempt_id FROM seen WHERE next_check_at IS NULL OR next_check_at > now())) IS TRUE
    RETURNING 1
), moved AS (
    INSERT INTO attempt_checks (due_at, attempt_id, account)
    SELECT DISTINCT next_check_at, attempt_id, @account FROM seen WHERE next_check_at > now()
)
SELECT (SELECT count(*) FROM seen)::int AS seen, (SELECT count(*) FROM gone)::int AS done,
    ARRAY(
        SELECT attempt_id FROM seen WHERE next_check_at <= now()
        GROUP BY attempt_id, next_check_at ORDER BY next_check_at LIMIT sqlc.arg(most)::int
    )::uuid[] AS due;

-- Tells for how many seconds that has been due which is due longest, of attempts,
-- refunds and parked events; fewer than none if nothing is due. Each is the first
-- entry of an index, of each account. What has nothing to wait for is not listed.
-- name: Overdue :many
WITH RECURSIVE checked (account, at) AS (
    (SELECT account, due_at FROM attempt_checks ORDER BY account, due_at LIMIT 1)
    UNION ALL
    SELECT n.account, n.due_at FROM checked p CROSS JOIN LATERAL (
        SELECT c.account, c.due_at FROM attempt_checks c WHERE c.account > p.account ORDER BY c.account, c.due_at LIMIT 1
    ) n
), refunding (account, at) AS (
    (SELECT account, next_check_at FROM refunds WHERE next_check_at IS NOT NULL ORDER BY account, next_check_at LIMIT 1)
    UNION ALL
    SELECT n.account, n.next_check_at FROM refunding p CROSS JOIN LATERAL (
        SELECT r.account, r.next_check_at FROM refunds r WHERE r.next_check_at IS NOT NULL AND r.account > p.account
        ORDER BY r.account, r.next_check_at LIMIT 1
    ) n
)
SELECT 'attempts' AS what, extract(epoch FROM now() - min(at))::float8 AS seconds FROM checked HAVING min(at) IS NOT NULL
UNION ALL
SELECT 'refunds', extract(epoch FROM now() - min(at))::float8 FROM refunding HAVING min(at) IS NOT NULL
UNION ALL
SELECT 'events', extract(epoch FROM now() - min(next_try_at))::float8 FROM provider_events WHERE next_try_at IS NOT NULL HAVING min(next_try_at) IS NOT NULL;
