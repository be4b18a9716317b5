-- Reads the movements of some attempts, oldest first. Locks nothing.
-- name: MovementsOfAttempts :many
SELECT * FROM money_movements WHERE attempt_id = ANY (@attempt_ids::uuid[]) ORDER BY attempt_id, number;

-- Reads the movements of the attempts with one of the ids or names, oldest first. Locks nothing. The pairs are matched by
-- position.
-- name: MovementsNamed :many
SELECT m.* FROM money_movements m WHERE m.attempt_id IN (
    SELECT unnest(@attempt_ids::uuid[])
    UNION ALL
    SELECT r.attempt_id FROM attempt_references r
    JOIN (SELECT unnest(@accounts::text[]) AS account, unnest(@refs::text[]) AS reference) n
        ON r.account = n.account AND r.reference = n.reference)
ORDER BY m.attempt_id, m.number;

-- Reads the movements of the attempts of some orders, oldest first. Locks nothing.
-- name: MovementsOfOrders :many
SELECT * FROM money_movements WHERE attempt_id IN (SELECT a.attempt_id FROM payment_attempts a WHERE a.order_id = ANY (@order_ids::text[]))
ORDER BY attempt_id, number;

-- Reads the attempts that have some named movements. Locks nothing. The triples are matched by position.
-- name: MovementsOwned :many
SELECT m.account, m.kind, m.provider_id, m.attempt_id
FROM (SELECT unnest(@accounts::text[]) AS account, unnest(@kinds::text[]) AS kind, unnest(@provider_ids::text[]) AS provider_id) n
JOIN money_movements m ON m.account = n.account AND m.kind = n.kind AND m.provider_id = n.provider_id AND m.source <> 'total';

-- Appends movements in the order of (account, kind, id), because a transaction that records the same movement waits for this one.
-- A movement of another attempt is a unique violation; the caller decides again.
-- name: MovementsInsert :exec
INSERT INTO money_movements (order_id, attempt_id, number, account, kind, source, payment, provider_id, amount, currency, cause, cause_id, at, recorded_at, dispute)
SELECT n.order_id, n.attempt_id, n.number, n.account, n.kind, n.source, n.payment, n.provider_id, n.amount, n.currency, n.cause, n.cause_id, n.at, n.recorded_at, n.dispute
FROM (
    SELECT unnest(@order_ids::text[]) AS order_id, unnest(@attempt_ids::uuid[]) AS attempt_id, unnest(@numbers::int[]) AS number,
        unnest(@accounts::text[]) AS account, unnest(@kinds::text[]) AS kind, unnest(@sources::text[]) AS source, unnest(@payments::text[]) AS payment,
        unnest(@provider_ids::text[]) AS provider_id, unnest(@amounts::bigint[]) AS amount, unnest(@currencies::text[]) AS currency,
        unnest(@causes::text[]) AS cause, unnest(@cause_ids::text[]) AS cause_id,
        NULLIF(unnest(@ats::timestamptz[]), '0001-01-01 00:00:00Z') AS at, unnest(@recorded_ats::timestamptz[]) AS recorded_at, unnest(@disputes::text[]) AS dispute
) n
ORDER BY n.account, n.kind, n.provider_id
RETURNING 1;
