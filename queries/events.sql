-- Reads the digests of the stored events among the given ones. Locks nothing.
-- name: EventsKnown :many
SELECT e.account, e.provider_event_id, e.digest
FROM provider_events e
JOIN (SELECT unnest(@accounts::text[]) AS account, unnest(@ids::text[]) AS id) n
    ON e.account = n.account AND e.provider_event_id = n.id;

-- Binds the id of a delivery to the digest of a body, and returns the bound digest. Writes one row each time, so that it can be
-- returned.
-- name: DeliveryTake :one
INSERT INTO webhook_deliveries AS d (account, delivery_id, body_digest)
VALUES (@account, @delivery_id, @body_digest)
ON CONFLICT (account, delivery_id) DO UPDATE SET received_at = d.received_at
RETURNING body_digest;

-- Stores new events in the order of (account, id). A stored event is a unique violation; the caller decides again. The references
-- of an event come joined by the unit separator.
-- name: EventsInsert :exec
INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs,
    order_id, attempt_id, verdict, tries, next_try_at, secret_index, taken, occurred_at, received_at)
SELECT n.event_id, n.account, n.provider_event_id, n.id_derived, n.event_type, n.kind, n.digest, n.news::json,
    string_to_array(n.refs, E'\x1f'),
    NULLIF(n.order_id, ''), NULLIF(n.attempt_id, '00000000-0000-0000-0000-000000000000'::uuid), n.verdict, n.tries, NULLIF(n.next_try_at, '0001-01-01 00:00:00Z'),
    n.secret_index, n.taken, NULLIF(n.occurred_at, '0001-01-01 00:00:00Z'), n.received_at
FROM (
    SELECT unnest(@event_ids::uuid[]) AS event_id,
        unnest(@accounts::text[]) AS account,
        unnest(@provider_event_ids::text[]) AS provider_event_id,
        unnest(@ids_derived::bool[]) AS id_derived,
        unnest(@event_types::text[]) AS event_type,
        unnest(@kinds::text[]) AS kind,
        unnest(@digests::bytea[]) AS digest,
        unnest(@news::text[]) AS news,
        unnest(@refs::text[]) AS refs,
        unnest(@order_ids::text[]) AS order_id,
        unnest(@attempt_ids::uuid[]) AS attempt_id,
        unnest(@verdicts::text[]) AS verdict,
        unnest(@tries::int[]) AS tries,
        unnest(@next_try_ats::timestamptz[]) AS next_try_at,
        unnest(@secret_indexes::int[]) AS secret_index,
        unnest(@takens::text[]) AS taken,
        unnest(@occurred_ats::timestamptz[]) AS occurred_at,
        unnest(@received_ats::timestamptz[]) AS received_at
) n
ORDER BY n.account, n.provider_event_id
RETURNING 1;

-- Locks the parked events that name any of the references, and such foreign events of the last 30 days, unless another
-- transaction has locked them. Never waits. IS TRUE, here and in EventsParkedOf, keeps the planner from the indexes events_due
-- and events_foreign: it would read all parked or foreign events if the statistics counted few.
-- name: EventsParked :many
SELECT event_id, account, provider_event_id, digest, news, order_id, attempt_id, verdict, tries, next_try_at, received_at
FROM provider_events
WHERE account = @account AND refs && @refs::text[] AND verdict IN ('unmatched', 'deferred', 'foreign')
    AND (next_try_at IS NOT NULL OR verdict = 'foreign' AND received_at > now() - interval '30 days') IS TRUE
ORDER BY received_at, provider_event_id
FOR NO KEY UPDATE SKIP LOCKED;

-- Locks the parked events with any name of an attempt, stored or given, unless another transaction has locked them. Never waits.
-- name: EventsParkedOf :many
SELECT e.event_id, e.account, e.provider_event_id, e.digest, e.news, e.order_id, e.attempt_id, e.verdict, e.tries, e.next_try_at, e.received_at
FROM provider_events e
WHERE e.account = @account AND e.verdict IN ('unmatched', 'deferred') AND (e.next_try_at IS NOT NULL) IS TRUE
    AND e.refs && (@others::text[] || ARRAY(SELECT r.reference FROM attempt_references r WHERE r.attempt_id = @attempt_id))
ORDER BY e.received_at, e.provider_event_id
FOR NO KEY UPDATE SKIP LOCKED;

-- Counts the parked events. Reads only these, and locks nothing.
-- name: EventsParkedCount :one
SELECT count(*) FROM provider_events WHERE next_try_at IS NOT NULL;

-- Counts the foreign events of the last day by account. Reads only their index, and locks nothing.
-- name: EventsForeign :many
SELECT account, count(*) AS events FROM provider_events
WHERE verdict = 'foreign' AND received_at > now() - interval '1 day'
GROUP BY account ORDER BY account;

-- Locks the parked events that are due, unless another transaction has locked them.
-- name: EventsDue :many
SELECT event_id, account, provider_event_id, digest, news, order_id, attempt_id, verdict, tries, next_try_at, received_at
FROM provider_events
WHERE next_try_at <= now()
ORDER BY next_try_at LIMIT sqlc.arg(most)::int
FOR NO KEY UPDATE SKIP LOCKED;

-- Locks one stored event.
-- name: EventLock :one
SELECT * FROM provider_events WHERE event_id = @event_id FOR NO KEY UPDATE;

-- Writes the meaning of a locked event that could be read at last.
-- name: EventReread :execrows
UPDATE provider_events SET event_type = @event_type, kind = @kind, digest = @digest, news = @news::json,
    refs = string_to_array(@refs::text, E'\x1f'), occurred_at = sqlc.narg(occurred_at)
WHERE account = @account AND provider_event_id = @provider_event_id;

-- Lists the unreadable events that this version has not tried to read, the oldest first. Locks nothing.
-- name: EventsUnreadable :many
SELECT event_id FROM provider_events WHERE verdict = 'unreadable' AND read_by <> @version ORDER BY received_at LIMIT sqlc.arg(most)::int;

-- Records the version that has tried to read an event, if the event is still unreadable. Writes one row.
-- name: EventReadBy :exec
UPDATE provider_events SET read_by = @version WHERE event_id = @event_id AND verdict = 'unreadable';

-- Writes the verdicts of locked events.
-- name: EventsSettle :execrows
UPDATE provider_events e SET verdict = n.verdict, order_id = NULLIF(n.order_id, ''),
    attempt_id = NULLIF(n.attempt_id, '00000000-0000-0000-0000-000000000000'::uuid),
    tries = n.tries, next_try_at = NULLIF(n.next_try_at, '0001-01-01 00:00:00Z')
FROM (
    SELECT unnest(@accounts::text[]) AS account,
        unnest(@provider_event_ids::text[]) AS provider_event_id,
        unnest(@verdicts::text[]) AS verdict,
        unnest(@order_ids::text[]) AS order_id,
        unnest(@attempt_ids::uuid[]) AS attempt_id,
        unnest(@tries::int[]) AS tries,
        unnest(@next_try_ats::timestamptz[]) AS next_try_at
) n
WHERE e.account = n.account AND e.provider_event_id = n.provider_event_id;
