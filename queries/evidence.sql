-- Reads the attempts that follow one, by id. Locks nothing.
-- name: EvidenceAttempts :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at
FROM payment_attempts a
WHERE a.attempt_id > @after ORDER BY a.attempt_id LIMIT sqlc.arg(most)::int;

-- Reads the amounts and the cancel times of some orders, and counts the attempts of each that are pending or paid. Locks nothing.
-- name: EvidenceOrders :many
SELECT o.order_id, o.amount, o.currency, o.cancel_requested_at, o.accepted_attempt_id, (o.original IS NOT NULL)::boolean AS amended,
    (SELECT count(*) FROM payment_attempts a WHERE a.order_id = o.order_id AND a.status <> 'failed')::int AS live
FROM orders o WHERE o.order_id = ANY (@order_ids::text[]);

-- Reads since when the attempts of some orders have held money without a break. Lists only attempts that hold money now. Locks
-- nothing.
-- name: EvidenceHeld :many
WITH log AS (
    SELECT t.order_id, t.attempt_id, t.version, t.at,
        coalesce((t.detail ->> 'captured')::bigint, 0) > coalesce((t.detail ->> 'refunded')::bigint, 0) + coalesce((t.detail ->> 'disputed')::bigint, 0)
            OR coalesce((t.detail ->> 'foreign_money')::boolean, false) AS held
    FROM payment_attempts a JOIN attempt_transitions t ON t.order_id = a.order_id AND t.attempt_id = a.attempt_id
    WHERE a.order_id = ANY (@order_ids::text[]) AND (a.amount_captured > a.amount_refunded + a.amount_disputed OR a.foreign_money))
SELECT l.order_id, l.attempt_id, min(l.at)::timestamptz AS since
FROM log l
WHERE NOT EXISTS (SELECT FROM log later WHERE later.attempt_id = l.attempt_id AND later.version >= l.version AND NOT later.held)
GROUP BY l.order_id, l.attempt_id;

-- Reads the logs of some attempts, oldest first. Locks nothing.
-- name: EvidenceLog :many
SELECT t.* FROM attempt_transitions t
JOIN (SELECT unnest(@order_ids::text[]) AS order_id, unnest(@attempt_ids::uuid[]) AS attempt_id) n
    ON t.order_id = n.order_id AND t.attempt_id = n.attempt_id
ORDER BY t.attempt_id, t.version;

-- Reads the refunds of some attempts. Locks nothing.
-- name: EvidenceRefunds :many
SELECT sqlc.embed(r), now()::timestamptz AS read_at
FROM refunds r WHERE r.attempt_id = ANY (@attempt_ids::uuid[]) ORDER BY r.refund_id;

-- Reads the meaning of some attempts' events, without their bytes. Locks nothing.
-- name: EvidenceEvents :many
SELECT attempt_id, account, provider_event_id, verdict, news FROM provider_events
WHERE attempt_id = ANY (@attempt_ids::uuid[]);

-- Reads the kinds of all discrepancies of some attempts. Locks nothing.
-- name: EvidenceDiscrepancies :many
SELECT attempt_id, kind, about, (resolved_at IS NULL)::boolean AS open FROM discrepancies WHERE attempt_id = ANY (@attempt_ids::uuid[]);

-- Tries to take a lock of this schema until the transaction ends. Never waits.
-- name: EvidenceAlone :one
SELECT pg_try_advisory_xact_lock(hashtextextended('paylatch verify ' || current_schema(), 0)) AS alone;
