-- Begins a job. Returns no row if a job of the same kind is running.
-- name: JobBegin :one
INSERT INTO support_jobs (job_id, deed_id, kind, account, verdict, event_type, discrepancy_kind, since, until, resolution, reason, actor, roles, address,
    request_id, created_at, total, behind)
VALUES (@job_id, @deed_id, @kind, @account, @verdict, @event_type, @discrepancy_kind, sqlc.narg(since), sqlc.narg(until), @resolution, @reason, @actor,
    @roles, @address, @request_id, now(), @total, '00000000-0000-0000-0000-000000000000')
ON CONFLICT (kind) WHERE state = 'running' DO NOTHING
RETURNING *;

-- Reads the running job of a kind. Locks nothing.
-- name: JobRunning :one
SELECT * FROM support_jobs WHERE kind = @kind AND state = 'running';

-- Reads one job. Locks nothing.
-- name: JobRead :one
SELECT * FROM support_jobs WHERE job_id = @job_id;

-- Lists jobs behind an id, newest first. Locks nothing.
-- name: JobsList :many
SELECT * FROM support_jobs WHERE job_id < @before_id ORDER BY job_id DESC LIMIT sqlc.arg(most)::int;

-- Stops a running job, and ends its lease. Returns no row if it is over.
-- name: JobStop :one
UPDATE support_jobs SET state = 'stopped', finished_at = now(), lease_until = NULL
WHERE job_id = @job_id AND state = 'running'
RETURNING *;

-- Takes the lease of the oldest running job that no process has. Returns no row if there is no such job.
-- name: JobTake :one
UPDATE support_jobs SET fence = fence + 1, lease_until = now() + make_interval(secs => @seconds::float8)
WHERE job_id = (
    SELECT j.job_id FROM support_jobs j WHERE j.state = 'running' AND (j.lease_until IS NULL OR j.lease_until < now())
    ORDER BY j.job_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
RETURNING *;

-- Counts an item that a job has done, moves the job behind it and renews the lease. Returns no row if another process has the
-- job, or it was stopped.
-- name: JobItemDone :execrows
WITH counted AS (
    UPDATE support_jobs j SET done = j.done + 1, behind = @item_id, lease_until = now() + make_interval(secs => @seconds::float8),
        results = jsonb_set(j.results, ARRAY[@outcome::text], to_jsonb(coalesce((j.results ->> @outcome::text)::bigint, 0) + 1))
    WHERE j.job_id = @job_id AND j.fence = @fence AND j.state = 'running'
    RETURNING j.job_id
)
INSERT INTO support_job_items (job_id, item_id, attempt_id, outcome, at)
SELECT job_id, @item_id, sqlc.narg(attempt_id)::uuid, @outcome::text, now() FROM counted
RETURNING 1;

-- Gives the lease of a job back and moves the job, never back. Returns no row if another process has it.
-- name: JobRelease :execrows
UPDATE support_jobs SET lease_until = NULL, behind = greatest(behind, @behind) WHERE job_id = @job_id AND fence = @fence AND state = 'running';

-- Ends a completed job. Returns no row if another process has it.
-- name: JobFinish :one
UPDATE support_jobs SET state = 'done', finished_at = now(), lease_until = NULL
WHERE job_id = @job_id AND fence = @fence AND state = 'running'
RETURNING *;

-- Counts, by verdict, the chosen events among the next @looked_at events between two ids, and returns the last of these. Locks
-- nothing.
-- name: JobEventsCount :many
WITH part AS MATERIALIZED (
    SELECT e.event_id, e.verdict, ((@account::text = '' OR e.account = @account::text) AND (@verdict::text = '' OR e.verdict = @verdict::text)
        AND (@event_type::text = '' OR e.event_type = @event_type::text)
        AND (sqlc.narg(since)::timestamptz IS NULL OR e.received_at >= sqlc.narg(since)::timestamptz)
        AND (sqlc.narg(until)::timestamptz IS NULL OR e.received_at < sqlc.narg(until)::timestamptz)) AS chosen
    FROM provider_events e WHERE e.event_id > @behind AND e.event_id < @before ORDER BY e.event_id LIMIT sqlc.arg(looked_at)::int
)
SELECT verdict, count(*) FILTER (WHERE chosen) AS chosen, max(event_id::text)::uuid AS last FROM part GROUP BY verdict;

-- Reads the chosen events among the next @looked_at events between two ids, in their order, and the last of these. Returns no row
-- at the end. Locks nothing.
-- name: JobEventsNext :many
WITH part AS MATERIALIZED (
    SELECT e.event_id, ((@account::text = '' OR e.account = @account::text) AND (@verdict::text = '' OR e.verdict = @verdict::text)
        AND (@event_type::text = '' OR e.event_type = @event_type::text)
        AND (sqlc.narg(since)::timestamptz IS NULL OR e.received_at >= sqlc.narg(since)::timestamptz)
        AND (sqlc.narg(until)::timestamptz IS NULL OR e.received_at < sqlc.narg(until)::timestamptz)) AS chosen
    FROM provider_events e WHERE e.event_id > @behind AND e.event_id < @before ORDER BY e.event_id LIMIT sqlc.arg(looked_at)::int
)
SELECT p.event_id, p.chosen::boolean AS chosen FROM part p
WHERE p.chosen OR p.event_id = (SELECT max(l.event_id::text)::uuid FROM part l)
ORDER BY p.event_id LIMIT sqlc.arg(most)::int;

-- Counts, by kind, the chosen open discrepancies before an id. Locks nothing.
-- name: JobDiscrepanciesCount :many
SELECT d.kind, count(*) AS chosen
FROM discrepancies d
WHERE d.resolved_at IS NULL AND d.discrepancy_id < @before AND (@discrepancy_kind::text = '' OR d.kind = @discrepancy_kind::text)
    AND (@account::text = '' OR coalesce(NULLIF(d.account, ''), d.of_account) = @account::text)
    AND (sqlc.narg(since)::timestamptz IS NULL OR d.opened_at >= sqlc.narg(since)::timestamptz)
    AND (sqlc.narg(until)::timestamptz IS NULL OR d.opened_at < sqlc.narg(until)::timestamptz)
GROUP BY d.kind;

-- Reads the next chosen discrepancies between two ids that were open at a time. Locks nothing.
-- name: JobDiscrepanciesNext :many
SELECT d.discrepancy_id
FROM discrepancies d
WHERE (d.resolved_at IS NULL OR d.resolved_at >= @open_at::timestamptz) AND d.discrepancy_id > @behind AND d.discrepancy_id < @before
    AND (@discrepancy_kind::text = '' OR d.kind = @discrepancy_kind::text)
    AND (@account::text = '' OR coalesce(NULLIF(d.account, ''), d.of_account) = @account::text)
    AND (sqlc.narg(since)::timestamptz IS NULL OR d.opened_at >= sqlc.narg(since)::timestamptz)
    AND (sqlc.narg(until)::timestamptz IS NULL OR d.opened_at < sqlc.narg(until)::timestamptz)
ORDER BY d.discrepancy_id LIMIT sqlc.arg(most)::int;

-- Reads the newest events of an attempt that jobs have replayed, and who began the jobs. Locks nothing.
-- name: JobItemsOfAttempt :many
SELECT i.job_id, i.item_id, i.outcome, i.at, j.deed_id, j.actor, j.reason
FROM support_job_items i JOIN support_jobs j ON j.job_id = i.job_id
WHERE i.attempt_id = @attempt_id::uuid AND j.kind = 'replay' ORDER BY i.at DESC LIMIT 200;
