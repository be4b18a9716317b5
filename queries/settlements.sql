-- Inserts new entries of providers' books in the order of (account, id), and adds missing payouts, fees and nets to stored
-- ones. Returns the ids of both, and which are new.
-- name: SettlementsSave :many
INSERT INTO settlements AS s (account, entry_id, order_id, attempt_id, kind, movement_id, payment, amount, currency, fee, net, balance_currency, payout_id, at, recorded_at)
SELECT n.account, n.entry_id, n.order_id, n.attempt_id, n.kind, n.movement_id, n.payment, n.amount, n.currency, n.fee, n.net, n.balance_currency, n.payout_id, n.at, @recorded_at
FROM (
    SELECT unnest(@accounts::text[]) AS account, unnest(@entry_ids::text[]) AS entry_id, unnest(@order_ids::text[]) AS order_id,
        unnest(@attempt_ids::uuid[]) AS attempt_id, unnest(@kinds::text[]) AS kind, unnest(@movement_ids::text[]) AS movement_id,
        unnest(@payments::text[]) AS payment, unnest(@amounts::bigint[]) AS amount, unnest(@currencies::text[]) AS currency,
        NULLIF(unnest(@fees::text[]), '')::bigint AS fee, NULLIF(unnest(@nets::text[]), '')::bigint AS net,
        unnest(@balance_currencies::text[]) AS balance_currency, unnest(@payout_ids::text[]) AS payout_id,
        NULLIF(unnest(@ats::timestamptz[]), '0001-01-01 00:00:00Z') AS at
) n
ORDER BY n.account, n.entry_id
ON CONFLICT (account, entry_id) DO UPDATE SET payout_id = coalesce(nullif(s.payout_id, ''), EXCLUDED.payout_id),
    fee = CASE WHEN s.balance_currency IN ('', EXCLUDED.balance_currency) THEN coalesce(s.fee, EXCLUDED.fee) ELSE s.fee END,
    net = CASE WHEN s.balance_currency IN ('', EXCLUDED.balance_currency) THEN coalesce(s.net, EXCLUDED.net) ELSE s.net END,
    balance_currency = coalesce(nullif(s.balance_currency, ''), EXCLUDED.balance_currency)
WHERE s.payout_id = '' AND EXCLUDED.payout_id <> ''
    OR s.balance_currency IN ('', EXCLUDED.balance_currency) AND (s.fee IS NULL AND EXCLUDED.fee IS NOT NULL OR s.net IS NULL AND EXCLUDED.net IS NOT NULL)
RETURNING s.account, s.entry_id, (s.xmax = 0)::boolean AS made;

-- Reads the settlements of an attempt, oldest first. Locks nothing.
-- name: SettlementsOfAttempt :many
SELECT * FROM settlements WHERE attempt_id = @attempt_id ORDER BY coalesce(at, recorded_at), entry_id;

-- Lists the attempts of an account, by id, whose money was recorded as captured, refunded or charged back in a span, and that
-- have no entry of that kind in the provider's books. Imported movements, and movements that a person recorded, are left out.
-- Locks nothing.
-- name: MovementsUnsettled :many
SELECT DISTINCT m.attempt_id FROM money_movements m
WHERE m.recorded_at >= @from_at AND m.recorded_at < @to_at AND m.account = @account AND m.attempt_id > @after
    AND m.kind IN ('capture', 'refund', 'chargeback') AND m.source <> 'person' AND m.cause NOT IN ('person', 'import') AND m.amount > 0
    AND NOT EXISTS (SELECT FROM settlements s WHERE s.attempt_id = m.attempt_id AND s.kind = m.kind)
ORDER BY m.attempt_id LIMIT sqlc.arg(most)::int;
