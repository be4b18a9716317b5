-- Inserts names of attempts in the order of (account, name), because a transaction that gives the same name waits for this one. A
-- taken name is a unique violation; the caller decides again.
-- name: ReferencesInsert :exec
INSERT INTO attempt_references (account, reference, order_id, attempt_id)
SELECT n.account, n.reference, n.order_id, n.attempt_id
FROM (
    SELECT unnest(@accounts::text[]) AS account, unnest(@refs::text[]) AS reference,
        unnest(@order_ids::text[]) AS order_id, unnest(@attempt_ids::uuid[]) AS attempt_id
) n
ORDER BY n.account, n.reference
RETURNING 1;

-- Finds attempts by their names. Locks nothing. The pairs are matched by position.
-- name: ReferencesFind :many
SELECT r.account, r.reference, r.attempt_id
FROM attempt_references r
JOIN (SELECT unnest(@accounts::text[]) AS account, unnest(@refs::text[]) AS reference) n
    ON r.account = n.account AND r.reference = n.reference;
