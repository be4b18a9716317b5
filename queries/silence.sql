-- Notes when some accounts were last heard from, in the order of their names; an
-- earlier time than the one that is there changes nothing.
-- name: AccountsHeard :exec
INSERT INTO accounts_heard AS h (account, heard_at)
SELECT n.account, n.heard_at FROM (
    SELECT unnest(@accounts::text[]) AS account, unnest(@heard_ats::timestamptz[]) AS heard_at
) n ORDER BY n.account
ON CONFLICT (account) DO UPDATE SET heard_at = EXCLUDED.heard_at WHERE h.heard_at < EXCLUDED.heard_at;

-- Counts, by those of some accounts that were not heard from for a while, the
-- attempts that have been pending for as long, began after the account was last
-- heard from, and wait for its news; those that have been silent for a day at most.
-- Where all were heard from no attempt is read. Locks nothing.
-- name: AccountsSilent :many
WITH quiet AS MATERIALIZED (
    SELECT n.account, h.heard_at
    FROM (SELECT unnest(@accounts::text[]) AS account) n LEFT JOIN accounts_heard h ON h.account = n.account
    WHERE h.heard_at IS NULL OR h.heard_at < now() - make_interval(secs => @silent_after::float8)
)
SELECT a.account, count(DISTINCT a.attempt_id)::int AS pending, min(a.created_at)::timestamptz AS since, q.heard_at
FROM attempt_checks c JOIN payment_attempts a ON a.attempt_id = c.attempt_id JOIN quiet q ON q.account = a.account
WHERE EXISTS (SELECT FROM quiet)
    AND a.next_check_at IS NOT NULL AND a.status = 'pending' AND a.stage <> 'authorized'
    AND a.created_at < now() - make_interval(secs => @silent_after::float8)
    AND a.created_at > now() - make_interval(days => 1, secs => @silent_after::float8)
    AND (q.heard_at IS NULL OR q.heard_at < a.created_at)
GROUP BY a.account, q.heard_at
ORDER BY a.account;
