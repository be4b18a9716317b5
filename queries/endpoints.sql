-- Adds new endpoints at the head of the outbox: they get the events from now on. An endpoint with a changed address becomes
-- active again. Locks the rows that it writes.
-- name: EndpointsRegister :exec
INSERT INTO endpoints (name, url_digest, position)
SELECT n.name, n.url_digest, h.last
FROM (SELECT unnest(@names::text[]) AS name, unnest(@url_digests::bytea[]) AS url_digest) n, outbox_head h
ORDER BY n.name
ON CONFLICT (name) DO UPDATE SET url_digest = EXCLUDED.url_digest,
    state = CASE WHEN endpoints.url_digest = EXCLUDED.url_digest THEN endpoints.state ELSE 'active' END
RETURNING 1;

-- Takes the lease of an endpoint that no process has. Returns no row if a process has it.
-- name: EndpointTake :one
UPDATE endpoints SET fence = fence + 1, lease_until = now() + make_interval(secs => @seconds::float8)
WHERE name = @name AND (lease_until IS NULL OR lease_until < now())
RETURNING fence;

-- Renews a lease for some seconds, or gives it back with 0. Returns no row if another process has it.
-- name: EndpointRenew :execrows
UPDATE endpoints SET lease_until = now() + make_interval(secs => @seconds::float8) WHERE name = @name AND fence = @fence;

-- Reads an endpoint under its lease, and the head of the outbox. Returns no row if another process has the lease. Locks nothing.
-- name: EndpointRead :one
SELECT e.state, e.position, h.last AS head, COALESCE((SELECT max(f.epoch) FROM feed_epochs f), 0)::bigint AS epoch
FROM endpoints e, outbox_head h WHERE e.name = @name AND e.fence = @fence;

-- Reads a limited number of due retries, the longest due first. Locks nothing.
-- name: EndpointDue :many
SELECT r.tries, r.first_failed_at, r.position, o.message_id, o.order_id, o.subject, o.type, o.version, o.payload, o.created_at
FROM endpoint_retries r JOIN outbox o ON o.order_id = r.order_id AND o.message_id = r.message_id
WHERE r.endpoint = @endpoint AND r.state = 'due' AND r.next_at <= now()
ORDER BY r.next_at LIMIT @at_most::int;

-- Reads which of the subjects have an event that waits for a retry. Locks nothing.
-- name: EndpointOpenSubjects :many
SELECT DISTINCT subject FROM endpoint_retries WHERE endpoint = @endpoint AND state <> 'dead' AND subject = ANY (@subjects::text[]);

-- Reads the seconds until the next retry; they are negative if it is due. Returns no row if no retry waits. Locks nothing.
-- name: EndpointNextDue :one
SELECT extract(epoch FROM r.next_at - now())::float8 AS seconds FROM endpoint_retries r
WHERE r.endpoint = @endpoint AND r.state = 'due' AND EXISTS (SELECT FROM outbox o WHERE o.order_id = r.order_id AND o.message_id = r.message_id)
ORDER BY r.next_at LIMIT 1;

-- Moves an endpoint under its lease, and so locks it. Returns no row if another process has the lease.
-- name: EndpointAdvance :execrows
UPDATE endpoints SET position = @position, state = CASE WHEN @gone::bool THEN 'gone' ELSE state END,
    last_success_at = COALESCE(sqlc.narg(last_success_at), last_success_at),
    last_failure_at = COALESCE(sqlc.narg(last_failure_at), last_failure_at),
    last_failure = CASE WHEN sqlc.narg(last_failure_at)::timestamptz IS NULL THEN last_failure ELSE @last_failure::text END
WHERE name = @name AND fence = @fence;

-- Deletes the retries of delivered events, dead ones too.
-- name: EndpointRetriesDelivered :many
DELETE FROM endpoint_retries WHERE endpoint = @endpoint AND position = ANY (@positions::bigint[]) RETURNING subject;

-- Writes the results of retries that failed again. The caller has locked the endpoint.
-- name: EndpointRetriesFailed :exec
UPDATE endpoint_retries r SET tries = n.tries, next_at = n.next_at, first_failed_at = COALESCE(r.first_failed_at, n.at),
    last_status = n.status, last_error = n.error,
    state = CASE WHEN n.dead THEN 'dead' ELSE r.state END, dead_at = CASE WHEN n.dead THEN n.at ELSE r.dead_at END
