-- Reads the attempts that follow one, by id; locks nothing.
-- name: EvidenceAttempts :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at,
    EXISTS (SELECT FROM attempt_checks c WHERE c.attempt_id = a.attempt_id AND c.due_at <= a.next_check_at) AS scheduled
FROM payment_attempts a
WHERE a.attempt_id > @after ORDER BY a.attempt_id LIMIT sqlc.arg(most)::int;

-- Reads what some orders are for and how many attempts of each are pending or
-- paid; locks nothing.
-- name: EvidenceOrders :many
SELECT o.order_id, o.amount, o.currency,
    (SELECT count(*) FROM payment_attempts a WHERE a.order_id = o.order_id AND a.status <> 'failed')::int AS live
FROM orders o WHERE o.order_id = ANY (@order_ids::text[]);

-- Reads the logs of some attempts, oldest first; locks nothing.
-- name: EvidenceLog :many
SELECT t.* FROM attempt_transitions t
JOIN (SELECT unnest(@order_ids::text[]) AS order_id, unnest(@attempt_ids::uuid[]) AS attempt_id) n
    ON t.order_id = n.order_id AND t.attempt_id = n.attempt_id
ORDER BY t.attempt_id, t.version;

-- Reads the refunds of some attempts; locks nothing.
-- name: EvidenceRefunds :many
SELECT sqlc.embed(r), now()::timestamptz AS read_at
FROM refunds r WHERE r.attempt_id = ANY (@attempt_ids::uuid[]) ORDER BY r.refund_id;

-- Reads what some attempts' events say, without their bytes; locks nothing.
-- name: EvidenceEvents :many
SELECT attempt_id, account, provider_event_id, verdict, news FROM provider_events
WHERE attempt_id = ANY (@attempt_ids::uuid[]);

-- Reads the kinds of some attempts' discrepancies, resolved ones too; locks
-- nothing.
-- name: EvidenceDiscrepancies :many
SELECT attempt_id, kind FROM discrepancies WHERE attempt_id = ANY (@attempt_ids::uuid[]);

-- Takes a lock that nobody waits for, until the transaction ends.
-- name: EvidenceAlone :one
SELECT pg_try_advisory_xact_lock(hashtextextended('paylatch verify', 0)) AS alone;
