-- Locks an account against other runs that begin, until the transaction ends. Waits for them.
-- name: ReconciliationsLock :exec
SELECT pg_advisory_xact_lock(hashtextextended('paylatch reconcile ' || current_schema() || ' ' || @account::text, 0));

-- Reads the state of an account's runs: the end of the span of the last finished run and its begin, the begin of the last run,
-- and whether an unfinished run made progress lately. The epoch stands for never. Locks nothing.
-- name: ReconciliationsLast :one
SELECT coalesce(max(to_at) FILTER (WHERE finished_at IS NOT NULL), 'epoch')::timestamptz AS covered_to,
    coalesce(max(started_at) FILTER (WHERE finished_at IS NOT NULL), 'epoch')::timestamptz AS finished,
    coalesce(max(started_at), 'epoch')::timestamptz AS tried,
    coalesce(bool_or(finished_at IS NULL AND failure = '' AND touched_at > now() - make_interval(secs => @alive::float8)), false)::boolean AS running
FROM reconciliations WHERE account = @account AND started_by = @started_by;

-- Inserts a run that begins.
-- name: ReconciliationInsert :exec
INSERT INTO reconciliations (reconciliation_id, account, from_at, to_at, source, started_by, started_at, touched_at, finished_at, reason)
VALUES (@reconciliation_id, @account, @from_at, @to_at, @source, @started_by, @started_at, @started_at, sqlc.narg(finished_at), @reason);

-- Writes the progress of a run, or its end.
-- name: ReconciliationMove :execrows
UPDATE reconciliations SET touched_at = @touched_at, finished_at = sqlc.narg(finished_at), counts = @counts::json, failure = @failure
WHERE reconciliation_id = @reconciliation_id AND finished_at IS NULL AND failure = '';

-- Reads how long ago the last finished daily run of each account began; before a first finished run, the first run counts. Locks
-- nothing.
-- name: ReconciliationAges :many
SELECT account, extract(epoch FROM now() - coalesce(max(started_at) FILTER (WHERE finished_at IS NOT NULL), min(started_at)))::float8 AS age
FROM reconciliations WHERE account = ANY (@accounts::text[]) AND started_by = @started_by GROUP BY account;

-- Reads the first run that has compared all of a span completely and began after a time; a run by hand must have begun after the
-- span. Locks nothing.
-- name: ReconciliationOf :many
SELECT reconciliation_id FROM reconciliations
WHERE account = @account AND finished_at IS NOT NULL AND failure = '' AND from_at <= @from_at AND to_at >= @to_at::timestamptz
    AND started_at >= CASE source WHEN 'person' THEN @to_at ELSE @begun::timestamptz END
ORDER BY started_at LIMIT 1;