FROM (
    SELECT unnest(@positions::bigint[]) AS position, unnest(@tries::int[]) AS tries, unnest(@next_ats::timestamptz[]) AS next_at,
        unnest(@ats::timestamptz[]) AS at, unnest(@statuses::int[]) AS status, unnest(@errors::text[]) AS error, unnest(@dead::bool[]) AS dead
) n
WHERE r.endpoint = @endpoint AND r.position = n.position AND r.state <> 'dead';

-- Queues undelivered events. A dead retry begins again, and a waiting retry stays as it is. The caller has locked the endpoint.
-- name: EndpointRetriesInsert :exec
INSERT INTO endpoint_retries (endpoint, position, order_id, message_id, subject, state, tries, next_at, first_failed_at, last_status, last_error, dead_at)
SELECT @endpoint, n.position, n.order_id, n.message_id, n.subject, CASE WHEN n.dead THEN 'dead' ELSE 'queued' END, n.tries, n.next_at,
    CASE WHEN n.tries > 0 THEN n.at END, n.status, n.error, CASE WHEN n.dead THEN n.at END
FROM (
    SELECT unnest(@positions::bigint[]) AS position, unnest(@order_ids::text[]) AS order_id, unnest(@message_ids::uuid[]) AS message_id,
        unnest(@subjects::text[]) AS subject,
        unnest(@tries::int[]) AS tries, unnest(@next_ats::timestamptz[]) AS next_at, unnest(@ats::timestamptz[]) AS at,
        unnest(@statuses::int[]) AS status, unnest(@errors::text[]) AS error, unnest(@dead::bool[]) AS dead
) n
ON CONFLICT (endpoint, position) DO UPDATE SET state = EXCLUDED.state, tries = EXCLUDED.tries, next_at = EXCLUDED.next_at,
    first_failed_at = EXCLUDED.first_failed_at, last_status = EXCLUDED.last_status, last_error = EXCLUDED.last_error, dead_at = EXCLUDED.dead_at
WHERE endpoint_retries.state = 'dead'
RETURNING 1;

-- Makes retries due that wait for a later time. The caller has locked the endpoint.
-- name: EndpointRetriesHasten :exec
UPDATE endpoint_retries SET next_at = @now
WHERE endpoint = @endpoint AND position = ANY (@positions::bigint[]) AND state <> 'dead' AND next_at > @now;

-- Requeues due retries whose subject has an earlier waiting event. The caller has locked the endpoint.
-- name: EndpointRetriesDemote :exec
UPDATE endpoint_retries r SET state = 'queued'
WHERE r.endpoint = @endpoint AND r.subject = ANY (@subjects::text[]) AND r.state = 'due'
    AND EXISTS (SELECT FROM endpoint_retries e
        WHERE e.endpoint = r.endpoint AND e.subject = r.subject AND e.state = 'queued' AND e.position < r.position);

-- Makes the first waiting event of each of the subjects due. The caller has locked the endpoint.
-- name: EndpointRetriesPromote :exec
UPDATE endpoint_retries r SET state = 'due'
FROM (
    SELECT DISTINCT ON (f.subject) f.position FROM endpoint_retries f
    WHERE f.endpoint = @endpoint AND f.subject = ANY (@subjects::text[]) AND f.state <> 'dead'
    ORDER BY f.subject, f.position
) first
WHERE r.endpoint = @endpoint AND r.position = first.position AND r.state = 'queued';

-- Appends to the log of attempts to deliver.
-- name: EndpointDeliveriesInsert :exec
INSERT INTO endpoint_deliveries (endpoint, position, order_id, message_id, at, status, took_ms, error)
SELECT @endpoint, unnest(@positions::bigint[]), unnest(@order_ids::text[]), unnest(@message_ids::uuid[]), unnest(@ats::timestamptz[]), unnest(@statuses::int[]),
    unnest(@took_ms::int[]), unnest(@errors::text[])
RETURNING 1;

-- Reads a limited number of attempts to deliver, newest first, before an id, or only the failed ones. The type is empty if the
-- event is not kept any more. Locks nothing.
-- name: EndpointDeliveries :many
SELECT d.delivery_id, d.position, d.order_id, d.message_id, d.at, d.status, d.took_ms, d.error,
    COALESCE((SELECT o.type FROM outbox o WHERE o.order_id = d.order_id AND o.message_id = d.message_id), '')::text AS type
