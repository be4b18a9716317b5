-- Reads the movements of some attempts, oldest first; locks nothing.
-- name: MovementsOfAttempts :many
SELECT * FROM money_movements WHERE attempt_id = ANY (@attempt_ids::uuid[]) ORDER BY attempt_id, number;

-- Reads whose some named movements are; locks nothing. The triples are matched by position.
-- name: MovementsOwned :many
SELECT m.account, m.kind, m.provider_id, m.attempt_id
FROM (SELECT unnest(@accounts::text[]) AS account, unnest(@kinds::text[]) AS kind, unnest(@provider_ids::text[]) AS provider_id) n
JOIN money_movements m ON m.account = n.account AND m.kind = n.kind AND m.provider_id = n.provider_id AND m.source <> 'total';

-- Appends movements. One that another attempt has is refused.
-- name: MovementsInsert :exec
INSERT INTO money_movements (order_id, attempt_id, number, account, kind, source, provider_id, amount, currency, cause, cause_id, at, recorded_at)
SELECT unnest(@order_ids::text[]), unnest(@attempt_ids::uuid[]), unnest(@numbers::int[]), unnest(@accounts::text[]), unnest(@kinds::text[]),
    unnest(@sources::text[]), unnest(@provider_ids::text[]), unnest(@amounts::bigint[]), unnest(@currencies::text[]), unnest(@causes::text[]),
    unnest(@cause_ids::text[]), NULLIF(unnest(@ats::timestamptz[]), '0001-01-01 00:00:00Z'), unnest(@recorded_ats::timestamptz[]);
