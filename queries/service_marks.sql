-- Reads the mark, the server's identity, the held accounts, and the processes that were alive before the server changed and have
-- not answered since: their ids, whether they were alive in the last minutes, and their names. Reads the last heartbeat of a process.
-- Reads when the server started, and when its statistics were reset, which PostgreSQL does after a crash. Reads whether commits wait for a
-- synchronous standby. Locks nothing.
-- name: MarkRead :one
SELECT m.database_id, m.mark, m.marked_at, m.gap_from, m.gap_to, s.server::text AS server,
    COALESCE(pg_postmaster_start_time(), 'epoch')::timestamptz AS started,
    COALESCE(pg_stat_get_bgwriter_stat_reset_time(), 'epoch')::timestamptz AS crashed,
    (current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') NOT IN ('off', 'local'))::boolean AS waits,
    COALESCE((SELECT p.beat_at FROM service_processes p WHERE p.process = @process), 'epoch')::timestamptz AS beat,
    ARRAY(SELECT h.account FROM pay_holds h WHERE h.released_at IS NULL ORDER BY h.account)::text[] AS held,
    COALESCE((SELECT max(h.held_at) FROM pay_holds h), 'epoch')::timestamptz AS noticed,
    ARRAY(SELECT p.process || ' ' || (p.beat_at > now() - make_interval(secs => @recently::float8)) || ' ' || p.name FROM service_processes p
        WHERE p.server <> s.server AND p.left_at IS NULL AND p.beat_at > (
            SELECT max(CASE o.server WHEN s.server THEN o.before_at ELSE o.beat_at END) FROM service_processes o) - make_interval(secs => @lately::float8)
        ORDER BY p.name)::text[] AS silent
FROM service_marks m
CROSS JOIN (SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS server) s;

-- Raises the mark above the highest known mark. If it had not risen for long, keeps that span. Locks its row.
-- name: MarkRaise :one
UPDATE service_marks m SET mark = GREATEST(m.mark, @above::bigint) + 1, marked_at = n.at,
    gap_from = CASE WHEN n.at - m.marked_at > make_interval(secs => @gap::float8) THEN m.marked_at ELSE m.gap_from END,
    gap_to = CASE WHEN n.at - m.marked_at > make_interval(secs => @gap::float8) THEN n.at ELSE m.gap_to END
FROM (SELECT now()::timestamptz AS at) n
RETURNING m.database_id, m.mark, m.marked_at;

-- Holds the pays of accounts. A held account keeps the earlier begin. Locks the rows.
-- name: PayHold :exec
INSERT INTO pay_holds (account, since, reason)
SELECT unnest(@accounts::text[]), @since, @reason
ON CONFLICT (account) WHERE released_at IS NULL DO UPDATE SET since = LEAST(pay_holds.since, EXCLUDED.since), held_at = EXCLUDED.held_at, reason = EXCLUDED.reason
RETURNING 1;

-- Reads the open holds, by account. Locks nothing.
-- name: PayHolds :many
SELECT account, since, held_at, reason FROM pay_holds WHERE released_at IS NULL ORDER BY account;

-- Releases the hold of an account that was made no later than a time. Locks the row.
-- name: PayRelease :execrows
UPDATE pay_holds SET released_at = now(), released_by = @released_by
WHERE account = @account AND released_at IS NULL AND held_at <= @held_until;

-- Records a heartbeat of a process, and its server. The times rise even if the server's clock does not. Locks the row.
-- name: ProcessBeat :one
INSERT INTO service_processes AS p (process, name, server, beat_at) VALUES (@process, @name, @server, now())
ON CONFLICT (process) DO UPDATE SET name = EXCLUDED.name, server = EXCLUDED.server, left_at = NULL,
    before_at = CASE WHEN p.server <> EXCLUDED.server THEN p.beat_at ELSE p.before_at END,
    beat_at = GREATEST(EXCLUDED.beat_at, (p.beat_at AT TIME ZONE 'UTC' + interval '1 microsecond') AT TIME ZONE 'UTC')
RETURNING beat_at;

-- Records the end of a process, after its last commit. Locks the row.
-- name: ProcessLeave :exec
UPDATE service_processes SET left_at = now() WHERE process = @process;

-- Deletes processes that were silent for long, and processes whose answer is not needed.
-- name: ProcessesForget :exec
DELETE FROM service_processes WHERE process = ANY (@processes::uuid[]) OR beat_at < now() - make_interval(secs => @life::float8);

-- Reports whether a process's heartbeat is stored, or is so old that it may have been deleted. Locks nothing.
-- name: BeatKept :one
SELECT (COALESCE((SELECT p.beat_at >= @beat_at::timestamptz FROM service_processes p WHERE p.process = @process),
    @beat_at::timestamptz < now() - make_interval(secs => @life::float8)))::boolean AS kept;

-- Reports whether the row of a commit is stored with the values that only this commit gave it, or is so old that it may have been
-- deleted. Locks nothing.
-- name: CommitKept :one
SELECT (@kind::text = 'version' AND EXISTS (SELECT FROM attempt_transitions t
        WHERE t.order_id = @order_id AND t.attempt_id = @id AND t.version = @number AND t.at = @at)
    OR @kind = 'begun' AND EXISTS (SELECT FROM operations o
        WHERE o.attempt_id = @id AND o.kind = @operation AND o.number = @number AND o.created_at = @at)
    OR @kind = 'sent' AND EXISTS (SELECT FROM operations s
        WHERE s.attempt_id = @id AND s.kind = @operation AND s.number = @number
            AND (s.first_sent_at = @at OR s.first_sent_at IS NULL AND s.fence >= @fence))
    OR @kind = 'event' AND EXISTS (SELECT FROM provider_events e WHERE e.event_id = @id)
    OR @kind = 'order' AND EXISTS (SELECT FROM orders d WHERE d.order_id = @order_id AND d.created_at = @at)
    OR @kind = 'amended' AND (EXISTS (SELECT FROM attempt_log l WHERE l.order_id = @order_id AND l.entry_id = @id)
        OR @at < now() - make_interval(secs => @life::float8))
    OR @kind = 'cancelled' AND EXISTS (SELECT FROM orders d WHERE d.order_id = @order_id AND d.cancel_requested_at IS NOT NULL)
    OR @kind = 'accepted' AND EXISTS (SELECT FROM orders d WHERE d.order_id = @order_id AND d.accepted_attempt_id = @id)
    OR @kind = 'numbered' AND (EXISTS (SELECT FROM outbox_batches b WHERE b.batch = @batch AND b.last = @position::bigint)
        OR @at < now() - interval '1 hour'))::boolean AS kept;