FROM endpoint_deliveries d
WHERE d.endpoint = @endpoint AND d.delivery_id < @before AND (NOT @failed::bool OR d.error <> '')
ORDER BY d.delivery_id DESC LIMIT @at_most::int;

-- Reads the progress of the endpoints. oldest is the time of the first batch with an undelivered event, or the epoch. Locks
-- nothing.
-- name: EndpointsStatus :many
SELECT e.name, e.state, e.position, COALESCE((SELECT max(f.epoch) FROM feed_epochs f), 0)::bigint AS epoch,
    (h.last - e.position)::bigint AS behind, e.last_success_at, e.last_failure_at, e.last_failure,
    (SELECT count(*) FROM endpoint_retries r WHERE r.endpoint = e.name AND r.state <> 'dead') AS retries,
    (SELECT count(*) FROM endpoint_retries r WHERE r.endpoint = e.name AND r.state = 'dead') AS dead,
    COALESCE(LEAST(
        (SELECT b.created_at FROM outbox_batches b WHERE b.last > e.position ORDER BY b.last LIMIT 1),
        (SELECT o.created_at FROM endpoint_retries r JOIN outbox o ON o.order_id = r.order_id AND o.message_id = r.message_id
            WHERE r.endpoint = e.name AND r.state <> 'dead' ORDER BY r.position LIMIT 1)
    ), 'epoch')::timestamptz AS oldest
FROM endpoints e, outbox_head h
WHERE e.name = ANY (@names::text[]) ORDER BY e.name;

-- Sets an endpoint back to a position, but not before the oldest kept event, and makes it active. Ends its lease, so that
-- deliveries under way are not recorded. Returns no row if the endpoint is already before that position.
-- name: EndpointSetBack :execrows
UPDATE endpoints SET position = LEAST(position, GREATEST(@position,
        COALESCE((SELECT b.last - b.events FROM outbox_batches b WHERE b.last IS NOT NULL ORDER BY b.last LIMIT 1), position))),
    fence = fence + 1, lease_until = NULL, state = 'active'
WHERE name = @name AND position >= @position;

-- Makes an endpoint active, and locks it. Returns no row if there is no such endpoint.
-- name: EndpointActivate :execrows
UPDATE endpoints SET state = 'active' WHERE name = @name;

-- Finds events by their ids that an endpoint got or is going to get. Locks nothing.
-- name: EndpointEvents :many
SELECT n.position, o.order_id, o.message_id, o.subject
FROM (
    SELECT d.position, d.order_id, d.message_id FROM endpoint_deliveries d WHERE d.message_id = ANY (@ids::uuid[]) AND d.endpoint = @endpoint
    UNION SELECT r.position, r.order_id, r.message_id FROM endpoint_retries r WHERE r.message_id = ANY (@ids::uuid[]) AND r.endpoint = @endpoint
) n JOIN outbox o ON o.order_id = n.order_id AND o.message_id = n.message_id;

-- Deletes a limited number of attempts to deliver from before a time, the oldest first.
-- name: EndpointDeliveriesPurge :execrows
DELETE FROM endpoint_deliveries d USING (
    SELECT p.delivery_id FROM endpoint_deliveries p ORDER BY p.delivery_id LIMIT @at_most::int
) old
WHERE d.delivery_id = old.delivery_id AND d.at < @before;

-- Deletes a limited number of retries of events that are not kept any more.
-- name: EndpointRetriesPurge :many
DELETE FROM endpoint_retries r USING (
    SELECT p.endpoint, p.position FROM endpoint_retries p
    WHERE p.position < COALESCE((SELECT b.last - b.events + 1 FROM outbox_batches b WHERE b.last IS NOT NULL ORDER BY b.last LIMIT 1),
        (SELECT h.last + 1 FROM outbox_head h))
    ORDER BY p.position LIMIT @at_most::int
) old
WHERE r.endpoint = old.endpoint AND r.position = old.position
RETURNING r.endpoint, r.subject, r.state;

-- Ends the leases of all endpoints after a restore: what they read before is lost. A position that was written ahead of the head goes back to
-- another one. Locks the rows.
-- name: EndpointsTakeBack :exec
UPDATE endpoints SET fence = fence + 1, lease_until = NULL,
    position = CASE WHEN position > (SELECT h.last FROM outbox_head h) THEN @shared ELSE position END;
