-- Reads the mark, which server it is on, and the accounts that are held. Locks nothing.
-- name: MarkRead :one
SELECT m.database_id, m.mark, m.marked_at, m.gap_from, m.gap_to,
    ((SELECT system_identifier FROM pg_control_system()) || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::text AS server,
    ARRAY(SELECT h.account FROM pay_holds h WHERE h.released_at IS NULL ORDER BY h.account)::text[] AS held,
    COALESCE((SELECT max(h.held_at) FROM pay_holds h), 'epoch')::timestamptz AS noticed
FROM service_marks m;

-- Raises the mark above what is known of it, and keeps since when it had not risen if that is long. Locks its row.
-- name: MarkRaise :one
UPDATE service_marks m SET mark = GREATEST(m.mark, @above::bigint) + 1, marked_at = n.at,
    gap_from = CASE WHEN n.at - m.marked_at > make_interval(secs => @gap::float8) THEN m.marked_at ELSE m.gap_from END,
    gap_to = CASE WHEN n.at - m.marked_at > make_interval(secs => @gap::float8) THEN n.at ELSE m.gap_to END
FROM (SELECT now()::timestamptz AS at) n
RETURNING m.database_id, m.mark, m.marked_at;

-- Holds the pays of accounts, each once: one that is held already is from the earlier time until now. Locks those rows.
-- name: PayHold :exec
INSERT INTO pay_holds (account, since, reason)
SELECT unnest(@accounts::text[]), @since, @reason
ON CONFLICT (account) WHERE released_at IS NULL DO UPDATE SET since = LEAST(pay_holds.since, EXCLUDED.since), held_at = EXCLUDED.held_at, reason = EXCLUDED.reason;

-- Reads the open holds, by account. Locks nothing.
-- name: PayHolds :many
SELECT account, since, held_at, reason FROM pay_holds WHERE released_at IS NULL ORDER BY account;

-- Releases the hold of an account, if it was made no later than a time. Locks that row.
-- name: PayRelease :execrows
UPDATE pay_holds SET released_at = now(), released_by = @released_by
WHERE account = @account AND released_at IS NULL AND held_at <= @held_until;
